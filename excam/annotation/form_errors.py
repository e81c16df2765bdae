"""Errors of a form's types in words: where they are, as people count, what was found and what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

EXPECTED = {  # of pydantic's errors
    **{"tuple_type": "a list", "string_type": "a text", "model_type": "a mapping", "dict_type": "a mapping"},
    **dict.fromkeys(
        ("union_tag_not_found", "union_tag_invalid"), "a block with show or field, or columns of such blocks"
    ),
}


def place(raw: Any, loc: Sequence[int | str]) -> str:
    """Return where a problem is, as people count: `step 1 'Greetings', block 2 'polite', kind`."""
    words: list[str] = []
    listed = ""  # the key of the list in which the entry is
    for at, part in enumerate(loc):
        if isinstance(part, int):
            raw = raw[part] if isinstance(raw, list) else None
            named = (
                [raw[key] for key in ("field", "show", "title", "say") if key in raw] if isinstance(raw, dict) else []
            )
            what = words.pop().removesuffix("s") if words and words[-1] == listed else "block"
            words.append(f"{what} {part + 1}" + (f" {named[0]!r:.40}" if named else ""))
        elif not (part in ("show", "field", "columns") and listed != "shows" and at and isinstance(loc[at - 1], int)):
            raw = raw.get(part) if isinstance(raw, dict) else None  # else: which kind of block it is
            words.append(part)
            listed = part
    return ", ".join(word for word in words if word != "[key]")


def message(error: ErrorDetails, parts: Mapping[str, type[BaseModel]]) -> str:
    """Return what is wrong: what was found, and what is expected. `parts` are the parts of a form, by key."""
    found, kind = f"found {error['input']!r:.60}", error["type"]
    if kind == "extra_forbidden":
        name = str(error["loc"][-1])
        fields = next(
            parts[part] for part in map(str, (*reversed(error["loc"][:-1]), "")) if part in parts
        ).model_fields
        close = get_close_matches(name, fields, n=1)
        return "unknown key; " + (f"did you mean `{close[0]}`?" if close else f"known: {', '.join(fields)}")
    if kind == "literal_error":
        return f"{found}; expected {error.get('ctx', {})['expected']}"
    if kind in EXPECTED:
        return f"{found}; expected {EXPECTED[kind]}"
    line = error["msg"].removeprefix("Value error, ")
    return line if kind in ("missing", "value_error") else f"{line}; {found}"


def one_of(names: Iterable[str]) -> str:
    return f"one of {', '.join(names)[:200]}"

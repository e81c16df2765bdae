"""Rows of conversations and of the logs of other programs: turns become an instruction and the text that answers it.

Known are chat `messages` and `conversations`, `prompt` and `completion` of messages, samples of lm-evaluation-harness
and of inspect_ai. The last turn of a person is the instruction, the last answer the text. Earlier turns stand before
the instruction, as its context; a system turn is not read. Which form a file has is decided by its first rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from excam.core.row_files import BadRow, Record

TURNS = ("messages", "conversations", "conversation")
PEOPLE, ANSWERS = frozenset({"user", "human"}), frozenset({"assistant", "gpt", "model", "chatgpt", "bot"})
NO_ANSWER = BadRow("no-answer", "no answer after the last turn of a person; expected one")
NO_TEXT = BadRow("no-generated-text", "log-likelihoods and no text; expected a task that generates")


@dataclass(frozen=True, slots=True)
class Shape:
    """A form of rows: `said` is what is read, `read` returns a row with `instruction` and `output`."""

    said: str
    read: Callable[[Mapping[str, Any]], Record]


def shape_of(rows: Sequence[Mapping[str, Any]], *, answered: bool = False) -> Shape | None:
    """Return the form of these rows; None for a table with columns.

    With `answered`, a column has the text that answers the turns: they are the instruction alone.
    """
    for row in rows:
        if "doc" in row and "resps" in row:
            return Shape(
                "samples of lm-evaluation-harness: question as instruction, filtered_resps as output", _lm_eval
            )
        if isinstance(row.get("output"), Mapping) and "input" in row:
            return Shape("samples of inspect_ai: input as instruction, output.completion as output", _inspect)
        for name in TURNS:
            if _is_turns(row.get(name)) and answered:
                said = f"{name}: the last turn of a person as instruction" + _further(rows, name)
                return Shape(said, lambda row, name=name: {**row, "instruction": _instruction_of(row.get(name))})
            if _is_turns(row.get(name)):
                said = f"{name}: the last turn of a person as instruction, the last answer as output"
                return Shape(said + _further(rows, name), lambda row, name=name: _conversation(row, row.get(name)))
        if _is_turns(row.get("completion")) and "prompt" in row:
            said = "prompt and completion: the last turn of a person as instruction, the last answer as output"
            return Shape(said, lambda row: _conversation(row, _both(row.get("prompt"), row.get("completion"))))
    return None


def _further(rows: Iterable[Mapping[str, Any]], name: str) -> str:
    """Return what happens to other turns, if any of these rows has some."""
    turns: list[Any] = [row.get(name) for row in rows]
    roles = [[_role(turn) for turn in each] for each in turns if _is_turns(each)]
    earlier = sum(sum(role in PEOPLE for role in each) > 1 for each in roles)
    system = sum(any(role not in PEOPLE | ANSWERS for role in each) for each in roles)
    of_rows = f"of the first {len(roles)} rows)"
    notes = f"; earlier turns stand before the instruction ({earlier} {of_rows}" if earlier else ""
    return notes + (f"; turns of a system or a tool are not read ({system} {of_rows}" if system else "")


def _is_turns(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(turn, Mapping) and _role(turn) for turn in value)


def _role(turn: Mapping[str, Any]) -> str:
    role = turn.get("role", turn.get("from"))
    return role.lower() if isinstance(role, str) else ""


def _both(prompt: Any, completion: Any) -> Any:
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    return [*prompt, *completion] if isinstance(prompt, list) and isinstance(completion, list) else None


def _content(value: Any) -> str | None:
    """Return the text of a turn, which may have several parts; None if it has none."""
    if isinstance(value, Mapping):
        value = value.get("content", value.get("value"))
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
        value = "".join(part for part in parts if isinstance(part, str)) or None
    return value if isinstance(value, str) else None


def _instruction(turns: Sequence[Any]) -> str | None:
    """Return the last turn of a person, with the earlier ones of people and models before it."""
    known = [(_role(turn), text) for turn in turns if isinstance(turn, Mapping) and (text := _content(turn))]
    spoken = [(role, text) for role, text in known if role in PEOPLE | ANSWERS]
    while spoken and spoken[-1][0] not in PEOPLE:
        spoken.pop()
    if not spoken:
        return None
    earlier = "".join(f"{'user' if role in PEOPLE else 'assistant'}: {text}\n\n" for role, text in spoken[:-1])
    return earlier + spoken[-1][1]


def _instruction_of(turns: Any) -> str | None:
    return _instruction(turns) if _is_turns(turns) else None


def _conversation(row: Mapping[str, Any], turns: Any) -> Record:
    others = {name: value for name, value in row.items() if not _is_turns(value)}
    if not _is_turns(turns) or _role(turns[-1]) not in ANSWERS:
        return NO_ANSWER
    return {**others, "instruction": _instruction(turns[:-1]), "output": _content(turns[-1])}


def _lm_eval(row: Mapping[str, Any]) -> Record:
    """Return a sample of lm-evaluation-harness: its question, else the whole prompt, and its filtered response."""
    answer = row.get("filtered_resps") or row.get("resps")
    while isinstance(answer, list) and answer:
        if len(answer) == 2 and _is_number(answer[0]) and str(answer[1]) in ("True", "False"):
            return NO_TEXT
        answer = answer[0]
    if not isinstance(answer, str):
        return NO_ANSWER
    document = row.get("doc")
    asked = document.get("question") if isinstance(document, Mapping) else None
    name = row.get("doc_id")
    kept = row.get("filter")
    return {
        "id": f"{name}/{kept}" if isinstance(kept, str) and kept not in ("", "none") else name,
        "instruction": asked if isinstance(asked, str) else _prompt(row.get("arguments")),
        "output": answer,
        "target": row.get("target"),
    }


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _prompt(arguments: Any) -> str | None:
    """Return the prompt of a request: the first argument, a text or JSON of chat messages."""
    while isinstance(arguments, Mapping | list) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, Mapping) else arguments[0]
    if not isinstance(arguments, str):
        return None
    turns: Any = None
    try:
        turns = json.loads(arguments) if arguments.startswith("[{") else None
    except (ValueError, RecursionError):
        turns = None
    return _instruction(turns) if _is_turns(turns) else arguments


def _inspect(row: Mapping[str, Any]) -> Record:
    """Return a sample of inspect_ai; later epochs of a sample have an id of their own."""
    output, asked, epoch = row.get("output"), row.get("input"), row.get("epoch")
    if not isinstance(output, Mapping):
        return NO_ANSWER
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    answer = output.get("completion") or _content(first.get("message"))
    name = row.get("id")
    return {
        "id": f"{name}/{epoch}" if isinstance(epoch, int) and epoch > 1 else name,
        "instruction": _instruction(asked) if isinstance(asked, list) else asked,
        "output": answer if answer is not None else "",
        "target": row.get("target"),
        "system": output.get("model") if isinstance(output.get("model"), str) else None,
    }

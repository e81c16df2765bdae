"""The work of authors as data: which templates each of them fills, and what they see of a template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.hash_order import digest
from excam.core.tables import read_lines
from excam.macaron.templates import Template

COLUMNS = ("country", "language", "script")


@dataclass(frozen=True, slots=True)
class Context:
    """A country or region, its local language and the script of that language."""

    country: str
    language: str
    script: str


def csv_lines(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the lines of a CSV file that a person wrote, with these columns. Raise InputInvalid for anything else."""
    try:
        lines = read_lines(path)
    except (ArtifactBroken, OSError) as problem:
        reason = str(problem).replace("; delete it and run again", "")
        raise InputInvalid(f"{reason}; expected CSV with {', '.join(columns)}") from None
    if not lines or set(columns) - lines[0].keys():
        found = ", ".join(lines[0]) if lines else "no lines"
        raise InputInvalid(f"{path}: found {found}; expected lines with {', '.join(columns)}")
    return lines


def read_contexts(path: Path) -> list[Context]:
    """Return the contexts of a CSV file with the columns country, language and script. Raise InputInvalid."""
    contexts = [Context(*(row[name].strip() for name in COLUMNS)) for row in csv_lines(path, COLUMNS)]
    if len({one.country for one in contexts}) < len(contexts) or not all(
        value for one in contexts for value in (one.country, one.language, one.script)
    ):
        raise InputInvalid(f"{path}: expected each country once, with a language and a script")
    return contexts


def tasks(templates: Sequence[Template], contexts: Sequence[Context], each: int, seed: int) -> list[dict[str, Any]]:
    """Return one task per template, context and author: `each` authors of a context fill the same templates.

    Every author has an order of their own, so that tired hands fill different templates last. Retired templates are
    left out.
    """
    current = [one for one in templates if not one.retired]
    made = []
    for context in contexts:
        for number in range(1, each + 1):
            author = f"{context.country}-{number}"
            own = sorted(current, key=lambda one: digest(seed, author, str(one.id)))
            made += [_task(one, context, author, place, len(own)) for place, one in enumerate(own, 1)]
    return made


def _task(one: Template, context: Context, author: str, place: int, of: int) -> dict[str, Any]:
    return {
        "id": f"{author}/{one.id}",
        "author": author,
        "place": f"Template {place} of {of}",
        "template": one.id,
        "country": context.country,
        "language": context.language,
        "question": one.question,
        "slots": {
            name: {"kind": slot.kind, "local": slot.local, "note": slot.note} for name, slot in one.slots.items()
        },
        "options": list(one.options),
        "true": one.true,
        "false": one.false,
        "note": one.note,
        "example": dict(one.example),
    }

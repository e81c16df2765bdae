"""Contexts of a benchmark: the countries whose authors fill the templates, with their languages and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.core import row_files
from excam.core.exceptions import InputInvalid

COLUMNS = ("country", "language", "script")


@dataclass(frozen=True, slots=True)
class Context:
    """A country or region, its local language and the script of that language."""

    country: str
    language: str
    script: str


def csv_lines(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the lines of a CSV file that a person wrote, with these columns. Raise InputInvalid for anything else."""
    lines = [
        {name: "" if value is None else str(value) for name, value in row.items()} for _, row in row_files.rows(path)
    ]
    if not lines or set(columns) - lines[0].keys():
        header = ", ".join(lines[0]) if lines else "no lines"
        raise InputInvalid(f"{path}: found {header}; expected lines with {', '.join(columns)}")
    return lines


def read_contexts(path: Path) -> list[Context]:
    """Return the contexts of a CSV file with the columns country, language and script. Raise InputInvalid."""
    contexts = [Context(*(row[name].strip() for name in COLUMNS)) for row in csv_lines(path, COLUMNS)]
    if len({context.country for context in contexts}) < len(contexts) or not all(
        value for context in contexts for value in (context.country, context.language, context.script)
    ):
        raise InputInvalid(f"{path}: expected each country once, with a language and a script")
    return contexts

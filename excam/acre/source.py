"""A folder with a benchmark: items, collected translations, labels, and the example of one-shot prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from excam.acre import translations
from excam.acre.items import TermSentence
from excam.acre.translations import Translated
from excam.core.exceptions import InputInvalid

ITEMS, LABELS, EXAMPLE, TRANSLATIONS = "items.jsonl", "labels.jsonl", "example.jsonl", "translations"
REMOVED = "removed.jsonl"
WRITTEN = "written"  # what the translations of the folder are called beside those of models


def files(folder: Path) -> list[Path]:
    """Return the items and translations of a folder. Raise InputInvalid for a folder without items."""
    if not (folder / ITEMS).is_file():
        raise InputInvalid(f"{folder}: no {ITEMS}; expected a benchmark; see docs/cult-eval.md")
    return [folder / ITEMS, *sorted((folder / TRANSLATIONS).glob("*.jsonl"))]


def optional(folder: Path, name: str) -> list[Path]:
    """Return a file that a folder may have, if it is there: labels, the example, or candidates that became no items."""
    return [path for path in (folder / name,) if path.is_file()]


def written(paths: Iterable[Path], items: Mapping[str, TermSentence]) -> list[Translated]:
    """Return the translations of several files. Raise InputInvalid if two files translate as the same system."""
    rows: dict[str, Translated] = {}
    for path in paths:
        for row in translations.read(path, items):
            if row.id in rows:
                raise InputInvalid(f"{path}: {row.id} is in another file too; expected one file for each system")
            rows[row.id] = row
    return list(rows.values())

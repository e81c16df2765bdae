"""The table of `excam list datasets`: licences, sources, and the number of rows of the current build."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from excam.core.licences import is_permissive
from excam.excam40k import datasets

HEAD = ("dataset", "task", "errors", "licence", "permissive", "rows", "source")
ABSENT = "–"


def lines(results: Path) -> list[Sequence[str]]:
    """Return the head, one line per benchmark, and the total; rows are from `excam40k/<dataset>/counts.json` below
    `results`.
    """
    body, total = [], 0
    for name in datasets.available():
        module = datasets.load(name)
        source, rows = module.SOURCE, _rows(results / "excam40k" / name / "counts.json")
        total += rows or 0
        kept = "yes" if is_permissive(source.licence) else "no"
        counted = ABSENT if rows is None else str(rows)
        place = source.hub or source.url or source.homepage
        body.append((name, module.TASK, module.ERRORS, source.licence, kept, counted, place))
    return [HEAD, *body, ("all", *[ABSENT] * 4, str(total), ABSENT)]


def _rows(counts: Path) -> int | None:
    """Return the number of rows of one dataset in the current build; None if there is none that can be parsed."""
    try:
        return int(json.loads(counts.read_text(encoding="utf-8"))["rows"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def align_columns(table: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with aligned columns, for a terminal."""
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]

"""The table of `excam list datasets`: licences, sources, and how many rows the build at hand has (spec 1, 77)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from excam import datasets
from excam.config import modules_in
from excam.licences import permissive
from excam.publishing.about import about

HEAD = ("dataset", "task", "errors", "licence", "permissive", "rows", "source")
ABSENT = "–"


def lines(results: Path) -> list[Sequence[str]]:
    """Head, one line per benchmark, and the total; rows from `excam40k/<dataset>/counts.json` below `results`."""
    body, total = [], 0
    for name in modules_in("datasets"):
        module = datasets.load(name)
        source, rows = module.SOURCE, _rows(results / "excam40k" / name / "counts.json")
        total += rows or 0
        kept = "yes" if permissive(source.licence) else "no"
        counted = ABSENT if rows is None else str(rows)
        body.append((name, about(name).task, module.ERRORS, source.licence, kept, counted, source.hub or source.url))
    return [HEAD, *body, ("all", *[ABSENT] * 4, str(total), ABSENT)]


def _rows(counts: Path) -> int | None:
    """Rows of one dataset in the build at hand; None where there is none, or none that can be read."""
    try:
        return int(json.loads(counts.read_text(encoding="utf-8"))["rows"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines with their columns below each other, for a terminal."""
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]

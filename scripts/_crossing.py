"""What the pages of the crossing share: the rows, and every metric's scores of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.crossing import columns, pages, rows
from excam.crossing.columns import Column
from excam.pages import plotting
from excam.scoring import result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_page(
    argv: Sequence[str] | None,
    description: str | None,
    columns: Sequence[str],
    lines_of: Callable[[Study, int], Iterable[Mapping[str, Any]]],
    page_of: Callable[[Study, Sequence[Mapping[str, Any]]], str],
    draw: Callable[[Sequence[Mapping[str, Any]]], Figure],
) -> None:
    """Write the numbers, the page and the figure of one experiment, by the options of its script."""
    parser = argparse.ArgumentParser(description=description)
    add_options(parser)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)
    study = Study(args)
    lines = list(lines_of(study, args.seed))
    tables.write_lines(args.numbers, columns, lines)
    write_text(args.page, page_of(study, lines))
    plotting.save(draw(lines), args.pictures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `Study` reads."""
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True, help="one file for each metric, of its name")
    parser.add_argument("--parts", type=json.loads, required=True, help="the parts of each metric that are shown too")


class Study:
    """The rows, the scores of each metric and the parts shown of it, by its name."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.rows = rows.read(args.rows)
        self.scores = {path.stem: list(result_files.read(path)) for path in args.scores}
        self.parts = args.parts

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Return the columns of all metrics."""
        return columns.of_scores(self.scores, self.parts, self.rows)

    @property
    def notes(self) -> list[str]:
        """Return lines that say how the rows were scored."""
        return pages.how_scored(self.scores)

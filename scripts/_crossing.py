"""What the pages of the crossing share: the rows, and every metric's scores of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.crossing import columns, pages, rows
from excam.crossing.columns import Column
from excam.pages import plotting
from excam.scoring import result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class StudyFiles:
    """What `Study` reads."""

    rows_path: Path
    scores_paths: Annotated[Sequence[Path], "one file for each metric, of its name"]
    parts: Annotated[dict[str, list[str]], json.loads, "the parts of each metric that are shown too"]


@dataclass(frozen=True, kw_only=True)
class PageFiles:
    """What `write_page` writes, and the seed of its draws."""

    seed: int
    numbers_path: Path
    page_path: Path
    pictures_paths: Sequence[Path]


def write_page(
    study: Study,
    files: PageFiles,
    columns: Sequence[str],
    lines_of: Callable[[Study, int], Iterable[Mapping[str, Any]]],
    page_of: Callable[[Study, Sequence[Mapping[str, Any]]], str],
    draw: Callable[[Sequence[Mapping[str, Any]]], Figure],
) -> None:
    """Write the numbers, the page and the figure of one experiment."""
    lines = list(lines_of(study, files.seed))
    tables.write_lines(files.numbers_path, columns, lines)
    write_text(files.page_path, page_of(study, lines))
    plotting.save(draw(lines), files.pictures_paths)


class Study:
    """The rows, the scores of each metric and the parts shown of it, by its name."""

    def __init__(self, files: StudyFiles) -> None:
        self.rows = rows.read(files.rows_path)
        self.scores = {path.stem: list(result_files.read(path)) for path in files.scores_paths}
        self.parts = files.parts

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Return the columns of all metrics."""
        return columns.of_scores(self.scores, self.parts, self.rows)

    @property
    def notes(self) -> list[str]:
        """Return lines that say how the rows were scored."""
        return pages.how_scored(self.scores)

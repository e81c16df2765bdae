"""Draw Figure 10: scaled accuracy by language, and the spread over languages, from the numbers it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import tables
from excam.error_reports.evaluation import cells
from excam.error_reports.evaluation.cells import Cell
from excam.pages import plotting
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/paper/figure-10",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "cells_of_all_in_domain", "samples": "train_dev_test"},
}
COLUMNS = (
    *("row", "tuned", "language", "shown", "in_dataset", "scaled_accuracy", "low", "high", "n", "failures", "spread"),
    "cell",
)
MORE_THAN = 100  # rows in the data set of a language that is shown (Appendix I)
TITLE = "Scaled accuracy by language"


@step
def main(
    cells_paths: Annotated[Sequence[Path], "of `all` test sets together"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    frames = [tables.read_frame(path).select("language") for path in samples_paths]
    in_dataset = dict(pl.concat(frames)["language"].value_counts().iter_rows())
    lines = [line for path in cells_paths for line in _lines(cells.read(path), in_dataset, MORE_THAN)]
    tables.write_lines(numbers_path, COLUMNS, lines)
    draw(tables.read_lines(numbers_path), MORE_THAN, pictures_paths)


def _lines(cell: Cell, in_dataset: Mapping[str, int], more_than: int) -> Iterator[dict[str, Any]]:
    """One line per language of a system, most test rows first, and one for the rows whose language has no section.

    `in_dataset` counts the rows of each language in the data set, all splits together.
    """
    common = {"row": cell.system.name, "tuned": cell.system.tuned, "cell": cell.path}
    sections = sorted(cell.numbers["by_language"].items(), key=lambda item: (-item[1]["n"], item[0]))
    shown = [section["scaled"] for language, section in sections if in_dataset.get(language, 0) > more_than]
    spread = cells.rounded_text(max(shown) - min(shown)) if len(shown) > 1 else None
    for language, section in sections:
        rows = in_dataset.get(language, 0)
        yield {
            **common,
            "language": language,
            "shown": rows > more_than,
            "in_dataset": rows,
            **{"scaled_accuracy": cells.rounded_text(section["scaled"]), "low": cells.rounded_text(section["low"])},
            **{"high": cells.rounded_text(section["high"]), "n": section["n"], "failures": section["failures"]},
            "spread": spread if rows > more_than else None,
        }
    rest = cell.numbers["n"] - sum(section["n"] for _, section in sections)
    others = sum(in_dataset.values()) - sum(in_dataset.get(language, 0) for language, _ in sections)
    yield {**common, "language": "", "shown": False, "in_dataset": others, "n": rest}


def draw(lines: list[dict[str, str]], more_than: int, pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-10.csv alone; say so where no language has enough of them."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["tuned"] == "True"}
    rows = sorted(names, key=lambda row: row in tuned)
    shown = [line for line in lines if line["shown"] == "True"]
    first = [line for line in lines if line["row"] == rows[0] and line["shown"] != "True"]
    hidden = sum(int(line["n"]) for line in first)
    if not shown:
        text = (
            f"No language has more than {more_than} rows in the data set and enough test rows for an interval: nothing "
            f"to show. Test rows: {hidden:,}."
        )
        plotting.save(plotting.words(TITLE, text), pictures)
        return
    counts = {line["language"]: int(line["n"]) for line in shown}
    at = {(line["language"], line["row"]): line for line in shown}
    panels = {
        f"{name}\nn = {count:,}": [_point(at.get((name, row))) for row in rows]
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    }
    spreads = {line["row"]: line["spread"] for line in shown}
    spread = "Spread: the best language minus the worst. " if len(counts) > 1 else ""
    figure = plotting.forest(
        panels,
        rows,
        tuned=[row in tuned for row in rows],
        beside=("spread", [f"{float(spreads[row]):.2f}" for row in rows]) if len(counts) > 1 else None,
        title=TITLE,
        note=f"Languages with more than {more_than} rows in the data set; n counts test rows, {hidden:,} are of other "
        "languages. Blue dots: ExCAM, trained on all datasets; orange squares: models as they come. Lines: 95 % "
        f"intervals, a bootstrap over groups. {spread}0 is chance; an unreadable answer counts as wrong.",
    )
    plotting.save(figure, pictures)


def _point(line: dict[str, str] | None) -> plotting.Point | None:
    return (float(line["scaled_accuracy"]), float(line["low"]), float(line["high"])) if line else None


if __name__ == "__main__":
    run(main)

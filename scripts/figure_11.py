"""Draw Figure 11: every adapter of a base model on every test set, from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from excam.core import tables
from excam.error_reports.evaluation import cells
from excam.error_reports.evaluation.cells import LEVEL, Cell
from excam.excam40k.publishing import about
from excam.pages import plotting
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/figure-11/{model}",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "cells_of_adapters", "changes": "results/paper/leave-one-out.csv"},
    "settings": {"datasets": "datasets", "unseen": "unseen"},
}
ALL, MEAN = "ALL", "MEAN"
COLUMNS = (
    *("row", "trained_on", "judge", "column", "scaled_accuracy", "low", "high", "n", "failures", "seen"),
    *("difference", "p_holm", "cell"),
)


@step
def main(
    model: str,
    datasets: Sequence[str],
    cells_paths: Sequence[Path],
    changes_path: Annotated[Path, "leave-one-out.csv"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
    unseen: Annotated[Sequence[str], "<trained_on>/<dataset> that it never saw"] = (),
) -> None:
    tests = {
        (f"without-{line['left_out']}", line["judge"], line["on"]): line
        for line in tables.read_lines(changes_path)
        if line["model"] == model
    }
    lines = [_line(cell, set(unseen), tests) for cell in map(cells.read, cells_paths)]
    tables.write_lines(numbers_path, COLUMNS, [*lines, *_means(lines)])
    draw(tables.read_lines(numbers_path), model, datasets, pictures_paths)


def _line(cell: Cell, unseen: set[str], tests: dict[tuple[str, str, str], dict[str, str]]) -> dict[str, Any]:
    system, on_all = cell.system, cell.dataset == "all"
    trained_on, test = system.trained_on, tests.get((system.trained_on, system.judge, cell.dataset), {})
    return {
        "row": trained_on.replace("without-", "without ") + ("" if system.judge == "report" else f", {system.judge}"),
        **{"trained_on": trained_on, "judge": system.judge, "column": ALL if on_all else cell.dataset},
        **cell.accuracy,
        "seen": None if on_all else f"{trained_on}/{cell.dataset}" not in unseen,
        **{name: test.get(name) for name in ("difference", "p_holm")},
    }


def _means(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean over datasets, each with the same weight; `n` says over how many."""
    means = []
    for row in dict.fromkeys(line["row"] for line in lines):
        own = [line for line in lines if line["row"] == row and line["column"] != ALL]
        if own:
            head = {name: own[0][name] for name in ("row", "trained_on", "judge")}
            value = round(mean(line["scaled_accuracy"] for line in own), 4)
            means.append({**head, "column": MEAN, "scaled_accuracy": value, "n": len(own)})
    return means


def draw(lines: list[dict[str, str]], model: str, datasets: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw from the rows of the CSV alone."""
    rows = list(dict.fromkeys(line["row"] for line in lines))
    columns = [*datasets, ALL, MEAN]
    at = {(line["row"], line["column"]): line for line in lines}
    grid = [[at.get((row, column), {}) for column in columns] for row in rows]
    counts = [next((int(at[row, c]["n"]) for row in rows if (row, c) in at and c != MEAN), None) for c in columns]
    first = next((place for place, row in enumerate(rows) if not row.startswith("all")), len(rows))
    figure = plotting.heat_map(
        [[float(line["scaled_accuracy"]) if line else None for line in row] for row in grid],
        rows=[_name(row) for row in rows],
        columns=[about.title(column) for column in columns],
        counts=counts,
        marks=[["*" if line.get("p_holm") and float(line["p_holm"]) <= LEVEL else "" for line in row] for row in grid],
        framed=[[line.get("seen") == "False" for line in row] for row in grid],
        title=f"Scaled accuracy of every adapter of {model}",
        note="Framed: the adapter never saw this dataset. * a leave-one-out adapter differs from the one trained on "
        "all: paired permutation tests over groups, two-sided, p ≤ .05 after Holm's correction over this figure. 0 is "
        "chance; an unreadable answer is wrong. ALL: every test set together; MEAN: of the datasets, all alike.",
        separators=[len(datasets)],
        row_separators=[first],
    )
    plotting.save(figure, pictures)


def _name(row: str) -> str:
    kind, _, rest = row.partition(" ")
    dataset, comma, judge = rest.partition(",")
    return f"without {about.title(dataset)}{comma}{judge}" if kind == "without" else f"trained on {row}"


if __name__ == "__main__":
    run(main)

"""Draw Figure 3: out-of-domain scaled accuracy, models by test sets, from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from excam.core import tables
from excam.error_reports.evaluation import cells
from excam.error_reports.evaluation.cells import LEVEL, Cell, Test
from excam.excam40k import trivial_baselines
from excam.excam40k.publishing import about
from excam.pages import plotting
from scripts import run, step

VERSION = 4
PAGE = {
    "result": "results/paper/figure-3",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "cells_of_columns", "tests": "tests_of_columns", "floors": "results/paper/floors.csv"},
    "settings": {"datasets": "datasets", "soft": "soft"},
}
IN_DOMAIN, AVERAGE = "ALL (ID)", "AVG (OOD)"
COLUMNS: tuple[str, ...] = (
    *("row", "column", "scaled_accuracy", "low", "high", "n", "failures", "significant"),
    *("trivial_baseline", "p_baselines", "p_baselines_holm", "p_own_base", "p_own_base_holm", "cell"),
)


@step
def main(
    datasets: Sequence[str],
    cells_paths: Sequence[Path],
    tests_paths: Sequence[Path],
    floors_path: Annotated[Path, "floors.csv: the trivial baselines of each test set"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
    soft: Annotated[Sequence[str], "datasets whose errors are soft; their columns get a †"] = (),
) -> None:
    tests = cells.tests(tests_paths)
    trivial = tables.read_lines(floors_path)
    lines = [
        _line(cell, tests[cell.dataset], trivial_baselines.highest(trivial, cell.dataset, "scaled_accuracy"))
        for cell in map(cells.read, cells_paths)
    ]
    for name in ("p_baselines", "p_own_base"):
        corrected = cells.holm_adjusted([line[name] for line in lines])
        for line, p in zip(lines, corrected, strict=True):
            line |= {name: cells.significant_digits(line[name]), f"{name}_holm": cells.significant_digits(p)}
    lines += _averages(lines, datasets)
    tables.write_lines(numbers_path, COLUMNS, lines)
    draw(tables.read_lines(numbers_path), datasets, soft, pictures_paths)


def _line(cell: Cell, tests: Sequence[Test], trivial: float) -> dict[str, Any]:
    """Return the numbers of a cell; `trivial` is the highest scaled accuracy of a trivial baseline on its test set."""
    system = cell.system
    above = cell.accuracy["low"] > trivial  # not the value: it is far above models that cannot answer, even at chance
    baselines = cells.p_better(system.key, tests, lambda other: not other.tuned) if system.tuned else None
    own = cells.p_better(system.key, tests, lambda other: not other.tuned and other.model == system.model)
    return {
        "row": system.name,
        "column": IN_DOMAIN if cell.dataset == "all" else cell.dataset,
        **cell.accuracy,
        "significant": system.tuned and above and _beats_baselines(system.key, tests),
        "trivial_baseline": trivial,
        "p_baselines": baselines,
        "p_own_base": own if system.tuned else None,
    }


def _beats_baselines(system: str, tests: Sequence[Test]) -> bool:
    """Better than every model as it comes, each at `LEVEL`."""
    p_value = cells.p_better(system, tests, lambda other: not other.tuned)
    return p_value is not None and p_value <= LEVEL


def _averages(lines: list[dict[str, Any]], datasets: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mean over the out-of-domain columns that every row has, so that rows compare; `n` says how many."""
    rows = list(dict.fromkeys(line["row"] for line in lines))
    filled = {(line["row"], line["column"]) for line in lines}
    common = [dataset for dataset in datasets if all((row, dataset) in filled for row in rows)]
    averages = []
    for row in rows:
        values = [line["scaled_accuracy"] for line in lines if line["row"] == row and line["column"] in common]
        if values:
            averages.append(
                {"row": row, "column": AVERAGE, "scaled_accuracy": round(mean(values), 4), "n": len(values)}
            )
    return averages


def draw(lines: list[dict[str, str]], datasets: Sequence[str], soft: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-3.csv alone; ExCAM's rows stand below a gap."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["row"].startswith("ExCAM (")}
    rows = sorted(names, key=lambda row: row in tuned)
    columns = [*datasets, IN_DOMAIN, AVERAGE]
    at = {(line["row"], line["column"]): line for line in lines}
    values = [[float(at[row, c]["scaled_accuracy"]) if (row, c) in at else None for c in columns] for row in rows]
    counts = [next((int(at[row, c]["n"]) for row in rows if (row, c) in at and c != AVERAGE), None) for c in columns]
    averaged = next((line["n"] for line in lines if line["column"] == AVERAGE), "0")
    figure = plotting.heat_map(
        values,
        rows=rows,
        columns=[f"{about.title(c)} †" if c in soft else about.title(c) for c in columns],
        counts=counts,
        marks=[[_mark(at.get((row, c), {})) for c in columns] for row in rows],
        title="Out-of-domain scaled accuracy",
        note="* the 95 % interval is above every trivial baseline, and better than every untuned model in the column: "
        "paired permutation tests over groups, two-sided, p ≤ .05 after Holm's correction over the figure; ° p ≤ .05 "
        "in the column alone. † soft errors. 0 is chance; an unreadable answer counts as wrong. AVG (OOD): mean over "
        f"the test sets that every row has ({averaged}). ExCAM: each column judged by an adapter that never saw its "
        "dataset, ALL (ID) by the one that saw all.",
        separators=[len(datasets)],
        row_separators=[len(rows) - len(tuned)],
    )
    plotting.save(figure, pictures)


def _mark(line: dict[str, str]) -> str:
    if line.get("significant") != "True":
        return ""
    return "*" if float(line["p_baselines_holm"]) <= LEVEL else "°"


if __name__ == "__main__":
    run(main)

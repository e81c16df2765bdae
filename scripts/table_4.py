"""Write Table 4: scaled accuracy, Kendall and tie-calibrated accuracy of every system, beside the paper's numbers.

The trivial baselines are its last lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.error_reports.evaluation import cells
from excam.error_reports.evaluation.cells import Cell, System, Test
from excam.excam40k import trivial_baselines
from excam.pages.markdown import table
from scripts import run, step

VERSION = 6
PAGE = {
    "result": "results/paper/table-4",
    "outputs": ["numbers", "page"],
    "category": "Results",
    "target": "paper",
    "inputs": {
        "cells": "cells_of_all",
        "tests": "results/significance/all/test.json",
        "correlation_tests": "results/significance/all/test.correlations.json",
        "floors": "results/paper/floors.csv",
        "printed": "paper/table-4.csv",
    },
}
COLUMNS = (
    *("model", "trained_on", "judge", "fallback", "scaled_accuracy", "low", "high", "excluding_failures"),
    *("kendall_b", "tie_calibrated_accuracy", "epsilon", "n", "n_scored", "failures", "better_than_all"),
    *("kendall_better_than_all", "kendall_tests", "tie_calibrated_better_than_all", "tie_calibrated_tests", "cell"),
)
WON = {  # verdict -> what it is about
    "better_than_all": "scaled_accuracy",
    "kendall_better_than_all": "kendall_b",
    "tie_calibrated_better_than_all": "tie_calibrated_accuracy",
}
PRINTED = ("scaled_accuracy", "kendall", "tie_calibrated_accuracy")  # columns of paper/table-4.csv, as in WON
HEAD = (
    *("system", "scaled accuracy [95 %]", "paper", "Kendall b", "paper", "tie-calibrated", "paper"),
    *("n", "failures", "from", "compared"),
)
NOTE = (
    "0 is chance for scaled accuracy; an unreadable answer counts as wrong. `+p`: the score is p(R) where "
    "it would be 0. In brackets: the 95 % interval of a bootstrap over groups; beside the printed number, ours minus "
    "the paper's. `*`: above every trivial baseline (scaled accuracy: with its interval), and better than every "
    "untuned model and every other adapter of all, by paired permutation tests over groups, p ≤ .05. Of correlations "
    "only ExCAM's with p(R) are tested, which the paper underlines; `table-4.csv` says how many tests there are. "
    "Leave-one-out adapters are compared in Figure 11. The last lines use no judgement."
)
Line = Mapping[str, str]


@step
def main(
    cells_paths: Sequence[Path],
    tests_path: Path,
    correlation_tests_path: Path,
    floors_path: Path,
    printed_path: Annotated[Path, "paper/table-4.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    tests, correlations = (read_json(path, "tests")["tests"] for path in (tests_path, correlation_tests_path))
    lines = [line for path in cells_paths for line in _lines(cells.read(path), tests, correlations)]
    trivial = tables.read_lines(floors_path)
    for line in lines:
        for verdict, column in WON.items():
            surely = line["low"] if column == "scaled_accuracy" else line[column]  # the others have no interval
            if line.get(verdict) == "yes" and surely <= trivial_baselines.highest(trivial, "all", column):
                line[verdict] = "no"
    tables.write_lines(numbers_path, COLUMNS, [*lines, *_floors(trivial, floors_path)])
    write_text(page_path, _page(tables.read_lines(numbers_path), tables.read_lines(printed_path)))


def _lines(cell: Cell, tests: Sequence[Test], correlations: Sequence[Test]) -> list[dict[str, Any]]:
    """Two lines per system: without and with p(R) where the score would be 0."""
    system, numbers = cell.system, cell.numbers
    common = {
        **{"model": system.model, "trained_on": system.trained_on, "judge": system.judge},
        **cell.accuracy,
        "excluding_failures": cells.rounded_text(numbers["accuracy"]["excluding"]),
        "n_scored": numbers["correlation"]["n"],
        "better_than_all": better_than_all(system.key, tests),
    }
    return [
        {
            **common,
            "fallback": fallback,
            "kendall_b": cells.rounded_text(coefficients["kendall_b"]),
            "tie_calibrated_accuracy": cells.rounded_text(coefficients["tie_calibrated"]),
            "epsilon": cells.rounded_text(coefficients["epsilon"]),
            **(_correlated(system, correlations) if system.tuned and fallback else {}),
        }
        for fallback, coefficients in (("", numbers["correlation"]["score"]), ("p", numbers["correlation"]["score_p"]))
    ]


def _correlated(system: System, correlations: Sequence[Test]) -> dict[str, str]:
    """Return whether ExCAM's score of Eq. 1 correlates better than every other, and by how many tests of how many.

    There is no test where a correlation does not exist, as of a constant metric.
    """
    name, columns = f"{system.key}+p", {}
    for measure, column in (("kendall", "kendall"), ("tie-calibrated", "tie_calibrated")):
        own = [test for test in correlations if test["measure"] == measure and name in (test["a"], test["b"])]
        done = [test for test in own if "p_value" in test]
        columns[f"{column}_better_than_all"] = better_than_all(name, done)
        columns[f"{column}_tests"] = f"{len(done)} of {len(own)}"
    return columns


def _floors(trivial: Sequence[dict[str, str]], path: Path) -> list[dict[str, Any]]:
    """What scores without judgement get on all test sets together: no system, so nothing was compared with them."""
    return [
        {
            **{"model": line["floor"], "trained_on": "nothing", "judge": "none", "fallback": "", "cell": str(path)},
            **{name: line[name] for name in ("scaled_accuracy", "low", "high", "kendall_b", "n")},
            **{"tie_calibrated_accuracy": line["tie_calibrated_accuracy"], "n_scored": line["n"], "failures": 0},
        }
        for line in trivial
        if (line["dataset"], line["split"]) == ("all", "test")
    ]


def better_than_all(system: str, tests: Sequence[Test], level: float = cells.LEVEL) -> str:
    """`yes` when every test against another system is won at `level`; empty where it was not compared."""
    p_value = cells.p_better(system, tests, lambda _: True)
    return "" if p_value is None else "yes" if p_value <= level else "no"


def _page(ours: Sequence[Line], printed: Sequence[Line]) -> str:
    """Return the table for a reader, each number beside the printed one of the same system."""
    paper = {line["system"]: line for line in printed}
    named = {_system(line): line for line in ours}
    body = [
        [
            *(name, *_values(line, paper.get(name, {})), line["n"], line["failures"], f"`{line['cell']}`"),
            _why(line, name, paper),
        ]
        for name, line in named.items()
    ]
    missing = ", ".join(name for name in paper if name not in named)
    text = f"# Table 4: every system on all test sets together\n\n{NOTE}\n\n{table(HEAD, body)}"
    return text + (f"\nPrinted, not in this experiment: {missing}.\n" if missing else "")


def _values(line: Line, printed: Line) -> list[str]:
    """Return each measure, with its star and interval, and after it what the paper prints."""
    interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
    texts = []
    for (verdict, column), beside in zip(WON.items(), PRINTED, strict=True):
        star = "*" if line[verdict] == "yes" else ""
        own = f"{line[column] or 'n/a'}{star}{interval if column == 'scaled_accuracy' else ''}"
        texts += [own, _beside(line[column], printed.get(beside, ""))]
    return texts


def _beside(ours: str, printed: str) -> str:
    """Return the printed value and how far ours is from it."""
    if not printed:
        return "–"
    return f"{printed} ({float(ours) - float(printed):+.3f})" if ours else printed


def _why(line: Line, name: str, paper: Mapping[str, Line]) -> str:
    """Return whether the paper prints this system, and if not, what about it is another."""
    kind = "tuned" if line["trained_on"] != "nothing" else "untuned"
    if name in paper:
        return "same model, adapter and judge"
    if line["model"] in trivial_baselines.NAMES:
        return "a trivial baseline; the paper prints none"
    same = [row for row in paper.values() if row["model"] == line["model"]]
    bases = ", ".join(row["model"] for row in paper.values() if row["trained_on"] == "all")
    if not same:
        return f"other base model; the paper tunes {bases}" if kind == "tuned" else "a model the paper does not ask"
    if line["trained_on"].startswith("without-"):
        return "an adapter of Figures 3 and 11, whose cells are in pictures"
    if line["trained_on"] not in ("nothing", "all"):
        return "an adapter the paper does not have"
    if any((row["trained_on"], row["judge"]) == (line["trained_on"], line["judge"]) for row in same):
        return f"printed only with{'out' if line['fallback'] else ''} p(R) as fallback"
    return f"the paper prints no {kind} {line['judge']} of this model"


def _system(line: Line) -> str:
    """Return one name per system, as in the column `system` of paper/table-4.csv."""
    name = f"{line['model']}/{line['trained_on']}/{line['judge']}"
    return f"{name}+{line['fallback']}" if line["fallback"] else name


if __name__ == "__main__":
    run(main)

"""Table 4: scaled accuracy, Kendall and tie-calibrated accuracy of every system, with n, failures and the floors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam import tables
from excam.evaluation import cells, floors
from excam.evaluation.cells import Cell, System, Test
from excam.provenance import read_json
from scripts import run

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


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, nargs="+", required=True)
    parser.add_argument("--tests", type=Path, required=True)
    parser.add_argument("--correlation-tests", type=Path, required=True)
    parser.add_argument("--floors", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    tests, correlations = (read_json(path, "tests")["tests"] for path in (args.tests, args.correlation_tests))
    lines = [line for path in args.cells for line in _lines(cells.read(path), tests, correlations)]
    trivial = tables.read_lines(args.floors)
    for line in lines:
        for verdict, column in WON.items():
            if line.get(verdict) == "yes" and line[column] <= floors.highest(trivial, "all", column):
                line[verdict] = "no"
    tables.write_lines(args.numbers, COLUMNS, [*lines, *_floors(trivial, args.floors)])


def _lines(cell: Cell, tests: Sequence[Test], correlations: Sequence[Test]) -> list[dict[str, Any]]:
    """Two lines per system: without and with p(R) where the score would be 0 (spec 41)."""
    system, numbers = cell.system, cell.numbers
    common = {
        **{"model": system.model, "trained_on": system.trained_on, "judge": system.judge},
        **cell.accuracy,
        "excluding_failures": cells.rounded(numbers["accuracy"]["excluding"]),
        "n_scored": numbers["correlation"]["n"],
        "better_than_all": better_than_all(system.key, tests),
    }
    return [
        {
            **common,
            "fallback": fallback,
            "kendall_b": cells.rounded(found["kendall_b"]),
            "tie_calibrated_accuracy": cells.rounded(found["tie_calibrated"]),
            "epsilon": cells.rounded(found["epsilon"]),
            **(_correlated(system, correlations) if system.tuned and fallback else {}),
        }
        for fallback, found in (("", numbers["correlation"]["score"]), ("p", numbers["correlation"]["score_p"]))
    ]


def _correlated(system: System, correlations: Sequence[Test]) -> dict[str, str]:
    """Whether ExCAM's score of Eq. 1 correlates better than every other, and by how many tests of how many.

    There is no test where a correlation does not exist, as of a constant metric.
    """
    name, found = f"{system.key}+p", {}
    for measure, column in (("kendall", "kendall"), ("tie-calibrated", "tie_calibrated")):
        own = [test for test in correlations if test["measure"] == measure and name in (test["a"], test["b"])]
        done = [test for test in own if "p_value" in test]
        found[f"{column}_better_than_all"] = better_than_all(name, done)
        found[f"{column}_tests"] = f"{len(done)} of {len(own)}"
    return found


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


if __name__ == "__main__":
    run(main)

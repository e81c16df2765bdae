"""Table 4: scaled accuracy, Kendall and tie-calibrated accuracy of every system, with n, failures and the floors."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam import tables
from scripts import run

COLUMNS = (
    *("model", "trained_on", "judge", "fallback", "scaled_accuracy", "low", "high", "excluding_failures"),
    *("kendall_b", "tie_calibrated_accuracy", "epsilon", "n", "n_scored", "failures", "better_than_all", "cell"),
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, nargs="+", required=True)
    parser.add_argument("--tests", type=Path, required=True)
    parser.add_argument("--floors", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    tests = json.loads(args.tests.read_text(encoding="utf-8"))["tests"]
    lines = [line for path in args.cells for line in _lines(path, tests)]
    tables.write_lines(args.numbers, COLUMNS, [*lines, *_floors(args.floors)])


def _lines(path: Path, tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two lines per system: without and with p(R) where the score would be 0 (spec 41)."""
    cell = json.loads(path.read_text(encoding="utf-8"))
    model, trained_on, judge = path.parts[-5:-2]
    common = {
        **{
            "model": model,
            "trained_on": trained_on,
            "judge": judge,
            "cell": str(path),
            "n": cell["n"],
            "n_scored": cell["correlation"]["n"],
        },
        "scaled_accuracy": _round(cell["accuracy"]["scaled"]),
        "low": _round(cell["accuracy"]["low"]),
        "high": _round(cell["accuracy"]["high"]),
        "excluding_failures": _round(cell["accuracy"]["excluding"]),
        "failures": cell["accuracy"]["failures"],
        "better_than_all": better_than_all(f"{model}/{trained_on}/{judge}", tests),
    }
    return [_with(common, cell, fallback) for fallback in ("score", "score_p")]


def _with(common: dict[str, Any], cell: dict[str, Any], fallback: str) -> dict[str, Any]:
    numbers = cell["correlation"][fallback]
    return {
        **common,
        "fallback": "p" if fallback == "score_p" else "",
        "kendall_b": _round(numbers["kendall_b"]),
        "tie_calibrated_accuracy": _round(numbers["tie_calibrated"]),
        "epsilon": _round(numbers["epsilon"]),
    }


def _floors(path: Path) -> list[dict[str, Any]]:
    """What scores without judgement get on all test sets together: no system, so nothing was compared with them."""
    return [
        {
            **{"model": line["floor"], "trained_on": "nothing", "judge": "none", "fallback": "", "cell": str(path)},
            **{name: line[name] for name in ("scaled_accuracy", "low", "high", "kendall_b", "n")},
            **{"tie_calibrated_accuracy": line["tie_calibrated_accuracy"], "n_scored": line["n"], "failures": 0},
        }
        for line in tables.read_lines(path)
        if (line["dataset"], line["split"]) == ("all", "test")
    ]


def better_than_all(system: str, tests: list[dict[str, Any]], level: float = 0.05) -> str:
    """`yes` when every test against another system is won at `level`; empty where it was not compared."""
    mine = [test for test in tests if system in (test["a"], test["b"])]
    won = [test["p_value"] <= level and test["difference"] * (1 if test["a"] == system else -1) > 0 for test in mine]
    return ("yes" if all(won) else "no") if mine else ""


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


if __name__ == "__main__":
    run(main)

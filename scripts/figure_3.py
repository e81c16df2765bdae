"""Figure 3: out-of-domain scaled accuracy, models by test sets, drawn from the numbers it writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from excam import plotting, tables
from scripts import run

IN_DOMAIN, AVERAGE = "ALL (ID)", "AVG (OOD)"
COLUMNS: tuple[str, ...] = ("row", "column", "scaled_accuracy", "low", "high", "n", "failures", "significant", "cell")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", required=True)
    parser.add_argument("--cells", type=Path, nargs="+", required=True)
    parser.add_argument("--tests", type=Path, nargs="+", required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)

    tests = {path.parts[-2]: json.loads(path.read_text(encoding="utf-8"))["tests"] for path in args.tests}
    lines = [_line(path, tests) for path in args.cells]
    lines += _averages(lines, args.datasets)
    tables.write_lines(args.numbers, COLUMNS, lines)
    draw(tables.read_lines(args.numbers), args.datasets, args.pictures)


def _line(path: Path, tests: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    cell = json.loads(path.read_text(encoding="utf-8"))
    model, trained_on, judge, dataset = path.parts[-5:-1]
    tuned = trained_on != "nothing"
    asked = model if judge == "report" else f"{model}, {judge}"
    return {
        "row": f"ExCAM ({asked})" if tuned else f"{model} ({judge})",
        "column": IN_DOMAIN if dataset == "all" else dataset,
        **{name: round(cell["accuracy"][key], 4) for name, key in (("scaled_accuracy", "scaled"), ("low", "low"))},
        "high": round(cell["accuracy"]["high"], 4),
        "n": cell["n"],
        "failures": cell["accuracy"]["failures"],
        "significant": tuned and _beats_baselines(f"{model}/{trained_on}/{judge}", tests[dataset]),
        "cell": str(path),
    }


def _beats_baselines(system: str, tests: list[dict[str, Any]], level: float = 0.05) -> bool:
    """Better than every model as it comes, each at `level` (spec 56)."""
    mine = [t for t in tests if system in (t["a"], t["b"]) and "/nothing/" in t["a"] + t["b"]]
    won = [t["p_value"] <= level and t["difference"] * (1 if t["a"] == system else -1) > 0 for t in mine]
    return bool(won) and all(won)


def _averages(lines: list[dict[str, Any]], datasets: list[str]) -> list[dict[str, Any]]:
    """The mean over the out-of-domain columns that every row has, so that rows compare; `n` says how many."""
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


def draw(lines: list[dict[str, str]], datasets: list[str], pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-3.csv alone."""
    rows = list(dict.fromkeys(line["row"] for line in lines))
    columns = [*datasets, IN_DOMAIN, AVERAGE]
    at = {(line["row"], line["column"]): line for line in lines}
    values = [[float(at[row, c]["scaled_accuracy"]) if (row, c) in at else None for c in columns] for row in rows]
    marks = [[(row, c) in at and at[row, c]["significant"] == "True" for c in columns] for row in rows]
    counts = [next((int(at[row, c]["n"]) for row in rows if (row, c) in at and c != AVERAGE), None) for c in columns]
    averaged = next((line["n"] for line in lines if line["column"] == AVERAGE), "0")
    figure = plotting.heat_map(
        values,
        rows=rows,
        columns=columns,
        counts=counts,
        marks=marks,
        title="Out-of-domain scaled accuracy",
        note="* better than every untuned model in the column, paired permutation test, p ≤ .05. 0 is chance; "
        f"an unreadable answer counts as wrong. AVG (OOD): mean of the {averaged} test sets that every row has. "
        "ExCAM: each column judged by an adapter that never saw its dataset, ALL (ID) by the one that saw all.",
        separators=[len(datasets)],
    )
    plotting.save(figure, pictures)


if __name__ == "__main__":
    run(main)

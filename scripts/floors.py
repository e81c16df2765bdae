"""What scores without judgement get on each test set: constant, length-only, template-only, random (spec 51-55)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam import tables
from excam.evaluation import floors
from scripts import run

TESTS = ("test", "test-100")
COLUMNS = (
    *("floor", "dataset", "split", "scaled_accuracy", "low", "high", "kendall_b", "tie_calibrated_accuracy"),
    *("n", "groups", "rule"),
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="excam40k/<dataset>/<split>.parquet")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    parts: dict[str, dict[str, pl.DataFrame]] = {}
    for path in args.samples:
        parts.setdefault(path.parent.name, {})[path.stem] = tables.read_frame(path)
    parts["all"] = {split: pl.concat([own[split] for own in parts.values()]) for split in ("train", "dev", *TESTS)}
    lines = [line for dataset, own in parts.items() for line in _lines(dataset, own, args.seed)]
    tables.write_lines(args.numbers, COLUMNS, lines)


def _lines(dataset: str, own: dict[str, pl.DataFrame], seed: int) -> list[dict[str, Any]]:
    learned = pl.concat([own["train"], own["dev"]])
    return [
        {
            **{name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(floor).items()},
            **{"dataset": dataset, "split": split, "rule": floors.RULES[floor.floor]},
        }
        for split in TESTS
        if own[split].height
        for floor in floors.floors(learned, own[split], seed)
    ]


if __name__ == "__main__":
    run(main)

"""Table 2: rows per dataset and split, with what was dropped on the way (spec 11, 12)."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path

from excam.provenance import publish
from scripts import run

COLUMNS: tuple[str, ...] = (
    *("dataset", "train", "dev", "test", "rows", "right", "wrong_hard", "wrong_soft"),
    *("beyond_cap", "without_twin"),
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="<dataset>/counts.json")
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    lines = [_line(path.parent.name, json.loads(path.read_text(encoding="utf-8"))) for path in args.counts]
    total = {column: sum(line[column] for line in lines) for column in COLUMNS[1:]}
    with publish(args.numbers) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS)
        table.writeheader()
        table.writerows([*lines, {"dataset": "all", **total}])


def _line(dataset: str, counts: dict) -> dict:
    rows = counts["train"] + counts["dev"] + counts["test"]
    wrong = counts["hard"] + counts["soft"]
    return {
        "dataset": dataset,
        **{split: counts[split] for split in ("train", "dev", "test")},
        "rows": rows,
        "right": rows - wrong,
        "wrong_hard": counts["hard"],
        "wrong_soft": counts["soft"],
        "beyond_cap": counts["beyond_cap"],
        "without_twin": sum(counts["dropped"].values()),
    }


if __name__ == "__main__":
    run(main)

"""Mix the training rows of one adapter: the train (or dev) sets of all datasets, or of all but one."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import provenance
from excam.core.exceptions import ConfigInvalid
from excam.error_reports import record_files
from excam.error_reports.records import to_row
from excam.excam40k.construction import duplicates, splits
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="*", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--trained-on", required=True)
    parser.add_argument("--near-duplicates", type=Path, required=True, help="near-duplicates.csv of the whole set")
    parser.add_argument("--rows", type=int, help="at most this many, drawn evenly over datasets")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--mixture", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    by_dataset = {path.parent.name: record_files.read_samples(path) for path in args.samples}
    if args.trained_on.startswith("without-"):
        by_dataset.setdefault(args.trained_on.removeprefix("without-"), [])  # what is left out need not be there
    leaking = set(duplicates.read(args.near_duplicates).filter(pl.col("leak"))["base_a"])
    mixed = splits.mixture(by_dataset, args.trained_on, args.rows, seed=args.seed, leaking=leaking)
    if not mixed:
        raise ConfigInvalid(f"{args.trained_on}: no rows in {len(by_dataset)} datasets; check `datasets`, `mixtures`")
    with provenance.publish(args.mixture) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample in mixed:
            stream.write(json.dumps(to_row(sample), ensure_ascii=False) + "\n")
    pool = [sample for samples in by_dataset.values() for sample in samples]
    left_out = sum(sample.base in leaking for sample in pool)
    counts = {
        "rows": len(mixed),
        "by_dataset": dict(sorted(Counter(sample.dataset for sample in mixed).items())),
        "near_duplicates_of_judged_rows": left_out,
        "not_drawn": len(pool) - len(mixed) - left_out,
    }
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.mixture}: {counts}")


if __name__ == "__main__":
    run(main)

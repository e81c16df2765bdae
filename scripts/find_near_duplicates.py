"""Find near-duplicate questions within and across the benchmarks of the data set, and those that leak."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from excam.core import provenance, tables
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k.construction import duplicates
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--near-duplicates", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = (tables.read_frame(path).select("base", "split").iter_rows() for path in args.samples)
    splits: dict[str, Split] = dict(chain.from_iterable(rows))
    bases = (base for path in args.bases for base in record_files.read_bases(path))
    pairs = duplicates.near_duplicate_rows(bases, splits)
    tables.write_csv(args.near_duplicates, pairs)
    provenance.say(f"{args.near_duplicates}: {pairs.height} pairs, {pairs['leak'].sum()} of them would leak")


if __name__ == "__main__":
    run(main)

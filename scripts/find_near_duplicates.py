"""Near-duplicate questions within and across the benchmarks of the data set, and which of them leak (spec 13)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from excam import provenance, tables
from excam.construction import duplicates
from excam.records import Split
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--near-duplicates", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = (tables.read_frame(path).select("base", "split").iter_rows() for path in args.samples)
    splits: dict[str, Split] = dict(chain.from_iterable(rows))
    bases = (base for path in args.bases for base in tables.read_bases(path))
    pairs = duplicates.listed(bases, splits)
    tables.write_csv(args.near_duplicates, pairs)
    provenance.say(f"{args.near_duplicates}: {pairs.height} pairs, {pairs['leak'].sum()} of them would leak")


if __name__ == "__main__":
    run(main)

"""Draw the balanced subset of one dataset's test set, for judges that are paid per row."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.error_reports import record_files
from excam.excam40k.construction import splits
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="<dataset>/test.parquet")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--subset", type=Path, required=True)
    args = parser.parse_args(argv)

    drawn = splits.balanced_subset(record_files.read_samples(args.samples), args.rows, args.seed)
    record_files.write_samples(args.subset, drawn)
    provenance.say(f"{args.subset}: {len(drawn)} rows; at most {args.rows} were asked for")


if __name__ == "__main__":
    run(main)

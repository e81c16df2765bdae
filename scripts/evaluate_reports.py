"""Measure the quality of reports, from judgements and gold rows of one dataset or of all together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import report_quality
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="the rows that were judged")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    judgements = pl.concat([tables.read_frame(path) for path in args.judgements])
    samples = pl.concat([tables.read_frame(path).select(report_quality.NEEDED) for path in args.samples])
    numbers = report_quality.evaluate(judgements, samples, args.seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*args.judgements, *args.samples)}
    provenance.write_json(args.numbers, numbers)


if __name__ == "__main__":
    run(main)

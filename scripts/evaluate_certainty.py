"""Measure how reliable a judge's confidence is, from judgements of all test sets, and of the dev sets for fitting."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import certainty
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test", type=Path, nargs="+", required=True, help="judgements of the test sets")
    parser.add_argument("--dev", type=Path, nargs="*", default=[], help="of the dev sets; none: nothing is fitted")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    test, dev = (
        pl.concat([tables.read_frame(path) for path in paths]) if paths else None for paths in (args.test, args.dev)
    )
    assert test is not None
    numbers = certainty.evaluate(test, dev, args.seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*args.test, *args.dev)}
    provenance.write_json(args.numbers, numbers)


if __name__ == "__main__":
    run(main)

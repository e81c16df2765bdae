"""Make rows in which the words that a judge flagged are corrected, from its judgements and the gold rows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import polars as pl

from excam.core import provenance, tables
from excam.excam40k import counterfactuals
from excam.excam40k.construction.spans import Mode
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="the rows that were judged")
    parser.add_argument("--spans", choices=get_args(Mode), required=True, help="how differences became gold spans")
    parser.add_argument("--counterfactuals", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True, help="what became of every judged row")
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    judgements = pl.concat([tables.read_frame(path) for path in args.judgements])
    samples = pl.concat([tables.read_frame(path) for path in args.samples])
    rows, made = counterfactuals.make_counterfactuals(judgements, samples, args.spans)
    judged = counterfactuals.rows_frame(rows)
    tables.write_frame(args.rows, judged)
    tables.write_frame(args.counterfactuals, counterfactuals.counterfactuals_frame(made))
    inputs = {str(path): provenance.sha256(path) for path in (*args.judgements, *args.samples)}
    provenance.write_json(args.counts, counterfactuals.counts(judged.iter_rows(named=True)) | {"inputs": inputs})


if __name__ == "__main__":
    run(main)

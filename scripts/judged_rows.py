"""Write every judged test row of one system on one page, with search, filters and marked errors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import judged_rows
from excam.pages.row_browser import FITS
from scripts import run

VERSION = 6


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", required=True, help="<model>/<trained_on>/<judge>")
    parser.add_argument("--judgements", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="the rows that were judged")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    judgements = pl.concat([tables.read_frame(path) for path in args.judgements])
    samples = pl.concat([tables.read_frame(path).select(judged_rows.GOLD) for path in args.samples])
    inputs = {str(path): provenance.sha256(path) for path in (*args.judgements, *args.samples)}
    text = judged_rows.page(args.system, judged_rows.join(judgements, samples), inputs)
    provenance.write_text(args.page, text)
    if (size := args.page.stat().st_size) > FITS:
        provenance.say(
            f"{args.page}: {size} bytes; in a report of one file Chromium shows nothing above {FITS}; "
            "open it by itself, or make `snakemake --report report.zip`"
        )


if __name__ == "__main__":
    run(main)

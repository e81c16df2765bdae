"""Languages, regions and cultures with their rows, beside the lists of Appendix E (spec 14)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam import tables
from excam.audits import inventory, page
from excam.audits.checks import PARTS
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--regions", type=Path, required=True, help="paper/appendix-e-regions.csv")
    parser.add_argument("--languages", type=Path, required=True, help="paper/appendix-e-languages.csv")
    parser.add_argument("--cultures", type=Path, required=True, help="rows per dataset and culture")
    parser.add_argument("--checks", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = page.read_parts(args.samples)
    audit = inventory.audit(rows, pl.read_csv(args.regions), pl.read_csv(args.languages))
    tables.write_csv(args.cultures, inventory.cultures(rows.filter(pl.col("part").is_in(PARTS))))
    page.write(audit, args.checks, args.page)


if __name__ == "__main__":
    run(main)

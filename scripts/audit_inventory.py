"""Count the rows of languages, regions and cultures, beside the lists of Appendix E."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import tables
from excam.excam40k.audits import inventory, page
from excam.excam40k.audits.checks import PARTS
from scripts import run

VERSION = 2
NAMES = {"name": pl.String, "printed": pl.String}
PAGE = {
    "result": "results/audits/inventory",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {
        "samples": "all_splits",
        "regions": "paper/appendix-e-regions.csv",
        "languages": "paper/appendix-e-languages.csv",
    },
    "more": {"cultures": "results/audits/inventory-cultures.csv"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--regions", type=Path, required=True, help="paper/appendix-e-regions.csv")
    parser.add_argument("--languages", type=Path, required=True, help="paper/appendix-e-languages.csv")
    parser.add_argument("--cultures", type=Path, required=True, help="rows per dataset and culture")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = page.read_parts(args.samples)
    regions, languages = (tables.read_csv(path, NAMES) for path in (args.regions, args.languages))
    audit = inventory.audit(rows, regions, languages)
    tables.write_csv(args.cultures, inventory.cultures(rows.filter(pl.col("part").is_in(PARTS))))
    page.write(audit, args.numbers, args.page)


if __name__ == "__main__":
    run(main)

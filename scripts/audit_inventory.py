"""Count the rows of languages, regions and cultures, beside the lists of Appendix E."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import tables
from excam.excam40k.audits import inventory, page
from excam.excam40k.audits.checks import PARTS
from scripts import run, step

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


@step
def main(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    regions_path: Annotated[Path, "paper/appendix-e-regions.csv"],
    languages_path: Annotated[Path, "paper/appendix-e-languages.csv"],
    cultures_path: Annotated[Path, "rows per dataset and culture"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    rows = page.read_parts(samples_paths)
    regions, languages = (tables.read_csv(path, NAMES) for path in (regions_path, languages_path))
    audit = inventory.audit(rows, regions, languages)
    tables.write_csv(cultures_path, inventory.cultures(rows.filter(pl.col("part").is_in(PARTS))))
    page.write(audit, numbers_path, page_path)


if __name__ == "__main__":
    run(main)

"""Write every judged test row of one system on one page, with search, filters and marked errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import judged_rows
from excam.pages.row_browser import FITS
from scripts import run, step

VERSION = 6


@step
def main(
    system: Annotated[str, "<model>/<trained_on>/<judge>"],
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    page_path: Path,
) -> None:
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path).select(judged_rows.GOLD) for path in samples_paths])
    inputs = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    text = judged_rows.page(system, judged_rows.join(judgements, samples), inputs)
    provenance.write_text(page_path, text)
    if (size := page_path.stat().st_size) > FITS:
        provenance.say(
            f"{page_path}: {size} bytes; in a report of one file Chromium shows nothing above {FITS}; "
            "open it by itself, or make `snakemake --report report.zip`"
        )


if __name__ == "__main__":
    run(main)

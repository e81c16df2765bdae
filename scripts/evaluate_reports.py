"""Measure the quality of reports, from judgements and gold rows of one dataset or of all together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import report_quality
from scripts import run, step

VERSION = 1


@step
def main(
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    seed: int,
    numbers_path: Path,
) -> None:
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path).select(report_quality.NEEDED) for path in samples_paths])
    numbers = report_quality.evaluate(judgements, samples, seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    provenance.write_json(numbers_path, numbers)


if __name__ == "__main__":
    run(main)

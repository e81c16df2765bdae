"""Compute the numbers of one cell from the judgements of one dataset, or of all together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import verdicts
from scripts import run, step

VERSION = 3


@step
def main(judgements_paths: Sequence[Path], seed: int, numbers_path: Path) -> None:
    frame = pl.concat([tables.read_frame(path) for path in judgements_paths])
    numbers = verdicts.evaluate(frame, seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in judgements_paths}
    provenance.write_json(numbers_path, numbers)


if __name__ == "__main__":
    run(main)

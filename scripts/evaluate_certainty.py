"""Measure how reliable a judge's confidence is, from judgements of all test sets, and of the dev sets for fitting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance, tables
from excam.error_reports.evaluation import certainty
from scripts import run, step

VERSION = 2


@step
def main(
    test_paths: Annotated[Sequence[Path], "judgements of the test sets"],
    seed: int,
    numbers_path: Path,
    dev_paths: Annotated[Sequence[Path], "of the dev sets; none: nothing is fitted"] = (),
) -> None:
    test, dev = (
        pl.concat([tables.read_frame(path) for path in paths]) if paths else None for paths in (test_paths, dev_paths)
    )
    assert test is not None
    numbers = certainty.evaluate(test, dev, seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*test_paths, *dev_paths)}
    provenance.write_json(numbers_path, numbers)


if __name__ == "__main__":
    run(main)

"""Check base samples, groups, pairs, texts and near-duplicates across splits, datasets and mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import tables
from excam.error_reports import record_files
from excam.excam40k.audits import leaks, page
from excam.excam40k.construction import duplicates
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/audits/leaks",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {
        "samples": "all_splits",
        "bases": "bases",
        "near_duplicates": "results/excam40k/near-duplicates.csv",
        "mixtures": "train_mixtures",
    },
}
COLUMNS = ("id", "base", "dataset", "instruction", "output")


@step
def main(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    near_duplicates_path: Path,
    numbers_path: Path,
    page_path: Path,
    mixtures_paths: Annotated[Sequence[Path], "<trained_on>/train.jsonl"] = (),
) -> None:
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    questions = [(base.id, duplicates.compared_text(base)) for base in bases]
    audit = leaks.audit(
        page.read_parts(samples_paths),
        pl.DataFrame(questions, schema={"base": pl.String, "question": pl.String}, orient="row"),
        duplicates.read(near_duplicates_path),
        {path.parent.name: _rows(path) for path in mixtures_paths},
    )
    page.write(audit, numbers_path, page_path)


def _rows(path: Path) -> pl.DataFrame:
    rows = [tuple(row[column] for column in COLUMNS) for row in tables.read_jsonl(path)]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


if __name__ == "__main__":
    run(main)

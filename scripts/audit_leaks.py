"""Check base samples, groups, pairs, texts and near-duplicates across splits, datasets and mixtures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import tables
from excam.error_reports import record_files
from excam.excam40k.audits import leaks, page
from excam.excam40k.construction import duplicates
from scripts import run

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


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--near-duplicates", type=Path, required=True)
    parser.add_argument("--mixtures", type=Path, nargs="*", default=[], help="<trained_on>/train.jsonl")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    bases = (base for path in args.bases for base in record_files.read_bases(path))
    questions = [(base.id, duplicates.compared_text(base)) for base in bases]
    audit = leaks.audit(
        page.read_parts(args.samples),
        pl.DataFrame(questions, schema={"base": pl.String, "question": pl.String}, orient="row"),
        duplicates.read(args.near_duplicates),
        {path.parent.name: _rows(path) for path in args.mixtures},
    )
    page.write(audit, args.numbers, args.page)


def _rows(path: Path) -> pl.DataFrame:
    rows = [tuple(row[column] for column in COLUMNS) for row in tables.read_jsonl(path)]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


if __name__ == "__main__":
    run(main)

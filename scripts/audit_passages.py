"""Check that the passages before rows hold the fact where they are said to, and nowhere else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.error_reports import record_files
from excam.excam40k import shown_evidence
from excam.excam40k.audits import page, passages
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/audits/passages",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "target": "paper",
    "inputs": {"evidence": "evidence", "bases": "bases"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=Path, nargs="+", required=True, help="evidence/<dataset>/<split>.parquet")
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    bases = {base.id: base for path in args.bases for base in record_files.read_bases(path)}
    shown = {f"{path.parent.name}/{path.stem}": [*shown_evidence.read(path).values()] for path in args.evidence}
    page.write(passages.audit(shown, bases), args.numbers, args.page)


if __name__ == "__main__":
    run(main)

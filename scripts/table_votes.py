"""One table of what annotators answered, beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.annotation import campaign
from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.error_reports.evaluation import claims
from excam.excam40k.validation import human_answers
from excam.excam40k.validation.human_tables import TABLES, Given
from scripts import run

VERSION = 2
PAGE = {
    "result": "results/paper/{table}",
    "outputs": ["numbers", "page"],
    "target": "annotation",
    "category": "Human validation",
    "optional": ["printed"],
    "inputs": {
        "campaign": "results/annotation/campaign.json",
        "answers": "results/annotation/answers.parquet",
        "counts": "results/annotation/answers.counts.json",
        "printed": "printed_votes",
        "printed_claims": "paper/claims.csv",
    },
    "settings": {"seed": "seed"},
    "wildcards": {"table": ["table-3", "table-12", "table-13", "human-ratings", "human-agreement"]},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES, required=True)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True, help="answers.parquet")
    parser.add_argument("--counts", type=Path, required=True, help="answers.counts.json")
    parser.add_argument("--printed", type=Path, nargs="?", help="paper/<table>.csv, if the paper has this table")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    table, found, paper = TABLES[args.table], campaign.read(args.campaign), claims.read(args.printed_claims)
    items = human_answers.items(found, tables.read_frame(args.answers))
    printed = tables.read_lines(args.printed) if args.printed else []
    tables.write_lines(args.numbers, table.columns, table.lines(Given(found, items, printed, paper, args.seed)))
    write_text(args.page, table.page(tables.read_lines(args.numbers), read_json(args.counts, "annotators"), paper))


if __name__ == "__main__":
    run(main)

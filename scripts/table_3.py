"""Table 3: votes of three annotators on culture, errors and explanations, beside the printed shares (spec 73)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.annotation import campaign
from excam.evaluation import claims, human_answers, human_pages, human_votes
from excam.provenance import read_json, write_text
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True, help="answers.parquet")
    parser.add_argument("--counts", type=Path, required=True, help="answers.counts.json")
    parser.add_argument("--printed", type=Path, required=True, help="paper/table-3.csv")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    items = human_answers.items(campaign.read(args.campaign), tables.read_frame(args.answers))
    lines = human_votes.table_3(items, tables.read_lines(args.printed))
    tables.write_lines(args.numbers, human_votes.COLUMNS_3, lines)
    counted, paper = read_json(args.counts, "annotators"), claims.read(args.printed_claims)
    write_text(args.page, human_pages.page_3(tables.read_lines(args.numbers), counted, paper))


if __name__ == "__main__":
    run(main)

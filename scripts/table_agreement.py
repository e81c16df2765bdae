"""How far annotators agree beyond chance: Krippendorff's alpha and Fleiss' kappa, with intervals (spec 76)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.annotation import campaign
from excam.evaluation import human_agreement, human_answers, human_pages
from excam.provenance import read_json, write_text
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True, help="answers.parquet")
    parser.add_argument("--counts", type=Path, required=True, help="answers.counts.json")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    found = campaign.read(args.campaign)
    items = human_answers.items(found, tables.read_frame(args.answers))
    tables.write_lines(args.numbers, human_agreement.COLUMNS, human_agreement.lines(found, items, args.seed))
    counted = read_json(args.counts, "annotators")
    write_text(args.page, human_pages.page_agreement(tables.read_lines(args.numbers), counted))


if __name__ == "__main__":
    run(main)

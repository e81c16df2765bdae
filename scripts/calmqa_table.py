"""Write S of every subject by type of question and language, with its parts, beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import numbers, pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run

VERSION = 4
PAGE = {
    "result": "results/calmqa/table",
    "outputs": ["numbers", "page"],
    "target": "calmqa",
    "category": "CaLMQA",
    "inputs": {
        "scores": "calmqa_scores",
        "languages": "calmqa_languages",
        "printed": "paper/calmqa/table.csv",
    },
    "settings": {"seed": "seed", "how": "calmqa_how"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--languages", type=Path, required=True)
    parser.add_argument("--printed", type=Path, required=True, help="the paper's table")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--how", required=True, help="how answers were judged, for the page")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    lines = numbers.table(tables.read_frame(args.scores).to_dicts(), args.seed)
    tables.write_lines(args.numbers, numbers.TABLE, lines)
    languages, printed = tables.read_lines(args.languages), tables.read_lines(args.printed)
    write_text(args.page, pages.table_page(lines, languages, args.how, printed))


if __name__ == "__main__":
    run(main)

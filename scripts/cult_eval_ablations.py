"""Write how ACRE goes with the labels without its gate, routing, explication or reference (Table 7)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run
from scripts._cult_eval import add_page_options, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/ablations",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
        "printed": "paper/cult-eval/table-7.csv",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page")
    parser.add_argument("--printed", type=Path, required=True, help="what the paper prints")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    lines, page = pages.ablations(read(args), args.seed)
    tables.write_lines(args.numbers, pages.ABLATIONS, lines)
    note = "The coefficient has no name there, and .88 is neither of those in its Table 2."
    write_text(args.page, page + pages.printed(note, tables.read_lines(args.printed)))


if __name__ == "__main__":
    run(main)

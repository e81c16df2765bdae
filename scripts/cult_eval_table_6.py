"""Write validity, fidelity, clarity and ACRE of each system by each judge (Table 6)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run
from scripts._cult_eval import add_page_options, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/table-6",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
    },
    "optional": ["scores", "labels"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    lines, page = pages.table_6(read(args), args.seed)
    tables.write_lines(args.numbers, pages.TABLE_6, lines)
    write_text(args.page, page)


if __name__ == "__main__":
    run(main)

"""Draw the share of right translations and of each primary error, by system (Figure 3)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.acre import pages
from excam.core import tables
from excam.pages import plotting
from scripts import run
from scripts._cult_eval import add_page_options, read

VERSION = 1
PAGE = {
    "result": "results/cult_eval/figure-3",
    "outputs": ["numbers", "pictures"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "pictures")
    args = parser.parse_args(argv)

    lines = pages.composition(read(args))
    tables.write_lines(args.numbers, pages.FIGURE_3, lines)
    plotting.save(pages.figure_3(lines), args.pictures)


if __name__ == "__main__":
    run(main)

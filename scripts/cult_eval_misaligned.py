"""Write the translations on which a metric and the labels disagree, on one page to search (Table 4)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.acre import misaligned
from excam.core.provenance import write_text
from scripts import run
from scripts._cult_eval import add_page_options, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/misaligned",
    "outputs": [],
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
    "more": {"html": "results/cult_eval/misaligned.html"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "html")
    args = parser.parse_args(argv)

    write_text(args.html, misaligned.page(read(args)))


if __name__ == "__main__":
    run(main)

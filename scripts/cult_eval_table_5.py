"""Write how far each metric drops for each kind of error (Table 5), and draw it (Figure 5)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from excam.pages import plotting
from scripts import run
from scripts._cult_eval import add_page_options, read

VERSION = 1
PAGE = {
    "result": "results/cult_eval/table-5",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
        "printed": "paper/cult-eval/table-5.csv",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
    "more": {
        "pdf": "results/cult_eval/figure-5.pdf",
        "svg": "results/cult_eval/figure-5.svg",
        "png": "results/cult_eval/figure-5.png",
    },
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page", "pdf", "svg", "png")
    parser.add_argument("--printed", type=Path, required=True, help="what the paper prints")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    lines, page = pages.table_5(read(args), args.seed)
    tables.write_lines(args.numbers, pages.TABLE_5, lines)
    note = "✓ penalised, ✗ not; two of its cells are blank, and three of the seven errors are absent."
    write_text(args.page, page + pages.printed(note, tables.read_lines(args.printed)))
    plotting.save(pages.figure_5(lines), [args.pdf, args.svg, args.png])


if __name__ == "__main__":
    run(main)

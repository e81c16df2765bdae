"""Write the counts and mean lengths of the items by category (Table 1)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.acre import items, pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/cult_eval/table-1",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {"expressions": "cult_eval_items", "printed": "paper/cult-eval/table-1.csv"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expressions", type=Path, required=True)
    parser.add_argument("--printed", type=Path, required=True, help="what the paper prints")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    lines, page = pages.table_1(list(items.read(args.expressions).values()))
    tables.write_lines(args.numbers, pages.TABLE_1, lines)
    note = "Of its own 7,959 items, which are not these."
    write_text(args.page, page + pages.printed(note, tables.read_lines(args.printed)))


if __name__ == "__main__":
    run(main)

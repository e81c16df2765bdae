"""Write the accuracy of every model and mode (Table 3), beside floors, and the averages that the paper prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from scripts import run
from scripts._macaron import add_page_options, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/table-3",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {
        "answers": "macaron_answers",
        "instances": "results/macaron/instances.parquet",
        "printed": "paper/macaron/table-3-averages.csv",
    },
    "settings": {"seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page")
    parser.add_argument("--printed", type=Path, required=True, help="averages of the paper, by category of model")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    found = systems(args)
    lines, page = pages.table_3(found, pages.estimates(found, args.seed))
    tables.write_lines(args.numbers, pages.TABLE_3, lines)
    write_text(args.page, page + pages.printed_averages(tables.read_lines(args.printed)))


if __name__ == "__main__":
    run(main)

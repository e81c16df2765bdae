"""Write the accuracy of single statements and of pairs (Table 5), with the bounds of pairs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from scripts import run
from scripts._macaron import add_page_options, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/paired",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
    "settings": {"seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    found = systems(args)
    lines, page = pages.paired(found, pages.estimates(found, args.seed))
    tables.write_lines(args.numbers, pages.PAIRED, lines)
    write_text(args.page, page)


if __name__ == "__main__":
    run(main)

"""Write the easiest and the hardest templates (Table 4), and the accuracy of each."""

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
    "result": "results/macaron/templates",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {
        "answers": "macaron_answers",
        "instances": "results/macaron/instances.parquet",
    },
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page")
    args = parser.parse_args(argv)

    lines, page = pages.templates(systems(args))
    tables.write_lines(args.numbers, pages.TEMPLATES, lines)
    write_text(args.page, page)


if __name__ == "__main__":
    run(main)

"""Write the accuracy in the local language by script: the mean over its languages (Appendix B)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.core import tables
from excam.macaron import pages
from scripts import run
from scripts._macaron import add_page_options, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/scripts",
    "outputs": ["numbers"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers")
    args = parser.parse_args(argv)

    tables.write_lines(args.numbers, pages.SCRIPTS, pages.scripts(systems(args)))


if __name__ == "__main__":
    run(main)

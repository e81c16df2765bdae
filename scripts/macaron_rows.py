"""Write every instance with the answers of one model on one page, with search and filters."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.core.provenance import write_text
from excam.macaron import rows_page
from scripts import run
from scripts._macaron import add_page_options, systems

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "page")
    args = parser.parse_args(argv)

    write_text(args.page, rows_page.page(systems(args)))


if __name__ == "__main__":
    run(main)

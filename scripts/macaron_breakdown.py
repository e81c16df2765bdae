"""Draw accuracy by reasoning type, cultural aspect or context (Figures 3 to 5), from the numbers it writes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from excam.pages import plotting
from scripts import run
from scripts._macaron import add_page_options, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/{by}",
    "outputs": ["numbers", "page", "pictures"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
    "settings": {"seed": "seed"},
    "wildcards": {"by": ["reasoning", "aspects", "contexts"]},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_page_options(parser, "numbers", "page", "pictures")
    parser.add_argument("--by", choices=list(pages.TITLES), required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args(argv)

    tables.write_lines(args.numbers, pages.BREAKDOWN, pages.breakdown(systems(args), args.by, args.seed))
    lines = pages.read_breakdown(args.numbers)
    write_text(args.page, pages.breakdown_page(lines, args.by))
    plotting.save(pages.figure(lines, args.by), args.pictures)


if __name__ == "__main__":
    run(main)

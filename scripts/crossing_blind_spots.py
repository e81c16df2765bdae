"""Write which kinds of errors each metric misses, and draw it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from excam.core import tables
from excam.core.provenance import write_text
from excam.crossing import numbers, pages
from excam.pages import plotting
from scripts import run
from scripts._crossing import Study, add_options

VERSION = 2
PAGE = {
    "result": "results/crossing/blind-spots",
    "outputs": ["numbers", "page", "pictures"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts", "seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    args = parser.parse_args(argv)

    study = Study(args)
    lines = list(numbers.blind_spots(study.rows, study.columns, args.seed))
    tables.write_lines(args.numbers, numbers.BLIND_SPOTS, lines)
    write_text(args.page, pages.blind_spots(lines, study.notes))
    plotting.save(pages.figure_blind_spots(lines), args.pictures)


if __name__ == "__main__":
    run(main)

"""Write every pair of an erroneous and a correct text that a cell of the blind spots or the language gap counts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.crossing import numbers
from scripts import run
from scripts._crossing import Study, add_options

VERSION = 1
PAGE = {
    "result": "results/crossing/pairs",
    "outputs": ["numbers"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    study = Study(args)
    tables.write_lines(args.numbers, numbers.PAIRS, [pair.line() for pair in numbers.pairs(study.rows, study.columns)])


if __name__ == "__main__":
    run(main)

"""Write every pair of an erroneous and a correct text that a cell of the blind spots or the language gap counts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.crossing import columns, numbers, rows
from excam.scoring import scored_file
from scripts import run

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
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True, help="one file for each metric, of its name")
    parser.add_argument("--parts", type=json.loads, required=True, help="the parts of each metric that are shown too")
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    scores = {path.stem: list(scored_file.read(path)) for path in args.scores}
    known = rows.read(args.rows)
    found = numbers.pairs(known, columns.of_scores(scores, args.parts, known))
    tables.write_lines(args.numbers, numbers.PAIRS, [pair.line() for pair in found])


if __name__ == "__main__":
    run(main)

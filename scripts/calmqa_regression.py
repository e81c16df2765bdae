"""Write how much of people's ratings each predictor explains, by every usual R², beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import pages, ratings
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run

VERSION = 3
PAGE = {
    "result": "results/calmqa/regression",
    "outputs": ["numbers", "page"],
    "target": "calmqa",
    "category": "CaLMQA",
    "inputs": {"ratings": "calmqa_ratings"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    found = ratings.read(args.ratings)
    lines = ratings.r2_lines(found)
    tables.write_lines(args.numbers, ratings.R2, lines)
    write_text(args.page, pages.regression_page(found, lines))


if __name__ == "__main__":
    run(main)

"""Write how much of people's ratings each predictor explains, by every usual R², beside the paper's."""

from __future__ import annotations

from pathlib import Path

from excam.calmqa import pages, ratings
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/calmqa/regression",
    "outputs": ["numbers", "page"],
    "target": "calmqa",
    "category": "CaLMQA",
    "inputs": {"ratings": "calmqa_ratings"},
}


@step
def main(ratings_path: Path, numbers_path: Path, page_path: Path) -> None:
    human_ratings = ratings.read(ratings_path)
    lines = ratings.r2_lines(human_ratings)
    tables.write_lines(numbers_path, ratings.R2, lines)
    write_text(page_path, pages.regression_page(human_ratings, lines))


if __name__ == "__main__":
    run(main)

"""Write S of every subject by type of question and language, with its parts, beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.calmqa import numbers, pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step

VERSION = 4
PAGE = {
    "result": "results/calmqa/table",
    "outputs": ["numbers", "page"],
    "target": "calmqa",
    "category": "CaLMQA",
    "inputs": {
        "scores": "calmqa_scores",
        "languages": "calmqa_languages",
        "printed": "paper/calmqa/table.csv",
    },
    "settings": {"seed": "seed", "how": "calmqa_how"},
}


@step
def main(
    scores_path: Path,
    languages_path: Path,
    printed_path: Annotated[Path, "the paper's table"],
    seed: int,
    how: Annotated[str, "how answers were judged, for the page"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    lines = numbers.table(tables.read_frame(scores_path).to_dicts(), seed)
    tables.write_lines(numbers_path, numbers.TABLE, lines)
    languages, printed = tables.read_lines(languages_path), tables.read_lines(printed_path)
    write_text(page_path, pages.table_page(lines, languages, how, printed))


if __name__ == "__main__":
    run(main)

"""Write the easiest and the hardest templates (Table 4), and the accuracy of each."""

from __future__ import annotations

from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

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


@step
def main(files: AnswerFiles, numbers_path: Path, page_path: Path) -> None:
    lines, page = pages.templates(systems(files))
    tables.write_lines(numbers_path, pages.TEMPLATES, lines)
    write_text(page_path, page)


if __name__ == "__main__":
    run(main)

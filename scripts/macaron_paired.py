"""Write the accuracy of single statements and of pairs (Table 5), with the bounds of pairs."""

from __future__ import annotations

from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/paired",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
    "settings": {"seed": "seed"},
}


@step
def main(files: AnswerFiles, numbers_path: Path, page_path: Path, seed: int) -> None:
    answered_systems = systems(files)
    lines, page = pages.paired(answered_systems, pages.estimates(answered_systems, seed))
    tables.write_lines(numbers_path, pages.PAIRED, lines)
    write_text(page_path, page)


if __name__ == "__main__":
    run(main)

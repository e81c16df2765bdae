"""Write the accuracy of every model and mode (Table 3), beside floors, and the averages that the paper prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/table-3",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {
        "answers": "macaron_answers",
        "instances": "results/macaron/instances.parquet",
        "printed": "paper/macaron/table-3-averages.csv",
    },
    "settings": {"seed": "seed"},
}


@step
def main(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "averages of the paper, by category of model"],
    seed: int,
) -> None:
    answered_systems = systems(files)
    lines, page = pages.table_3(answered_systems, pages.estimates(answered_systems, seed))
    tables.write_lines(numbers_path, pages.TABLE_3, lines)
    write_text(page_path, page + pages.printed_averages(tables.read_lines(printed_path)))


if __name__ == "__main__":
    run(main)

"""Write the accuracy in the local language by script: the mean over its languages (Appendix B)."""

from __future__ import annotations

from pathlib import Path

from excam.core import tables
from excam.macaron import pages
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/scripts",
    "outputs": ["numbers"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
}


@step
def main(files: AnswerFiles, numbers_path: Path) -> None:
    tables.write_lines(numbers_path, pages.SCRIPTS, pages.scripts(systems(files)))


if __name__ == "__main__":
    run(main)

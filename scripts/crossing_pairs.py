"""Write every pair of an erroneous and a correct text that a cell of the blind spots or the language gap counts."""

from __future__ import annotations

from pathlib import Path

from excam.core import tables
from excam.crossing import numbers
from scripts import run, step
from scripts._crossing import Study, StudyFiles

VERSION = 1
PAGE = {
    "result": "results/crossing/pairs",
    "outputs": ["numbers"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts"},
}


@step
def main(files: StudyFiles, numbers_path: Path) -> None:
    study = Study(files)
    tables.write_lines(numbers_path, numbers.PAIRS, [pair.line() for pair in numbers.pairs(study.rows, study.columns)])


if __name__ == "__main__":
    run(main)

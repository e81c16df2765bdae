"""Draw the share of right translations and of each primary error, by system (Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from excam.acre import pages
from excam.core import tables
from excam.pages import plotting
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 1
PAGE = {
    "result": "results/cult_eval/figure-3",
    "outputs": ["numbers", "pictures"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored"},
}


@step
def main(files: StudyFiles, numbers_path: Path, pictures_paths: Sequence[Path]) -> None:
    lines = pages.composition(read(files))
    tables.write_lines(numbers_path, pages.FIGURE_3, lines)
    plotting.save(pages.figure_3(lines), pictures_paths)


if __name__ == "__main__":
    run(main)

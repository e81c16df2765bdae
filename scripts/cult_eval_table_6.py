"""Write validity, fidelity, clarity and ACRE of each system by each judge (Table 6)."""

from __future__ import annotations

from pathlib import Path

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/table-6",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
    },
    "optional": ["scores", "labels"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
}


@step
def main(files: StudyFiles, numbers_path: Path, page_path: Path, seed: int) -> None:
    lines, page = pages.table_6(read(files), seed)
    tables.write_lines(numbers_path, pages.TABLE_6, lines)
    write_text(page_path, page)


if __name__ == "__main__":
    run(main)

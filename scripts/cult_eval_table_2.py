"""Write how each metric goes with the labels of people (Table 2), with tests between metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 1
PAGE = {
    "result": "results/cult_eval/table-2",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
        "printed": "paper/cult-eval/table-2.csv",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
}


@step
def main(
    files: StudyFiles,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "what the paper prints"],
    seed: int,
) -> None:
    lines, page = pages.table_2(read(files), seed)
    tables.write_lines(numbers_path, pages.TABLE_2, lines)
    note = "Of its systems on its own items, times 100: no reference for these rows."
    write_text(page_path, page + pages.printed(note, tables.read_lines(printed_path)))


if __name__ == "__main__":
    run(main)

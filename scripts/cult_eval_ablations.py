"""Write how ACRE goes with the labels without its gate, routing, explication or reference (Table 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/ablations",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
        "printed": "paper/cult-eval/table-7.csv",
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
    lines, page = pages.ablations(read(files), seed)
    tables.write_lines(numbers_path, pages.ABLATIONS, lines)
    note = "The coefficient has no name there, and .88 is neither of those in its Table 2."
    write_text(page_path, page + pages.printed(note, tables.read_lines(printed_path)))


if __name__ == "__main__":
    run(main)

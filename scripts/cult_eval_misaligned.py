"""Write the translations on which a metric and the labels disagree, on one page to search (Table 4)."""

from __future__ import annotations

from pathlib import Path

from excam.acre import misaligned
from excam.core.provenance import write_text
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 3
PAGE = {
    "result": "results/cult_eval/misaligned",
    "outputs": [],
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
    "more": {"html": "results/cult_eval/misaligned.html"},
}


@step
def main(files: StudyFiles, html_path: Path) -> None:
    write_text(html_path, misaligned.page(read(files)))


if __name__ == "__main__":
    run(main)

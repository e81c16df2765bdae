"""Write every labelled text with what people and all metrics said of it, on one page to search."""

from __future__ import annotations

from pathlib import Path

from excam.core.provenance import write_text
from excam.crossing import rows_page
from scripts import run, step
from scripts._crossing import Study, StudyFiles

VERSION = 4
PAGE = {
    "result": "results/crossing/texts",
    "outputs": [],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts"},
    "more": {"html": "results/crossing/texts.html"},
}


@step
def main(files: StudyFiles, html_path: Path) -> None:
    study = Study(files)
    scored = {name: {result.id: result for result in results} for name, results in study.scores.items()}
    write_text(html_path, rows_page.page(study.rows, scored, study.parts))


if __name__ == "__main__":
    run(main)

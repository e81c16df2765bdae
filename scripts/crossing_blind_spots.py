"""Write which kinds of errors each metric misses, and draw it."""

from __future__ import annotations

from excam.crossing import numbers, pages
from scripts import run, step
from scripts._crossing import PageFiles, Study, StudyFiles, write_page

VERSION = 6
PAGE = {
    "result": "results/crossing/blind-spots",
    "outputs": ["numbers", "page", "pictures"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts", "seed": "seed"},
}


@step
def main(sources: StudyFiles, files: PageFiles) -> None:
    write_page(
        Study(sources),
        files,
        numbers.BLIND_SPOTS,
        lambda study, seed: numbers.blind_spots(study.rows, study.columns, seed),
        lambda study, lines: pages.blind_spots(lines, study.notes),
        pages.figure_blind_spots,
    )


if __name__ == "__main__":
    run(main)

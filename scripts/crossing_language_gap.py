"""Write how far each metric's judgement depends on the language of the same error, and draw it."""

from __future__ import annotations

from excam.crossing import numbers, pages
from scripts import run, step
from scripts._crossing import PageFiles, Study, StudyFiles, write_page

VERSION = 3
PAGE = {
    "result": "results/crossing/language-gap",
    "outputs": ["numbers", "page", "pictures"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows_in_two_languages", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts", "seed": "seed"},
}


@step
def main(sources: StudyFiles, files: PageFiles) -> None:
    write_page(
        Study(sources),
        files,
        numbers.GAP,
        lambda study, seed: numbers.language_gap(study.rows, study.columns, seed),
        lambda study, lines: pages.language_gap(lines, [*pages.cautions(lines), *study.notes]),
        pages.figure_language_gap,
    )


if __name__ == "__main__":
    run(main)

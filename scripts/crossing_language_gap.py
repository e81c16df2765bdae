"""Write how far each metric's judgement depends on the language of the same error, and draw it."""

from __future__ import annotations

from collections.abc import Sequence

from excam.crossing import numbers, pages
from scripts import run
from scripts._crossing import write_page

VERSION = 3
PAGE = {
    "result": "results/crossing/language-gap",
    "outputs": ["numbers", "page", "pictures"],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows_in_two_languages", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts", "seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    write_page(
        argv,
        __doc__,
        numbers.GAP,
        lambda study, seed: numbers.language_gap(study.rows, study.columns, seed),
        lambda study, lines: pages.language_gap(lines, [*pages.cautions(lines), *study.notes]),
        pages.figure_language_gap,
    )


if __name__ == "__main__":
    run(main)

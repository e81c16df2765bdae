"""Write every answer with the parts of its score, its claims and their verdicts on one page."""

from __future__ import annotations

from pathlib import Path

from excam.calmqa import rows_page, source, stages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step

VERSION = 3


@step
def main(
    questions_path: Path,
    answers_path: Path,
    surface_path: Path,
    claims_path: Path,
    verdicts_path: Path,
    scores_path: Path,
    page_path: Path,
) -> None:
    surface, verdicts, scores = (
        tables.read_frame(path).to_dicts() for path in (surface_path, verdicts_path, scores_path)
    )
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    claims = stages.read_claims(claims_path)
    write_text(page_path, rows_page.page(questions, answers, surface, claims, verdicts, scores))


if __name__ == "__main__":
    run(main)

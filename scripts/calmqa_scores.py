"""Join the stages into the score of every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from excam.calmqa import numbers, source, stages
from excam.core import tables
from scripts import run, step

VERSION = 1


@step
def main(
    questions_path: Path,
    answers_path: Path,
    surface_path: Path,
    claims_path: Path,
    verdicts_path: Path,
    relevance_path: Path,
    to_path: Path,
    factuality: Literal["f1@k", "precision"],
    no_claims: Literal["zero", "skip"],
) -> None:
    surface, verdicts, relevance = (
        tables.read_frame(path).to_dicts() for path in (surface_path, verdicts_path, relevance_path)
    )
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    rows = stages.judged(questions, answers, surface, stages.read_claims(claims_path), verdicts, relevance)
    stages.write(to_path, "scores", numbers.scores(rows, factuality, no_claims))


if __name__ == "__main__":
    run(main)

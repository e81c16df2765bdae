"""Check the language and the repetitions of every answer. Asks no model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from excam.calmqa import source, stages
from excam.core import tables
from scripts import run, step

VERSION = 1


@step
def main(
    questions_path: Path,
    answers_path: Path,
    detector: Literal["cld2", "langid"],
    tokens: int,
    times: int,
    surface_path: Path,
    languages_path: Annotated[Path, "how well the detector knows each language"],
) -> None:
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    rows, known = stages.surface_rows(questions, answers, detector, tokens, times)
    stages.write(surface_path, "surface", rows)
    lines = [asdict(language) | {"share": language.share, "decidable": language.decidable} for language in known]
    tables.write_lines(languages_path, ("name", "code", "questions", "right", "share", "decidable"), lines)


if __name__ == "__main__":
    run(main)

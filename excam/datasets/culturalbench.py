"""CulturalBench (Chiu et al., ACL 2025): five-times verified multiple-choice questions on 45 regions. QA, hard errors.

Only the Easy file is read: ExCAM's option-free pairs (spec 21) are what the Hard file would add.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import country_name, identifier, others, text
from excam.records import BaseSample

NAME = "culturalbench"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("CulturalBench-Easy.csv", "*/CulturalBench-Easy.csv", "CulturalBench-Easy/test*.parquet"),
    hub="kellycyy/CulturalBench",
    homepage="https://huggingface.co/datasets/kellycyy/CulturalBench",
)
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"prompt_option_{letter}" for letter in "abcd")
COLUMNS = ("question_idx", "prompt_question", *OPTIONS, "answer", "country")


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot. Raises SourceInvalid."""
    path = base.find(folder, NAME, SOURCE.files)[0]
    return base.gather(NAME, ((path, _outcome(row)) for row in base.table(path, NAME, COLUMNS)))


def _outcome(row: Mapping[str, Any]) -> base.Outcome:
    letter = text(row, "answer").upper()
    if letter not in ("A", "B", "C", "D"):
        return "answer-outside-options"
    options = tuple(option for column in OPTIONS if (option := text(row, column)))
    answer = text(row, OPTIONS["ABCD".index(letter)])
    wrong = others(options, answer)
    if not wrong:
        return "no-wrong-option"
    country = country_name(text(row, "country"))
    return BaseSample(
        id=identifier(NAME, text(row, "question_idx")),
        dataset=NAME,
        task="qa",
        question=text(row, "prompt_question"),
        answer=answer,
        language="English",
        culture=country,
        stratum=country,
        options=options,
        wrong=wrong,
    )

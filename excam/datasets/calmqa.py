"""CaLMQA (Arora et al., ACL 2025): long-form questions in 23 languages. Freeform QA, soft errors.

Only rows with a human answer are used (spec 6). One question recurs in several languages; its rows form a group. The
hub release has no question ids: there the English wording stands for the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import digest, identifier, text
from excam.records import BaseSample

NAME = "calmqa"
SOURCE = base.Source(
    licence="MIT",
    files=(
        "data/train*.parquet",
        "*/train*.parquet",
        "train*.parquet",
        "data/train*.jsonl",
        "train.jsonl",
        "calmqa.jsonl.gz",
        "calmqa.jsonl",
    ),
    hub="shanearora/CaLMQA",
    homepage="https://huggingface.co/datasets/shanearora/CaLMQA",
)
ERRORS: base.Errors = "soft"

# In the order of the release's ClassLabel, for copies that kept the number and lost the names.
LANGUAGES = (
    "Afar", "Arabic", "Balochi", "Chinese", "English", "Faroese", "Fijian", "German", "Hebrew",
    "Hiligaynon", "Hindi", "Hungarian", "Japanese", "Kirundi", "Korean", "Papiamento", "Pashto",
    "Russian", "Samoan", "Spanish", "Tongan", "Tswana", "Wolof",
)  # fmt: skip


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot. Raises SourceInvalid; a repeated row is refused only where the source has ids."""
    paths = base.find(folder, NAME, SOURCE.files)
    rows = [
        (path, row)
        for path in paths
        for row in base.table(path, NAME, ("language", "question", "answer"), ("question_id", "question_english"))
    ]
    repeated = "refuse" if "question_id" in rows[0][1] else "drop"
    return base.gather(NAME, ((path, _outcome(row)) for path, row in rows), repeated=repeated)


def _outcome(row: Mapping[str, Any]) -> base.Outcome:
    answer, question = text(row, "answer"), text(row, "question")
    if not answer:
        return "no-answer"
    language = text(row, "language")
    if language.isascii() and language.isdigit():
        if int(language) >= len(LANGUAGES):
            return "unknown-language"
        language = LANGUAGES[int(language)]
    group = text(row, "question_id") if "question_id" in row else digest(text(row, "question_english") or question)
    return BaseSample(
        id=identifier(NAME, group, *([] if "question_id" in row else [digest(question)]), language),
        dataset=NAME,
        task="freeform",
        question=question,
        answer=answer,
        language=language,
        culture=language,  # the source names no country
        stratum=language,
        group=group,
    )

"""CaLMQA (Arora et al., ACL 2025): long-form questions in 23 languages. Freeform QA, soft errors.

Only rows with a human answer are used (spec 6). One question recurs in several languages; its rows form a group. The
hub release has no question ids: there the English wording stands for the question.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._cells import digests, identifier

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
TASK: base.Task = "freeform"
ERRORS: base.Errors = "soft"

# In the order of the release's ClassLabel, for copies that kept the number and lost the names.
LANGUAGES = (
    "Afar", "Arabic", "Balochi", "Chinese", "English", "Faroese", "Fijian", "German", "Hebrew",
    "Hiligaynon", "Hindi", "Hungarian", "Japanese", "Kirundi", "Korean", "Papiamento", "Pashto",
    "Russian", "Samoan", "Spanish", "Tongan", "Tswana", "Wolof",
)  # fmt: skip
_NUMBERS = {str(number): name for number, name in enumerate(LANGUAGES)}


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot. Raises SourceInvalid; a repeated row is refused only where the source has ids."""
    columns, optional = ("language", "question", "answer"), ("question_id", "question_english")
    tables = [base.table(path, NAME, columns, optional) for path in base.find(folder, NAME, SOURCE.files)]
    has_ids = "question_id" in tables[0].columns
    rows = pl.concat(tables, how="diagonal")
    language, question = pl.col("language"), pl.col("question")
    is_number = language.str.contains(r"\A[0-9]+\z")
    name = pl.when(is_number).then(language.replace_strict(_NUMBERS, default=None)).otherwise(language)
    rows = rows.with_columns(
        group=pl.col("question_id") if has_ids else digests(_english(rows)),
        language=name,
        reason=base.first(no_answer=pl.col("answer") == "", unknown_language=name.is_null()),
    )
    wording = [] if has_ids else [digests(question)]
    frame = rows.with_columns(
        id=identifier(NAME, pl.col("group"), *wording, language),
        culture=language,  # the source names no country
        stratum=language,
    )
    return base.gather(NAME, TASK, frame, repeated="refuse" if has_ids else "drop")


def _english(rows: pl.DataFrame) -> pl.Expr:
    question = pl.col("question")
    if "question_english" not in rows.columns:
        return question
    return pl.when(pl.col("question_english") != "").then("question_english").otherwise(question)

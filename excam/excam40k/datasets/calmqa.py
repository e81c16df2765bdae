"""CaLMQA (Arora et al., ACL 2025): long-form questions in 23 languages. Freeform QA, soft errors.

Only rows with a human answer are used. One question recurs in several languages; its rows form a group. The
hub release has no question ids: the English wording is used as the question there.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import digests, identifier

VERSION = 5
_SCRAPED = "(?i)letsdiskuss"  # a forum whose pages were copied with their captions and headings
NAME = "calmqa"
SOURCE = base.Source(
    licence="MIT",
    files=(
        (
            "data/train*.parquet",
            "*/train*.parquet",
            "train*.parquet",
            "data/train*.jsonl",
            "train.jsonl",
            "calmqa.jsonl.gz",
            "calmqa.jsonl",
        ),
    ),
    hub="shanearora/CaLMQA",
    homepage="https://huggingface.co/datasets/shanearora/CaLMQA",
    title="CaLMQA",
    citation=(
        "Arora et al. 2025. CaLMQA: Exploring culturally specific long-form question answering across 23 languages. "
        "Proceedings of ACL 2025"
    ),
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
    """Return base samples of a snapshot.

    Raises SourceInvalid; a repeated row is refused only where the source has ids.
    """
    columns, optional = ("language", "question", "answer"), ("question_id", "question_english")
    tables = [base.table(path, NAME, columns, optional) for path in base.find(folder, NAME, SOURCE.files)]
    has_ids = "question_id" in tables[0].columns
    rows = pl.concat(tables, how="diagonal")
    language, question = pl.col("language"), pl.col("question")
    is_number = language.str.contains(r"\A[0-9]+\z")
    name = pl.when(is_number).then(language.replace_strict(_NUMBERS, default=None)).otherwise(language)
    rows = rows.with_columns(
        group=pl.col("question_id") if has_ids else digests(_english_question(rows)),
        language=name,
        reason=base.first_reason(
            no_answer=pl.col("answer") == "",
            scraped=pl.col("answer").str.contains(_SCRAPED),
            answer_repeated=pl.struct("language", "answer").is_first_distinct().not_(),
            unknown_language=base.wrong_cell(name.is_null(), "language", f"a name, or 0 to {len(LANGUAGES) - 1}"),
        ),
    )
    wording = [] if has_ids else [digests(question)]
    frame = base.fields(
        rows,
        id=identifier(NAME, pl.col("group"), *wording, language),
        question=question,
        answer=pl.col("answer"),
        language=language,
        culture=language,  # the source names no country
        stratum=language,
        group=pl.col("group"),
        reason=pl.col("reason"),
    )
    return base.gather(NAME, TASK, frame, repeated="refuse" if has_ids else "drop")


def _english_question(rows: pl.DataFrame) -> pl.Expr:
    question = pl.col("question")
    if "question_english" not in rows.columns:
        return question
    return pl.when(pl.col("question_english") != "").then("question_english").otherwise(question)

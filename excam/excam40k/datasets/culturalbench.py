"""CulturalBench (Chiu et al., ACL 2025): five-times verified multiple-choice questions on 45 regions. QA, hard errors.

Only the Easy file is read: ExCAM's option-free pairs are what the Hard file would add. Left out are questions with
numbered statements and options such as "i, iii", as nearly every wrong one holds statements that are right, and those
that ask what is not done, since nearly all things are not; as published they stay. Where some options of a question end
with a full stop and others do not (the last one more often than the right one), none keeps it.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from excam.excam40k.construction.templates import ends_sentence
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier, with_wrong
from excam.excam40k.datasets._changes import are_as_published

VERSION = 6
NAME = "culturalbench"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("CulturalBench-Easy.csv", "*/CulturalBench-Easy.csv", "CulturalBench-Easy/test*.parquet"),
    hub="kellycyy/CulturalBench",
    homepage="https://huggingface.co/datasets/kellycyy/CulturalBench",
    title="CulturalBench",
    citation=(
        "Chiu et al. 2025. CulturalBench: A Robust, Diverse and Challenging Benchmark for Measuring LMs' Cultural "
        "Knowledge Through Human-AI Red-Teaming. Proceedings of ACL 2025"
    ),
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"prompt_option_{letter}" for letter in "abcd")
_NUMBERED = r"\n\s*\(i\)"  # a list of statements below the question
_NEGATED = r"(?i)\b(?:not|except)\b"
_TEXTS = ("prompt_question", *OPTIONS)
_FULL_STOP = re.compile(r"(?<![.A-Z])\.\Z")  # not that of "U.S."
COLUMNS = ("question_idx", "prompt_question", *OPTIONS, "answer", "country")


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    paths = base.shards(folder, NAME, SOURCE.files)
    rows = pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    rows = base.change(rows, "double-spaces", **{name: pl.col(name).str.replace_all(" {2,}", " ") for name in _TEXTS})
    ended = [_ended_alike(*row) for row in rows.select(OPTIONS).iter_rows()]
    options = pl.DataFrame(ended, rows.select(OPTIONS).schema, orient="row")
    rows = base.change(rows, "full-stops", **options.to_dict())
    place = pl.col("answer").str.to_uppercase().replace_strict(dict(zip("ABCD", range(4), strict=True)), default=None)
    country, ours = countries(pl.col("country")), pl.lit(not are_as_published())
    rows = base.fields(
        rows,
        id=identifier(NAME, pl.col("question_idx")),
        question=pl.col("prompt_question"),
        answer=pl.concat_list(OPTIONS).list.get(place),
        options=pl.concat_list(pl.when(pl.col(name) != "").then(name) for name in OPTIONS).list.drop_nulls(),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        reason=base.first_reason(
            answer_outside_options=base.wrong_cell(place.is_null(), "answer", "A, B, C or D"),
            numbered_statements=ours & pl.col("prompt_question").str.contains(_NUMBERED),
            asks_what_is_not=ours & pl.col("prompt_question").str.contains(_NEGATED),
        ),
    )
    frame = with_wrong(rows)
    after = base.first_reason(no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=pl.coalesce("reason", after)))


def _ended_alike(*options: str) -> tuple[str, ...]:
    if all(ends_sentence(option) for option in options if option):
        return options
    return tuple(_FULL_STOP.sub("", option) for option in options)

"""CulturalBench (Chiu et al., ACL 2025): five-times verified multiple-choice questions on 45 regions. QA, hard errors.

Only the Easy file is read: ExCAM's option-free pairs are what the Hard file would add. A question with numbered
statements and options such as "i, iii" is asked without its list, and its options are the statements themselves; an
option that is a part of the right one is then not wrong. Where some options of a question end with a full stop and
others do not (the last one more often than the right one), none keeps it.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from excam.excam40k.construction.templates import ends_sentence
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier, with_wrong

VERSION = 4
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

SEPARATOR = "; "  # of the statements of an option
OPTIONS = tuple(f"prompt_option_{letter}" for letter in "abcd")
_STATEMENT = re.compile(r"\(([ivx]+)\)\s*(.*?)\s*(?=\n\s*\([ivx]+\)|\Z)", re.DOTALL)
_LIST = re.compile(r"\s*\n[^\n]*\n\s*\(i\)")  # the line "Read the following statements ..." and what follows
_TEXTS = ("prompt_question", *OPTIONS)
_FULL_STOP = re.compile(r"(?<![.A-Z])\.\Z")  # not that of "U.S."
COLUMNS = ("question_idx", "prompt_question", *OPTIONS, "answer", "country")


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    paths = base.shards(folder, NAME, SOURCE.files)
    rows = pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    rows = base.change(rows, "double-spaces", **{name: pl.col(name).str.replace_all(" {2,}", " ") for name in _TEXTS})
    for rule, changed in (("numbered-statements", _with_own_statements), ("full-stops", _ended_alike)):
        texts = pl.DataFrame(
            [changed(*row) for row in rows.select(_TEXTS).iter_rows()], rows.select(_TEXTS).schema, orient="row"
        )
        rows = base.change(rows, rule, **texts.to_dict())
    place = pl.col("answer").str.to_uppercase().replace_strict(dict(zip("ABCD", range(4), strict=True)), default=None)
    country = countries(pl.col("country"))
    rows = base.fields(
        rows,
        id=identifier(NAME, pl.col("question_idx")),
        question=pl.col("prompt_question"),
        answer=pl.concat_list(OPTIONS).list.get(place),
        options=pl.concat_list(pl.when(pl.col(name) != "").then(name) for name in OPTIONS).list.drop_nulls(),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        reason=base.first_reason(answer_outside_options=base.wrong_cell(place.is_null(), "answer", "A, B, C or D")),
    )
    frame = with_wrong(rows)
    frame = frame.with_columns(_without_parts(frame))
    after = base.first_reason(no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=pl.coalesce("reason", after)))


def _with_own_statements(question: str, *options: str) -> tuple[str, ...]:
    start = _LIST.search(question)
    statements = {number: text.rstrip(".") for number, text in _STATEMENT.findall(question)}
    chosen = [[number.strip() for number in option.split(",")] for option in options]
    if not start or not all(number in statements for numbers in chosen for number in numbers):
        return question, *options
    return question[: start.start()], *(SEPARATOR.join(statements[number] for number in numbers) for numbers in chosen)


def _ended_alike(question: str, *options: str) -> tuple[str, ...]:
    if all(ends_sentence(option) for option in options if option):
        return question, *options
    return question, *(_FULL_STOP.sub("", option) for option in options)


def _without_parts(rows: pl.DataFrame) -> pl.Series:
    """Return the wrong options of each row that say something that the right one does not say."""
    kept = [
        [option for option in wrong if set(option.split(SEPARATOR)) - set((answer or "").split(SEPARATOR))]
        for answer, wrong in rows.select("answer", "wrong").iter_rows()
    ]
    return pl.Series("wrong", kept, pl.List(pl.String))

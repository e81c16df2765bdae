"""CulturalBench (Chiu et al., ACL 2025): five-times verified multiple-choice questions on 45 regions. QA, hard errors.

Only the Easy file is read: ExCAM's option-free pairs are what the Hard file would add. A question with numbered
statements is dropped: its wrong options ("i, iii") hold parts of the right one. So is one for what is not done: more is
not done than the right option says. An option that has all words of the right one or no others ("rice noodles" beside
"rice") is not wrong. Where some options of a question end with a full stop and others do not (the last one more often
than the right one), none keeps it.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from excam.excam40k.construction.templates import ends_sentence
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier, with_wrong

VERSION = 5
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
_WORD = re.compile(r"(?!(?:an?|the|of|in|on|at|to|for|with|and|or|by|their|his|her|your|is|are|it|they|you)\b)\w+")
_TEXTS = ("prompt_question", *OPTIONS)
_NEGATED = r"(?i)\b(?:what|which|who|how|when|where)\b.*\b(?:not|never|\w+n['’]t|uncommon|unusual|unlikely)\b"
_FULL_STOP = re.compile(r"(?<![.A-Z])\.\Z")  # not that of "U.S."
COLUMNS = ("question_idx", "prompt_question", *OPTIONS, "answer", "country")


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    paths = base.shards(folder, NAME, SOURCE.files)
    rows = pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    rows = base.change(rows, "double-spaces", **{name: pl.col(name).str.replace_all(" {2,}", " ") for name in _TEXTS})
    texts = rows.select(_TEXTS)
    ended = pl.DataFrame([_ended_alike(*row) for row in texts.iter_rows()], texts.schema, orient="row")
    rows = base.change(rows, "full-stops", **ended.to_dict())
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
        reason=base.first_reason(
            answer_outside_options=base.wrong_cell(place.is_null(), "answer", "A, B, C or D"),
            numbered_statements=pl.col("prompt_question").str.contains(r"\n\s*\(i\)"),
            asks_what_is_not=pl.col("prompt_question").str.contains(_NEGATED),
        ),
    )
    frame = with_wrong(rows)
    frame = frame.with_columns(_apart(frame))
    after = base.first_reason(no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=pl.coalesce("reason", after)))


def _ended_alike(question: str, *options: str) -> tuple[str, ...]:
    if all(ends_sentence(option) for option in options if option):
        return question, *options
    return question, *(_FULL_STOP.sub("", option) for option in options)


def _apart(rows: pl.DataFrame) -> pl.Series:
    """Return the wrong options of each row that neither contain the right one nor are contained in it."""
    kept = [
        [option for option in wrong if not _overlap(option, answer or "")]
        for answer, wrong in rows.select("answer", "wrong").iter_rows()
    ]
    return pl.Series("wrong", kept, pl.List(pl.String))


def _overlap(option: str, other: str) -> bool:
    words, others = (set(_WORD.findall(text.casefold())) for text in (option, other))
    return bool(words and others) and (words <= others or others <= words)

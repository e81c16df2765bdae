"""BLEnD (Myung et al., NeurIPS 2024): everyday knowledge of 16 countries and regions. QA, hard errors.

Read are the official multiple-choice questions, five of each (country, question) as public evaluations do. Where a
snapshot holds the annotations too, they decide which questions are clear: the right answer is the region's top answer
with at least `least_votes` of its five votes, and an option that is right there too is no option (`_asked.py`). Up to
three questions are built for each annotated question of a region without official ones (`_built.py`), for all of them
where a snapshot has no official ones. Placeholders ("not-applicable") are never right and never a wrong answer.

Annotators were asked in the language of their region; `local_questions` adds questions in it (`_local.py`). They share
the group of the English ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import polars as pl

from excam.core import row_files
from excam.core.source_tables import replace_surrogates
from excam.excam40k.datasets import base
from excam.excam40k.datasets._annotations import ANNOTATIONS, PLACEHOLDER, read_annotations
from excam.excam40k.datasets._asked import Asked
from excam.excam40k.datasets._built import CHOICES, build_questions
from excam.excam40k.datasets._cells import (
    clean_columns,
    countries,
    country_name,
    digests,
    identifier,
    with_wrong,
)
from excam.excam40k.datasets._exchanged import exchanged
from excam.excam40k.datasets._local import TONGUES, build_local_questions
from excam.excam40k.datasets._wordings import stems

VERSION = 12
NAME = "blend"
QUESTIONS = (
    "**/mc_questions*.csv",
    "**/mc_questions*.csv.gz",
    "**/mc_*.csv",
    "multiple-choice-questions/test*.parquet",
)
SOURCE = base.Source(
    licence="CC-BY-SA-4.0",
    # "**/" is any depth for a local folder, but at least one folder for the hub's matching
    files=("mc_questions*.csv", "mc_questions*.csv.gz", *QUESTIONS, *ANNOTATIONS),
    hub="nayeon212/BLEnD",
    homepage="https://github.com/nlee0212/BLEnD",
    title="BLEnD",
    citation=(
        "Myung et al. 2024. BLEnD: A Benchmark for LLMs on Everyday Knowledge in Diverse Cultures and Languages. "
        "Advances in Neural Information Processing Systems 37"
    ),
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

COLUMNS = ("MCQID", "ID", "country", "prompt", "choices", "answer_idx")
MOST_PER_QUESTION = 5

Judged = tuple[list[str], str | None]  # options that stay, why a row is dropped


def read(folder: Path, *, least_votes: int = 3, local_questions: int = 0, balanced: float = 1) -> base.Reading:
    """Return base samples of a snapshot, official questions first, then the built ones.

    `least_votes`: votes of a right answer, of five; the paper states none, and its printed example has two.
    `local_questions`: at most so many of each (region, question) in the region's language; the paper has English only.
    `balanced`: with annotations, only questions whose wrong answer is as often right; 0: all, with any wrong option.
    Raises SourceInvalid.
    """
    annotations = read_annotations(NAME, folder)
    rows = _official_rows(folder, needed=not annotations.files)
    question_of = cache(partial(Asked, annotations))
    official = _few_per_question(_samples(_unclear_marked(_official_questions(rows), question_of, least_votes)))
    covered = set(rows.select("country", "ID").iter_rows())
    others = _samples(build_questions(NAME, annotations, question_of, covered, least_votes))
    parts = [pl.concat([official, others], how="diagonal")]
    if balanced and annotations.files:
        parts = [_balanced(*parts)]
    if local_questions:
        parts = [_english_apart(part) for part in parts]
        parts.append(_samples(build_local_questions(NAME, annotations, least_votes, local_questions)))
    lacks = () if annotations.files else ("annotations",)
    return base.gather(NAME, TASK, pl.concat(parts, how="diagonal"), lacks=lacks)


def _balanced(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with one wrong answer each, as often right as wrong among those of its question."""
    alone = base.first_reason(no_exchange=~pl.col("_exchanged"))
    return exchanged(rows).with_columns(reason=pl.coalesce("reason", alone))


def _english_apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Return English rows about regions with another language in one stratum: most of a draw is in the languages."""
    others = list(map(country_name, TONGUES))
    return rows.with_columns(
        stratum=pl.when(pl.col("culture").is_in(others)).then(pl.lit("English elsewhere")).otherwise("stratum")
    )


def _official_rows(folder: Path, *, needed: bool) -> pl.DataFrame:
    """Return the official questions: none if they are not needed and the snapshot has no file, or one of no rows."""
    if needed or any(any(folder.glob(pattern)) for pattern in QUESTIONS):
        paths = base.shards(folder, NAME, QUESTIONS)
        if needed or any(any(True for _ in row_files.rows(path)) for path in paths):
            return pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))


def _unclear_marked(rows: pl.DataFrame, question_of: Callable[[str], Asked], least_votes: int) -> pl.DataFrame:
    """Return official rows without options that the annotations make right too; `before` is why nothing is left.

    Placeholders keep a reason of their own.
    """

    def judged(before: str | None, region: str, key: str, answer: str, options: list[str]) -> Judged:
        question = question_of(key)
        if before or PLACEHOLDER.search(answer) or not question.is_known(region):
            return options, before
        right = question.right(region, least_votes)
        if isinstance(right, str):
            return options, right
        if stems(answer) not in map(stems, right.wordings):
            return options, "not-the-top-answer"
        wrong = question.still_wrong(region, right, (option for option in options if option != answer))
        return [option for option in options if option == answer or option in wrong], (
            None if wrong else "wrong-option-is-right-too"
        )

    cells = rows.select("before", "region", "group", "answer", "options").iter_rows()
    options, before = zip(*(judged(*cell) for cell in cells), strict=True) if len(rows) else ((), ())
    left = pl.Series("options", options, pl.List(pl.String))
    rows = base.change(rows.with_columns(before=pl.Series(before, dtype=pl.String)), "options-right-too", options=left)
    as_published = base.first_reason(wrong_option_is_right_too=pl.col("options") != left)
    return rows.with_columns(before=pl.coalesce("before", as_published))


def _official_questions(rows: pl.DataFrame) -> pl.DataFrame:
    marker = "Without any explanation"
    cells = zip(rows["choices"], rows["answer_idx"].str.to_uppercase(), strict=True)
    choices = pl.DataFrame([_choices(held, letter) for held, letter in cells], CHOICES, orient="row")
    prompt = pl.col("prompt").str
    frame = rows.hstack(choices).with_columns(
        id=identifier(NAME, pl.col("MCQID")),
        question=prompt.splitn(marker, 2).struct.field("field_0").str.strip_chars(),
        before=base.first_reason(
            no_question=~prompt.contains(marker, literal=True),
            malformed=base.wrong_cell(pl.col("options").is_null(), "choices", "a JSON object of letters and options"),
            answer_outside_options=base.wrong_cell(pl.col("answer").is_null(), "answer_idx", "a letter of choices"),
        ),
    )
    return clean_columns(frame.rename({"country": "region", "ID": "group"}), ("options", "answer"))


def _choices(written: str, letter: str) -> tuple[list[str] | None, str | None]:
    """Return options by letter, and the right one. Column expressions cannot skip a broken JSON object."""
    try:
        held = json.loads(written)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(held, dict) or letter not in held:
        return [], None
    return [replace_surrogates(str(held[key])) for key in sorted(held)], replace_surrogates(str(held[letter]))


def _samples(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the common fields of official and built questions, from id, question, region, group, options, answer and
    `before`.
    """
    country = countries(pl.col("region"))
    after = base.first_reason(
        placeholder_answer=pl.col("answer").str.contains(PLACEHOLDER.pattern),
        no_wrong_option=pl.col("wrong").list.len() == 0,
    )
    named = ("id", "question", "answer", "options", "wrong", "group")
    return base.fields(
        with_wrong(rows, PLACEHOLDER.pattern),
        **{name: pl.col(name) for name in named},
        language=pl.col("language") if "language" in rows.columns else pl.lit("English"),
        culture=country,
        stratum=country,
        reason=pl.coalesce("before", after),
    )


def _few_per_question(rows: pl.DataFrame) -> pl.DataFrame:
    """Mark all but five of each (country, question) as "over-5-per-question"; a digest of the id selects the five.

    A repeated id has one place: the selection does not depend on repetitions.
    """
    order = pl.when(pl.col("reason").is_null()).then(digests(pl.col("id")))
    place = order.rank("dense").over("culture", "group")
    over = pl.when(place > MOST_PER_QUESTION).then(pl.lit(f"over-{MOST_PER_QUESTION}-per-question"))
    return rows.with_columns(reason=pl.coalesce("reason", over))

"""BLEnD (Myung et al., NeurIPS 2024): everyday knowledge of 16 countries and regions. QA, hard errors.

Read are the official multiple-choice questions, five of each (country, question) as public evaluations do. Where a
snapshot holds the annotations too, one question is built for each annotated question of a region without official ones:
the right option is the region's top answer, the others are top answers of other regions that nobody of the region gave.
Placeholders that annotators typed ("not-applicable") are never right and never a wrong answer.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._annotations import ANNOTATIONS, CHOICES, PLACEHOLDER, built
from excam.datasets._cells import cleaned, countries, digests, identifier, with_wrong
from excam.datasets._plain import whole

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
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

COLUMNS = ("MCQID", "ID", "country", "prompt", "choices", "answer_idx")
MOST_PER_QUESTION = 5


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot, official questions first, then the built ones. Raises SourceInvalid."""
    paths = base.shards(folder, NAME, QUESTIONS)
    rows = pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    official = _few_per_question(_samples(_official(rows)))
    others = _samples(built(NAME, folder, covered=set(rows["country"])))
    return base.gather(NAME, TASK, pl.concat([official, others], how="diagonal"))


def _official(rows: pl.DataFrame) -> pl.DataFrame:
    marker = "Without any explanation"
    cells = zip(rows["choices"], rows["answer_idx"].str.to_uppercase(), strict=True)
    choices = pl.DataFrame([_choices(held, letter) for held, letter in cells], CHOICES, orient="row")
    prompt = pl.col("prompt").str
    frame = rows.hstack(choices).with_columns(
        id=identifier(NAME, pl.col("MCQID")),
        question=prompt.splitn(marker, 2).struct.field("field_0").str.strip_chars(),
        before=base.first(
            no_question=~prompt.contains(marker, literal=True),
            malformed=pl.col("options").is_null(),
            answer_outside_options=pl.col("answer").is_null(),
        ),
    )
    return cleaned(frame.rename({"country": "region", "ID": "group"}), ("options", "answer"))


def _choices(written: str, letter: str) -> tuple[list[str] | None, str | None]:
    """Options by letter, and the right one; no column expression takes JSON objects apart and survives a broken one."""
    try:
        held = json.loads(written)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(held, dict) or letter not in held:
        return [], None
    return [whole(str(held[key])) for key in sorted(held)], whole(str(held[letter]))


def _samples(rows: pl.DataFrame) -> pl.DataFrame:
    """What official and built questions share, from id, question, region, group, options, answer and `before`."""
    country = countries(pl.col("region"))
    after = base.first(
        placeholder_answer=pl.col("answer").str.contains(PLACEHOLDER),
        no_wrong_option=pl.col("wrong").list.len() == 0,
    )
    return with_wrong(rows, PLACEHOLDER).with_columns(
        language=pl.lit("English"), culture=country, stratum=country, reason=pl.coalesce("before", after)
    )


def _few_per_question(rows: pl.DataFrame) -> pl.DataFrame:
    """All but five of each (country, question) become "over-5-per-question"; which five, a digest of the id says.

    A repeated id has one place: which five does not depend on repetitions.
    """
    order = pl.when(pl.col("reason").is_null()).then(digests(pl.col("id")))
    place = order.rank("dense").over("culture", "group")
    over = pl.when(place > MOST_PER_QUESTION).then(pl.lit(f"over-{MOST_PER_QUESTION}-per-question"))
    return rows.with_columns(reason=pl.coalesce("reason", over))

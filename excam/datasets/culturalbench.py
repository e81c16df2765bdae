"""CulturalBench (Chiu et al., ACL 2025): five-times verified multiple-choice questions on 45 regions. QA, hard errors.

Only the Easy file is read: ExCAM's option-free pairs (spec 21) are what the Hard file would add.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._cells import countries, identifier, with_wrong

NAME = "culturalbench"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("CulturalBench-Easy.csv", "*/CulturalBench-Easy.csv", "CulturalBench-Easy/test*.parquet"),
    hub="kellycyy/CulturalBench",
    homepage="https://huggingface.co/datasets/kellycyy/CulturalBench",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"prompt_option_{letter}" for letter in "abcd")
COLUMNS = ("question_idx", "prompt_question", *OPTIONS, "answer", "country")


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot. Raises SourceInvalid."""
    paths = base.shards(folder, NAME, SOURCE.files)
    rows = pl.concat([base.table(path, NAME, COLUMNS) for path in paths], how="diagonal")
    place = pl.col("answer").str.to_uppercase().replace_strict(dict(zip("ABCD", range(4), strict=True)), default=None)
    country = countries(pl.col("country"))
    rows = rows.with_columns(
        id=identifier(NAME, pl.col("question_idx")),
        question=pl.col("prompt_question"),
        answer=pl.concat_list(OPTIONS).list.get(place),
        options=pl.concat_list(pl.when(pl.col(name) != "").then(name) for name in OPTIONS).list.drop_nulls(),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
    )
    frame = with_wrong(rows)
    answered = pl.col("answer").is_not_null()
    reason = base.first(answer_outside_options=~answered, no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=reason))

"""Scenarios of Macaron, made by `excam macaron build` or `read`: questions with options, and pairs of statements.

A statement in which the right option is inflected is left out (`option-not-in-statement`).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier, with_wrong

NAME = "macaron"
SOURCE = base.Source(
    licence="CC-BY-4.0",  # of your scenarios
    files=("scenarios.parquet",),
    title="Macaron",
    citation="Elsetohy et al. 2026. Macaron",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"
COLUMNS = ("id", "country", "language", "question_en", "options_en", "question_local", "options_local")
STATEMENTS = ("true_en", "false_en", "true_local", "false_local")


def read(folder: Path) -> base.Reading:
    """Return base samples of a file of scenarios. Raises SourceInvalid."""
    path = base.find_one(folder, NAME, SOURCE.files)
    rows = base.table(path, NAME, (*COLUMNS, *STATEMENTS), lists=("options_en", "options_local"))
    languages = {"en": pl.lit("English"), "local": pl.col("language")}
    frames = [part(rows, side, language) for part in (_questions, _statements) for side, language in languages.items()]
    return base.gather(NAME, TASK, pl.concat(frames, how="diagonal"))


def _questions(rows: pl.DataFrame, side: str, language: pl.Expr) -> pl.DataFrame:
    options = pl.col(f"options_{side}")
    given = {"question": pl.col(f"question_{side}"), "answer": options.list.first(), "options": options}
    return with_wrong(_fields(rows, f"question-{side}", language, reason=pl.lit(None, pl.String), **given))


def _statements(rows: pl.DataFrame, side: str, language: pl.Expr) -> pl.DataFrame:
    right, option = pl.col(f"true_{side}"), pl.col(f"options_{side}").list.first()
    asked = pl.format("Write this as a full sentence: '{}'", right.str.split(option).list.join("..."))
    reason = base.first_reason(option_not_in_statement=~right.str.contains(option, literal=True))
    given = {"question": asked, "answer": right, "wrong": pl.concat_list(f"false_{side}"), "reason": reason}
    return _fields(rows, f"statement-{side}", language, options=pl.lit([], pl.List(pl.String)), **given)


def _fields(rows: pl.DataFrame, kind: str, language: pl.Expr, **given: pl.Expr) -> pl.DataFrame:
    country = countries(pl.col("country"))
    return base.fields(
        rows,
        id=identifier(NAME, pl.lit(kind), pl.col("id")),
        language=language,
        culture=country,
        stratum=country,
        group=pl.col("id"),  # the versions of a scenario stay in one split
        **given,
    )

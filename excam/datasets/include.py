"""INCLUDE-base-44 (Romanou et al., ICLR 2025; "IB44" in ExCAM): exam questions in 44 languages. QA, hard errors.

Culture- and region-specific rows are kept, agnostic ones dropped (spec 5). Two layouts exist: four option columns, and
one `choices` list in the first revisions. The source has no ids, so an id is made of language, question and options.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._cells import countries, digests, identifier, with_wrong
from excam.exceptions import SourceInvalid

NAME = "include"
SOURCE = base.Source(
    licence="Apache-2.0",
    files=("*/test*.parquet", "data/*/test*.parquet", "*/test*.jsonl", "*/test*.json", "*/test*.csv"),
    hub="CohereLabs/include-base-44",
    homepage="https://huggingface.co/datasets/CohereLabs/include-base-44",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"option_{letter}" for letter in "abcd")
REQUIRED = ("country", "regional_feature", "question", "answer")
PLACES = {**dict(zip("ABCD", range(4), strict=True)), **{str(place): place for place in range(26)}}


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot; rows repeated word for word are dropped. Raises SourceInvalid."""
    rows = pl.concat([_rows(path) for path in base.find(folder, NAME, SOURCE.files)], how="diagonal")
    feature = pl.col("regional_feature").str.to_lowercase()
    # 0 to 3 in the release, a letter in some copies
    place = pl.col("answer").str.to_uppercase().replace_strict(PLACES, default=None)
    country = countries(pl.col("country"))
    rows = rows.with_columns(
        id=identifier(NAME, digests(pl.col("language"), pl.col("question"), pl.col("options").list.join("\x1f"))),
        answer=pl.col("options").list.get(place, null_on_oob=True),
        culture=country,
        stratum=country,
    )
    frame = with_wrong(rows)
    reason = base.first(
        culture_agnostic=feature.str.contains("agnostic"),
        unknown_regional_feature=~feature.str.contains("cultur|region"),
        answer_outside_options=pl.col("answer").is_null(),
        no_wrong_option=pl.col("wrong").list.len() == 0,
    )
    return base.gather(NAME, TASK, frame.with_columns(reason=reason), repeated="drop")


def _rows(path: Path) -> pl.DataFrame:
    """Rows of one language with `options` in source order, none where `choices` is no list."""
    rows = base.table(path, NAME, REQUIRED, ("language", *OPTIONS), lists=("choices",))
    if "choices" not in rows.columns and "option_a" not in rows.columns:
        raise SourceInvalid(
            f"{NAME}: {path.parent.name}/{path.name}: no column option_a; "
            f"expected option_a to option_d, or choices; check the pinned revision"
        )
    columns = [name for name in OPTIONS if name in rows.columns]
    layouts = [pl.col("choices")] if "choices" in rows.columns else []
    layouts += [pl.concat_list(columns)] if columns else []
    language = pl.col("language") if "language" in rows.columns else pl.lit("")
    return rows.with_columns(
        options=pl.coalesce(*layouts, pl.lit([], pl.List(pl.String))),
        language=pl.when(language != "").then(language).otherwise(pl.lit(path.parent.name)),
    )

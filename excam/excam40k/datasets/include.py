"""INCLUDE-base-44 (Romanou et al., ICLR 2025; "IB44" in ExCAM): exam questions in 44 languages. QA, hard errors.

Culture- and region-specific rows are kept, agnostic ones dropped. Two layouts exist: four option columns, and
one `choices` list in the first revisions. The source has no ids, so an id is made of language, question and options.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.core.exceptions import SourceInvalid
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, digests, identifier, with_wrong

VERSION = 3
NAME = "include"
SOURCE = base.Source(
    licence="Apache-2.0",
    files=("*/test*.parquet", "data/*/test*.parquet", "*/test*.jsonl", "*/test*.json", "*/test*.csv"),
    hub="CohereLabs/include-base-44",
    homepage="https://huggingface.co/datasets/CohereLabs/include-base-44",
    title="INCLUDE",
    citation=(
        "Romanou et al. 2025. INCLUDE: Evaluating Multilingual Language Understanding with Regional Knowledge. "
        "Proceedings of ICLR 2025"
    ),
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"option_{letter}" for letter in "abcd")
REQUIRED = ("country", "regional_feature", "question", "answer")
PLACES = {**dict(zip("ABCD", range(4), strict=True)), **{str(place): place for place in range(26)}}


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot; rows repeated word for word are dropped. Raises SourceInvalid."""
    rows = pl.concat([_rows(path) for path in base.find(folder, NAME, SOURCE.files)], how="diagonal")
    feature = pl.col("regional_feature").str.to_lowercase()
    # 0 to 3 in the release, a letter in some copies
    place = pl.col("answer").str.to_uppercase().replace_strict(PLACES, default=None)
    answer = pl.col("options").list.get(place, null_on_oob=True)
    country = countries(pl.col("country"))
    rows = base.fields(
        rows,
        id=identifier(NAME, digests(pl.col("language"), pl.col("question"), pl.col("options").list.join("\x1f"))),
        question=pl.col("question"),
        answer=answer,
        options=pl.col("options"),
        language=pl.col("language"),
        culture=country,
        stratum=country,
        reason=base.first_reason(
            culture_agnostic=feature.str.contains("agnostic"),
            unknown_regional_feature=base.wrong_cell(
                ~feature.str.contains("cultur|region"), "regional_feature", "region, culture or agnostic in it"
            ),
            answer_outside_options=base.wrong_cell(answer.is_null(), "answer", "0 to 3 (or A to D)"),
        ),
    )
    frame = with_wrong(rows)
    unusable = base.first_reason(no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=pl.coalesce("reason", unusable)), repeated="drop")


def _rows(path: Path) -> pl.DataFrame:
    """Return rows of one language with `options` in source order, none if `choices` is not a list."""
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

"""KoBBQ (Jin et al., TACL 2024): Korean stories with a stereotype as one of the answers. QA, hard errors.

Where the story does not tell, the right answer is "unknown" and the wrong one the stereotype. Where it tells, "unknown"
is wrong too, so that it is wrong as often as right. The four stories of a template form a group.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import identifier, with_wrong

NAME = "kobbq"
SOURCE = base.Source(
    licence="MIT",
    files=("KoBBQ_test_samples.tsv", "KoBBQ_test_samples.tsv.gz"),
    homepage="https://github.com/naver-ai/KoBBQ",
    title="KoBBQ",
    citation="Jin et al. 2024. KoBBQ: Korean Bias Benchmark for Question Answering. TACL 12",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    needed = ("sample_id", "context", "question", "choices", "biased_answer", "answer")
    rows = base.table(base.find_one(folder, NAME, SOURCE.files), NAME, needed, lists=("choices",))
    kind = pl.col("sample_id").str.extract("-(amb|dis)-(?:bsd|cnt)$")
    template = pl.col("sample_id").str.extract(r"^(.+?-\d+)[a-z]?-")
    stereotype = (kind == "amb").alias("_stereotype")
    frame = base.fields(
        rows.with_columns(stereotype, pl.col("biased_answer").alias("_biased")),
        id=identifier(NAME, pl.col("sample_id")),
        question=pl.concat_str("context", "question", separator=" "),
        answer=pl.col("answer"),
        options=pl.col("choices"),
        language=pl.lit("Korean"),
        culture=pl.lit("South Korea"),
        stratum=kind,
        group=pl.lit(f"{NAME}/") + template,
        reason=base.first_reason(
            unknown_kind=base.wrong_cell(
                kind.is_null(), "sample_id", "an end in -amb-bsd, -amb-cnt, -dis-bsd, -dis-cnt"
            ),
            answer_outside_options=~pl.col("choices").list.contains(pl.col("answer")),
            stereotype_outside_options=~pl.col("choices").list.contains(pl.col("biased_answer")),
        ),
    )
    frame = with_wrong(frame)
    only = pl.when("_stereotype").then(pl.concat_list("_biased")).otherwise("wrong")
    return base.gather(NAME, TASK, frame.with_columns(wrong=only))

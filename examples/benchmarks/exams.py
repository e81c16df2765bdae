"""EXAMS (Hardalov et al., EMNLP 2020), humanities: school exams in many languages. QA, hard errors.

Questions of subjects that are the same everywhere are dropped, as are those without a country.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, digests, identifier, with_wrong

NAME = "exams"
SOURCE = base.Source(
    licence="CC-BY-SA-4.0",
    files=("exams_humanities_4opt.csv", "exams_humanities_4opt.csv.gz"),
    homepage="https://github.com/mhardalov/exams-qa",
    title="EXAMS",
    citation="Hardalov et al. 2020. EXAMS: A Multi-subject High School Examinations Dataset. Proceedings of EMNLP 2020",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

GENERAL = ("Economics", "Ethics", "Philosophy", "Psychology", "Sociology")
OPTIONS = tuple(f"option_{letter}" for letter in "abcd")


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot; rows repeated in other splits are dropped. Raises SourceInvalid."""
    path = base.find_one(folder, NAME, SOURCE.files)
    rows = base.table(path, NAME, ("language", "country", "subject", "question", *OPTIONS, "answer"))
    options = pl.concat_list(*OPTIONS)
    place = pl.col("answer").replace_strict(
        {str(position): position for position in range(4)}, default=None, return_dtype=pl.Int64
    )
    country = countries(pl.col("country"))
    frame = base.fields(
        rows,
        id=identifier(NAME, digests(pl.col("language"), pl.col("question"), options.list.join("\x1f"))),
        question=pl.col("question"),
        answer=options.list.get(place),
        options=options,
        language=pl.col("language"),
        culture=country,
        stratum=country,
        reason=base.first_reason(
            general_subject=pl.col("subject").is_in(GENERAL),
            no_country=pl.col("country") == "",
            unknown_answer=base.wrong_cell(place.is_null(), "answer", "0 to 3"),
        ),
    )
    frame = with_wrong(frame)
    unusable = base.first_reason(no_wrong_option=pl.col("wrong").list.len() == 0)
    return base.gather(NAME, TASK, frame.with_columns(reason=pl.coalesce("reason", unusable)), repeated="drop")

"""FORK (Palta and Rudinger, Findings of ACL 2023): customs of eating in eleven countries. QA, hard errors.

A question that does not name its country cannot be judged, and is dropped; one that names a dish of the country stays.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier, with_wrong

NAME = "fork"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("fork.csv",),
    homepage="https://github.com/shramay-palta/FORK_ACL2023",
    title="FORK",
    citation="Palta and Rudinger 2023. FORK: A Bite-Sized Test Set for Probing Culinary Cultural Biases. ACL 2023",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    needed = ("ID", "Question", "Option A", "Option B", "Answer Key", "Country", "Type", "Dimension")
    rows = base.table(base.find_one(folder, NAME, SOURCE.files), NAME, needed)
    key, country = pl.col("Answer Key"), countries(pl.col("Country"))
    frame = base.fields(
        rows,
        id=identifier(NAME, pl.col("ID")),
        question=pl.col("Question"),
        answer=pl.when(key == "A").then("Option A").when(key == "B").then("Option B"),
        options=pl.concat_list("Option A", "Option B"),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        group=pl.concat_str(pl.lit(NAME), "Dimension", country, separator="/"),  # one custom in several wordings
        reason=base.first_reason(
            unnamed_country=pl.col("Type") == "Underspecified",
            unknown_answer=base.wrong_cell(~key.is_in(["A", "B"]), "Answer Key", "A or B"),
        ),
    )
    return base.gather(NAME, TASK, with_wrong(frame))

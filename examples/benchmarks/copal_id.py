"""COPAL-ID (Wibowo et al., NAACL 2024): Indonesian causes and effects, standard and colloquial. QA, hard errors.

`label` in the source is the place of the right choice. The two wordings of an item form a group. The wrong choice is
only less likely, so a question asks which of the two is likelier, and is not asked without them.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import identifier, with_wrong

NAME = "copal_id"
SOURCE = base.Source(
    licence="CC-BY-SA-4.0",
    files=("test_copal.csv", "test_copal_colloquial.csv"),
    homepage="https://github.com/haryoa/COPAL-ID",
    title="COPAL-ID",
    citation="Wibowo et al. 2024. COPAL-ID: Indonesian Language Reasoning with Local Culture and Nuances. NAACL 2024",
)
TASK: base.Task = "qa"
ERRORS: base.Errors = "hard"

ASKED = {
    "cause": "Manakah di antara pilihan berikut yang lebih mungkin menjadi penyebabnya?",
    "effect": "Manakah di antara pilihan berikut yang lebih mungkin menjadi akibatnya?",
}


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    rows = pl.concat([_rows(path) for path in base.find(folder, NAME, SOURCE.files)])
    options = pl.concat_list("choice1", "choice2")
    asked = pl.col("question").replace_strict(ASKED, default=None)
    place = pl.col("label").replace_strict({"0": 0, "1": 1}, default=None, return_dtype=pl.Int64)
    frame = base.fields(
        rows,
        id=identifier(NAME, pl.col("wording"), pl.col("idx")),
        question=pl.concat_str(pl.col("premise").str.replace(r"\s*([^.?!])$", "${1}."), asked, separator=" "),
        answer=options.list.get(place),
        options=options,
        language=pl.lit("Indonesian"),
        culture=pl.lit("Indonesia"),
        stratum=pl.col("wording"),
        group=pl.lit(f"{NAME}/") + pl.col("idx"),
        reason=base.first_reason(
            unknown_question=base.wrong_cell(asked.is_null(), "question", "cause or effect"),
            unknown_answer=base.wrong_cell(place.is_null(), "label", "0 or 1"),
        ),
    )
    return base.gather(NAME, TASK, with_wrong(frame))


def _rows(path: Path) -> pl.DataFrame:
    rows = base.table(path, NAME, ("premise", "choice1", "choice2", "question", "idx", "label"))
    return rows.with_columns(wording=pl.lit("colloquial" if "colloquial" in path.name else "standard"))

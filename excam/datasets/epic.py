"""EPIC (Frenda et al., ACL 2023): is a reply ironic, as its annotators saw it. Impersonation, hard errors.

A hard error is the other label. The role is the annotator's demographics (ExCAM Table 10), the context the parent
post. A row is one annotation: the annotators of a pair may disagree, and nothing is aggregated (spec 8 is silent).
Withdrawn attributes (DATA_EXPIRED) stay out of the role. The public MultiPICo variant has no column for the annotator's
language: the language of the texts stands there.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._cells import countries, identifier

NAME = "epic"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("EPICorpus.csv", "*/EPICorpus.csv", "EPICorpus_from_multipico_en.csv.gz"),
    hub="Multilingual-Perspectivist-NLU/EPIC",
    homepage="https://huggingface.co/datasets/Multilingual-Perspectivist-NLU/EPIC",
)
TASK: base.Task = "impersonation"
ERRORS: base.Errors = "hard"

ANSWERS = {"iro": "The text is ironic.", "not": "The text is not ironic."}
LABELS = {"iro": "ironic", "not": "not ironic"}
ATTRIBUTES = {"Age= ": "Age", "Sex=": "Sex", "Ethn.=": "Ethnicity simplified", "Nat.=": "Nationality"}
REQUIRED = ("user", "label", "id_original", "text", "parent_text", *ATTRIBUTES.values())
LANGUAGE = "Language_annotator"


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot, one per annotation; `lacks` names missing columns. Raises SourceInvalid."""
    path = base.find_one(folder, NAME, SOURCE.files)
    rows = base.table(path, NAME, REQUIRED, (LANGUAGE, "language_instance"))
    lacks = () if LANGUAGE in rows.columns else (LANGUAGE,)
    label, pair, text = pl.col("label").str.to_lowercase(), pl.col("id_original"), pl.col("text")
    country = countries(_attribute("Nationality"))
    frame = rows.with_columns(
        id=identifier(NAME, pair, pl.col("user")),
        question="Indicate whether this text is ironic or non-ironic: " + text,
        answer=label.replace_strict(ANSWERS, default=None),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        wrong=pl.concat_list(label.replace_strict({"iro": ANSWERS["not"], "not": ANSWERS["iro"]}, default=None)),
        role=_role(rows),
        context=pl.col("parent_text"),
        group=pair,
        label=label.replace_strict(LABELS, default=None),
        reason=base.first(
            unknown_label=~label.is_in(list(ANSWERS)),
            no_nationality=_attribute("Nationality") == "",  # the stratum (spec 5)
            empty=text == "",
        ),
    )
    return base.gather(NAME, TASK, frame, lacks=lacks)


def _role(rows: pl.DataFrame) -> pl.Expr:
    """E.g. "Age= 26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English." without what was withdrawn."""
    column = next((name for name in (LANGUAGE, "language_instance") if name in rows.columns), None)
    language = _attribute(column) if column else pl.lit("")
    known = {mark: _attribute(column) for mark, column in ATTRIBUTES.items()}
    known["Lang.="] = pl.when(language.str.to_lowercase() == "en").then(pl.lit("English")).otherwise(language)
    stated = [pl.when(value != "").then(pl.lit(mark) + value) for mark, value in known.items()]
    return pl.concat_str(stated, separator="; ", ignore_nulls=True) + "."


def _attribute(column: str) -> pl.Expr:
    return pl.when(pl.col(column) == "DATA_EXPIRED").then(pl.lit("")).otherwise(column)

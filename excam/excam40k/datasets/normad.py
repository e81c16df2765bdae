"""NormAd (Rao et al., NAACL 2025): etiquette stories from 75 countries. Impersonation, soft errors.

The role is the nation, the context a passage of the Cultural Atlas, the output "Yes" or "No" with the explanation
(ExCAM Table 8). Stories labelled neutral say nothing about right and wrong and are dropped (the paper is silent). A
public variant has neither Background nor Explanation: there the rule of thumb is the explanation, and there is no
context. With the rule in both, "right if the explanation is in the context" would need no culture.

That variant asks whether something is "socially acceptable" where the verdict is "Yes" and "acceptable" where it is
"No" (95 % of 1,467 stories). All ask what the rules judge, local etiquette: to come on time is acceptable everywhere.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import countries, identifier

VERSION = 5
NAME = "normad"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("normad_etiquette_final_data.csv", "*/normad_etiquette_final_data.csv", "normad_yes_no.csv"),
    hub="akhilayerukola/NormAd",
    homepage="https://huggingface.co/datasets/akhilayerukola/NormAd",
    title="NormAd",
    citation=(
        "Rao et al. 2025. NormAd: A Framework for Measuring the Cultural Adaptability of Large Language Models. "
        "Proceedings of NAACL 2025"
    ),
)
TASK: base.Task = "impersonation"
ERRORS: base.Errors = "soft"

REQUIRED = ("ID", "Country", "Rule-of-Thumb", "Story", "Gold Label")
OPTIONAL = ("Background", "Explanation")
ASKED = r"(?:socially )?(?:acceptable|okay)\?\s*$"


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot; `lacks` names the official columns it is without. Raises SourceInvalid."""
    rows = base.table(base.find_one(folder, NAME, SOURCE.files), NAME, REQUIRED, OPTIONAL)
    lacks = tuple(column for column in OPTIONAL if column not in rows.columns)
    rows = rows.with_columns(pl.lit("").alias(column) for column in lacks)
    rows = base.change(
        rows, "one-question", Story=pl.col("Story").str.replace(ASKED, "in keeping with local etiquette?")
    )
    label, rule = pl.col("Gold Label").str.to_lowercase(), pl.col("Rule-of-Thumb")
    explanation = pl.when(pl.col("Explanation") != "").then("Explanation").otherwise(rule)
    country = countries(pl.col("Country"))
    frame = base.fields(
        rows,
        id=identifier(NAME, pl.col("ID")),
        question=pl.col("Story"),
        answer=label.replace({"yes": "Yes", "no": "No"}) + ", explanation: " + explanation,
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        role="Nation: " + country,
        context=pl.col("Background"),
        reason=base.first_reason(
            neutral=label == "neutral",
            unknown_label=base.wrong_cell(~label.is_in(["yes", "no"]), "Gold Label", "yes, no or neutral"),
            no_explanation=explanation == "",
        ),
    )
    return base.gather(NAME, TASK, frame, lacks=lacks)

"""NormAd (Rao et al., NAACL 2025): etiquette stories from 75 countries. Impersonation, soft errors.

The role is the nation, the context a passage of the Cultural Atlas, the output "Yes" or "No" with the explanation
(ExCAM Table 8). Stories labelled neutral say nothing about right and wrong and are dropped (spec 9 is silent). A public
variant has neither Background nor Explanation: there the rule of thumb stands for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import country_name, identifier, text
from excam.records import BaseSample

NAME = "normad"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=("normad_etiquette_final_data.csv", "*/normad_etiquette_final_data.csv", "normad_yes_no.csv"),
    hub="akhilayerukola/NormAd",
    homepage="https://huggingface.co/datasets/akhilayerukola/NormAd",
)
ERRORS: base.Errors = "soft"

REQUIRED = ("ID", "Country", "Rule-of-Thumb", "Story", "Gold Label")
OPTIONAL = ("Background", "Explanation")


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot; `lacks` names the official columns it is without. Raises SourceInvalid."""
    path = base.find(folder, NAME, SOURCE.files)[0]
    rows = list(base.table(path, NAME, REQUIRED, OPTIONAL))
    lacks = tuple(column for column in OPTIONAL if column not in rows[0])
    return base.gather(NAME, ((path, _outcome(row)) for row in rows), lacks=lacks)


def _outcome(row: Mapping[str, Any]) -> base.Outcome:
    label = text(row, "Gold Label").lower()
    if label not in ("yes", "no"):
        return "neutral" if label == "neutral" else "unknown-label"
    rule = text(row, "Rule-of-Thumb")
    explanation = text(row, "Explanation") or rule
    if not explanation:
        return "no-explanation"
    country = country_name(text(row, "Country"))
    return BaseSample(
        id=identifier(NAME, text(row, "ID")),
        dataset=NAME,
        task="impersonation",
        question=text(row, "Story"),
        answer=f"{label.capitalize()}, explanation: {explanation}",
        language="English",
        culture=country,
        stratum=country,
        role=f"Nation: {country}",
        context=text(row, "Background") or rule,
    )

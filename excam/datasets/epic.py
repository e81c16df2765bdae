"""EPIC (Frenda et al., ACL 2023): is a reply ironic, as its annotators saw it. Impersonation, hard errors.

A hard error is the other label. The role is the annotator's demographics (ExCAM Table 10), the context the parent
post. A row is one annotation: the annotators of a pair may disagree, and nothing is aggregated (spec 8 is silent).
Withdrawn attributes (DATA_EXPIRED) stay out of the role. The public MultiPICo variant has no column for the annotator's
language: the language of the texts stands there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import country_name, identifier, text
from excam.records import BaseSample

NAME = "epic"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("EPICorpus.csv", "*/EPICorpus.csv", "EPICorpus_from_multipico_en.csv.gz"),
    hub="Multilingual-Perspectivist-NLU/EPIC",
    homepage="https://huggingface.co/datasets/Multilingual-Perspectivist-NLU/EPIC",
)
ERRORS: base.Errors = "hard"

ANSWERS = {"iro": "The text is ironic.", "not": "The text is not ironic."}
ATTRIBUTES = {"Age= ": "Age", "Sex=": "Sex", "Ethn.=": "Ethnicity simplified", "Nat.=": "Nationality"}
REQUIRED = ("user", "label", "id_original", "text", "parent_text", *ATTRIBUTES.values())
LANGUAGE = "Language_annotator"


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot, one per annotation; `lacks` names missing columns. Raises SourceInvalid."""
    path = base.find(folder, NAME, SOURCE.files)[0]
    rows = list(base.table(path, NAME, REQUIRED, (LANGUAGE, "language_instance")))
    lacks = () if LANGUAGE in rows[0] else (LANGUAGE,)
    return base.gather(NAME, ((path, _outcome(row)) for row in rows), lacks=lacks)


def _outcome(row: Mapping[str, Any]) -> base.Outcome:
    label = text(row, "label").lower()
    if label not in ANSWERS:
        return "unknown-label"
    nationality = _attribute(row, "Nationality")
    if not nationality:
        return "no-nationality"  # the stratum (spec 5)
    reply = text(row, "text")
    if not reply:
        return "empty"
    pair = text(row, "id_original")
    return BaseSample(
        id=identifier(NAME, pair, text(row, "user")),
        dataset=NAME,
        task="impersonation",
        question=f"Indicate whether this text is ironic or non-ironic: {reply}",
        answer=ANSWERS[label],
        language="English",
        culture=country_name(nationality),
        stratum=country_name(nationality),
        wrong=tuple(answer for key, answer in ANSWERS.items() if key != label),
        role=_role(row),
        context=text(row, "parent_text"),
        group=pair,
    )


def _role(row: Mapping[str, Any]) -> str:
    """E.g. "Age= 26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English." without what was withdrawn."""
    language = _attribute(row, LANGUAGE) if LANGUAGE in row else _attribute(row, "language_instance")
    known = [(mark, _attribute(row, column)) for mark, column in ATTRIBUTES.items()]
    known.append(("Lang.=", "English" if language.lower() == "en" else language))
    return "; ".join(f"{mark}{value}" for mark, value in known if value) + "."


def _attribute(row: Mapping[str, Any], column: str) -> str:
    value = text(row, column)
    return "" if value == "DATA_EXPIRED" else value

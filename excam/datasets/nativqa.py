"""MultiNativQA (Hasan et al., Findings of ACL 2025; "MNQA" in ExCAM): questions of 9 places. Freeform QA, soft.

Language and place come from the folder of a file (the release's config). ExCAM names no key for stratified drawing:
language and place are ours (spec 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import identifier, text
from excam.exceptions import SourceInvalid
from excam.records import BaseSample

NAME = "nativqa"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("*/NativQA_*.json", "*/NativQA_*.jsonl", "*/NativQA_*.tsv", "*/*/NativQA_*.json"),
    hub="QCRI/MultiNativQA",
    homepage="https://huggingface.co/datasets/QCRI/MultiNativQA",
)
ERRORS: base.Errors = "soft"

CONFIGS = {
    "arabic_qa": ("Arabic", "Qatar"),
    "assamese_in": ("Assamese", "India"),
    "bangla_bd": ("Bengali", "Bangladesh"),
    "bangla_in": ("Bengali", "India"),
    "english_bd": ("English", "Bangladesh"),
    "english_qa": ("English", "Qatar"),
    "hindi_in": ("Hindi", "India"),
    "nepali_np": ("Nepali", "Nepal"),
    "turkish_tr": ("Turkish", "Turkey"),
}


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot, all splits of all configs. Raises SourceInvalid, also for an unknown config."""
    return base.gather(NAME, _outcomes(folder))


def _outcomes(folder: Path) -> Iterator[tuple[Path, base.Outcome]]:
    for path in base.find(folder, NAME, SOURCE.files):
        config = path.parent.name
        if config not in CONFIGS:
            raise SourceInvalid(
                f"{NAME}: {config}/{path.name}: unknown config {config}; known: {', '.join(CONFIGS)}; "
                f"add it to excam/datasets/nativqa.py"
            )
        for row in base.table(path, NAME, ("data_id", "question", "answer")):
            yield path, _outcome(row, config)


def _outcome(row: Mapping[str, Any], config: str) -> base.Outcome:
    answer = text(row, "answer")
    if not answer:
        return "no-answer"
    language, country = CONFIGS[config]
    return BaseSample(
        id=identifier(NAME, config, text(row, "data_id")),
        dataset=NAME,
        task="freeform",
        question=text(row, "question"),
        answer=answer,
        language=language,
        culture=country,
        stratum=config,
    )

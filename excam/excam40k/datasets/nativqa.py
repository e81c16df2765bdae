"""MultiNativQA (Hasan et al., Findings of ACL 2025; "MNQA" in ExCAM): questions of 9 places. Freeform QA, soft.

Language and place come from the folder of a file (the release's config). ExCAM names no key for stratified drawing:
language and place are ours.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.core.exceptions import SourceInvalid
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import identifier

VERSION = 2
NAME = "nativqa"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("*/NativQA_*.json", "*/NativQA_*.jsonl", "*/NativQA_*.tsv", "*/*/NativQA_*.json"),
    hub="QCRI/MultiNativQA",
    homepage="https://huggingface.co/datasets/QCRI/MultiNativQA",
    title="NativQA",
    citation="Hasan et al. 2025. NativQA: Multilingual Culturally-Aligned Natural Query for LLMs. Findings of ACL 2025",
)
TASK: base.Task = "freeform"
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
    """Return base samples of a snapshot, all splits of all configs.

    Raises SourceInvalid, also for an unknown config.
    """
    paths = base.find(folder, NAME, SOURCE.files)
    frame = pl.concat([_read_rows(path) for path in paths], how="diagonal")
    return base.gather(NAME, TASK, frame)


def _read_rows(path: Path) -> pl.DataFrame:
    config = path.parent.name
    if config not in CONFIGS:
        raise SourceInvalid(
            f"{NAME}: {config}/{path.name}: unknown config {config}; known: {', '.join(CONFIGS)}; "
            f"add it to excam/excam40k/datasets/nativqa.py"
        )
    language, country = CONFIGS[config]
    return base.fields(
        base.table(path, NAME, ("data_id", "question", "answer")),
        id=identifier(NAME, pl.lit(config), pl.col("data_id")),
        question=pl.col("question"),
        answer=pl.col("answer"),
        language=pl.lit(language),
        culture=pl.lit(country),
        stratum=pl.lit(config),
        reason=base.first_reason(no_answer=pl.col("answer") == ""),
    )

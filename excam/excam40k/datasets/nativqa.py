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
    _refuse_others(folder, paths)
    frame = pl.concat([_read_rows(path) for path in paths], how="diagonal")
    return base.gather(NAME, TASK, frame)


def _refuse_others(folder: Path, paths: list[Path]) -> None:
    """Raise SourceInvalid if files of a second format add a config or a split to those that are read."""
    present = sorted({path for pattern in SOURCE.files for path in folder.glob(pattern)})
    read_too = {(path.parent.name, path.stem) for path in paths}
    if others := [path for path in present if (path.parent.name, path.stem) not in read_too]:
        names = ", ".join(path.relative_to(folder).as_posix() for path in (paths[0], *others[:7]))
        raise SourceInvalid(f"{NAME}: files of several formats that differ: {names}; keep one format")


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

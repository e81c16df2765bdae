"""MultiNativQA (Hasan et al., Findings of ACL 2025; "MNQA" in ExCAM): questions of 9 places. Freeform QA, soft.

Language and place come from the folder of a file (the release's config). ExCAM names no key for stratified drawing:
language and place are ours (spec 5).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from excam.datasets import base
from excam.datasets._cells import identifier
from excam.exceptions import SourceInvalid

NAME = "nativqa"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("*/NativQA_*.json", "*/NativQA_*.jsonl", "*/NativQA_*.tsv", "*/*/NativQA_*.json"),
    hub="QCRI/MultiNativQA",
    homepage="https://huggingface.co/datasets/QCRI/MultiNativQA",
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
    """Base samples of a snapshot, all splits of all configs. Raises SourceInvalid, also for an unknown config."""
    paths = base.find(folder, NAME, SOURCE.files)
    _refuse_others(folder, paths)
    frame = pl.concat([_rows(path) for path in paths], how="diagonal")
    return base.gather(NAME, TASK, frame)


def _refuse_others(folder: Path, paths: list[Path]) -> None:
    """Files of a second format may repeat those that are read, and may not add a config or a split unseen."""
    present = sorted({path for pattern in SOURCE.files for path in folder.glob(pattern)})
    read_too = {(path.parent.name, path.stem) for path in paths}
    if others := [path for path in present if (path.parent.name, path.stem) not in read_too]:
        names = ", ".join(path.relative_to(folder).as_posix() for path in (paths[0], *others[:7]))
        raise SourceInvalid(f"{NAME}: files of several formats that differ: {names}; keep one format")


def _rows(path: Path) -> pl.DataFrame:
    config = path.parent.name
    if config not in CONFIGS:
        raise SourceInvalid(
            f"{NAME}: {config}/{path.name}: unknown config {config}; known: {', '.join(CONFIGS)}; "
            f"add it to excam/datasets/nativqa.py"
        )
    language, country = CONFIGS[config]
    return base.table(path, NAME, ("data_id", "question", "answer")).with_columns(
        id=identifier(NAME, pl.lit(config), pl.col("data_id")),
        language=pl.lit(language),
        culture=pl.lit(country),
        stratum=pl.lit(config),
        reason=base.first(no_answer=pl.col("answer") == ""),
    )

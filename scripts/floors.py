"""Compute the trivial baselines of each test set: constant, lengths, words, templates, random; and votes of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import tables
from excam.error_reports import record_files
from excam.excam40k import agreement, trivial_baselines
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/paper/floors",
    "outputs": ["numbers"],
    "category": "Results",
    "target": "paper",
    "inputs": {"samples": "all_splits", "bases": "bases"},
    "settings": {"seed": "seed"},
}
TESTS = ("test", "test-100")
COLUMNS = (
    *("floor", "dataset", "split", "scaled_accuracy", "low", "high", "kendall_b", "tie_calibrated_accuracy"),
    *("n", "groups", "rule"),
)


@step
def main(
    samples_paths: Annotated[Sequence[Path], "excam40k/<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "samples/<dataset>.bases.jsonl"],
    seed: int,
    numbers_path: Path,
) -> None:
    parts: dict[str, dict[str, pl.DataFrame]] = {}
    for path in samples_paths:
        parts.setdefault(path.parent.name, {})[path.stem] = tables.read_frame(path)
    parts["all"] = {split: pl.concat([own[split] for own in parts.values()]) for split in ("train", "dev", *TESTS)}
    known = agreement.of(base for path in bases_paths for base in record_files.read_bases(path))
    lines = [line for dataset, own in parts.items() for line in _lines(dataset, own, seed, known)]
    tables.write_lines(numbers_path, COLUMNS, lines)


def _lines(dataset: str, own: dict[str, pl.DataFrame], seed: int, known: Mapping[str, float]) -> list[dict[str, Any]]:
    learned = pl.concat([own["train"], own["dev"]])
    return [
        {
            **{name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(floor).items()},
            **{"dataset": dataset, "split": split, "rule": trivial_baselines.RULES[floor.floor]},
        }
        for split in TESTS
        if own[split].height
        for floor in trivial_baselines.measure_baselines(learned, own[split], seed, known)
    ]


if __name__ == "__main__":
    run(main)

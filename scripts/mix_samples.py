"""Mix the training rows of one adapter: the train (or dev) sets of all datasets, or of all but one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance
from excam.core.exceptions import ConfigInvalid
from excam.error_reports import record_files
from excam.error_reports.records import to_row
from excam.excam40k.construction import duplicates, splits
from scripts import run, step

VERSION = 2


@step
def main(
    trained_on: str,
    near_duplicates_path: Annotated[Path, "near-duplicates.csv of the whole set"],
    seed: int,
    mixture_path: Path,
    counts_path: Path,
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"] = (),
    rows: Annotated[int | None, "at most this many, drawn evenly over datasets"] = None,
) -> None:
    by_dataset = {path.parent.name: record_files.read_samples(path) for path in samples_paths}
    if trained_on.startswith("without-"):
        by_dataset.setdefault(trained_on.removeprefix("without-"), [])  # what is left out need not be there
    leaking = set(duplicates.read(near_duplicates_path).filter(pl.col("leak"))["base_a"])
    mixed = splits.mixture(by_dataset, trained_on, rows, seed=seed, leaking=leaking)
    if not mixed:
        raise ConfigInvalid(f"{trained_on}: no rows in {len(by_dataset)} datasets; check `datasets`, `mixtures`")
    with provenance.publish(mixture_path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample in mixed:
            stream.write(json.dumps(to_row(sample), ensure_ascii=False) + "\n")
    pool = [sample for samples in by_dataset.values() for sample in samples]
    left_out = sum(sample.base in leaking for sample in pool)
    counts = {
        "rows": len(mixed),
        "by_dataset": dict(sorted(Counter(sample.dataset for sample in mixed).items())),
        "near_duplicates_of_judged_rows": left_out,
        "not_drawn": len(pool) - len(mixed) - left_out,
    }
    provenance.write_json(counts_path, counts)
    provenance.say(f"{mixture_path}: {counts}")


if __name__ == "__main__":
    run(main)

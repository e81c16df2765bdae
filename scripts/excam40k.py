"""Make the data set of its pairs: splits, mixtures, subsets and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance, tables
from excam.core.exceptions import ConfigInvalid, SourceInvalid
from excam.core.provenance import read_json, write_text
from excam.core.splits import SPLITS, Split
from excam.error_reports import record_files
from excam.error_reports.records import to_row
from excam.excam40k.construction import duplicates, splits
from excam.excam40k.publishing import counts
from scripts import step


@step(
    version=8,
    inputs={"right": "results/samples/{dataset}.parquet", "wrong": "corrupted_rows", "too_long": "long_rows"},
    settings={"cap": "final_cap", "seed": "seed", "folder": "excam40k_folder"},
    outputs={
        "train": "results/excam40k/{dataset}/train.parquet",
        "dev": "results/excam40k/{dataset}/dev.parquet",
        "test": "results/excam40k/{dataset}/test.parquet",
        "counts": "results/excam40k/{dataset}/counts.json",
    },
    silent=["train", "dev", "test", "counts"],
    wildcards={"dataset": "datasets"},
    local=False,
)
def split_samples(
    right_path: Path,
    wrong_path: Path,
    seed: int,
    folder_path: Path,
    too_long_path: Annotated[Path | None, "pairs to leave out: <dataset>.too-long.json"] = None,
    cap: Annotated[int | None, "at most this many final rows"] = None,
) -> None:
    """Split original pairs and their corrupted versions of one dataset into train, dev and test."""
    too_long = provenance.read_json(too_long_path, "pairs")["pairs"] if too_long_path else []
    originals, wrong = record_files.read_samples(right_path), record_files.read_samples(wrong_path)
    right = splits.without_pairs(originals, too_long)
    pairs, dropped = splits.pair_up(right, splits.without_pairs(wrong, too_long))
    dropped += Counter({"too-long": len(originals) - len(right)})
    if not pairs:
        raise SourceInvalid(
            f"{wrong_path}: 0 complete pairs ({dict(dropped)}); expected at least one wrong row of a pair"
        )
    capped = splits.cap(pairs, cap, seed) if cap else pairs
    parts = {split: [sample for sample in capped if sample.split == split] for split in SPLITS}
    cells = {split: splits.cells(samples) for split, samples in parts.items()}
    for split, samples in parts.items():
        record_files.write_samples(folder_path / f"{split}.parquet", samples)
    counts: dict[str, object] = {split: len(samples) for split, samples in parts.items()}
    counts |= {"pairs": len(pairs) // 2, "beyond_cap": len(pairs) - len(capped), "dropped": dict(dropped)}
    counts |= {"rows": len(capped), "cells": cells}
    counts |= {kind: sum(cell[f"wrong_{kind}"] for cell in cells.values()) for kind in ("hard", "soft")}
    provenance.write_json(folder_path / "counts.json", counts)
    provenance.say(f"{folder_path}: {len(pairs) // 2} pairs; dropped {dict(dropped)}")


@step(
    version=2,
    inputs={"samples": "train_sets", "near_duplicates": "results/excam40k/near-duplicates.csv"},
    settings={"rows": "training.rows", "seed": "seed"},
    outputs={
        "mixture": "results/mixtures/{trained_on}/{split}.jsonl",
        "counts": "results/mixtures/{trained_on}/{split}.counts.json",
    },
    wildcards={"trained_on": "mixtures", "split": ["train", "dev"]},
    local=False,
)
def mix_samples(
    trained_on: str,
    near_duplicates_path: Annotated[Path, "near-duplicates.csv of the whole set"],
    seed: int,
    mixture_path: Path,
    counts_path: Path,
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"] = (),
    rows: Annotated[int | None, "at most this many, drawn evenly over datasets"] = None,
) -> None:
    """Mix the training rows of one adapter: the train (or dev) sets of all datasets, or of all but one."""
    by_dataset = {path.parent.name: record_files.read_samples(path) for path in samples_paths}
    if trained_on.startswith("without-"):
        by_dataset.setdefault(trained_on.removeprefix("without-"), [])  # what is left out need not be there
    leaking = set(duplicates.read(near_duplicates_path).filter(pl.col("leak"))["base_a"])
    mixed = splits.mixture(by_dataset, trained_on, rows, seed=seed, leaking=leaking)
    if not mixed:
        raise ConfigInvalid(f"{trained_on}: no rows in {len(by_dataset)} datasets; check `datasets`, `mixtures`")
    tables.write_jsonl(mixture_path, map(to_row, mixed))
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


@step(
    version=1,
    inputs={"samples": "test_sets"},
    settings={"rows": "construction.subset", "seed": "seed"},
    outputs={"subset": "results/excam40k/*/test-100.parquet"},
)
def draw_subset(
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"],
    rows: int,
    seed: int,
    subset_paths: Annotated[Sequence[Path], "one of each"],
) -> None:
    """Draw the balanced subset of each dataset's test set, for judges that are paid per row."""
    for samples_path, subset_path in zip(samples_paths, subset_paths, strict=True):
        drawn = splits.balanced_subset(record_files.read_samples(samples_path), rows, seed)
        record_files.write_samples(subset_path, drawn)
        provenance.say(f"{subset_path}: {len(drawn)} rows; at most {rows} were asked for")


@step(
    version=2,
    inputs={"bases": "results/samples/*.bases.jsonl", "samples": "train_dev_test"},
    outputs={"near_duplicates": "results/excam40k/near-duplicates.csv"},
    local=False,
)
def find_near_duplicates(
    bases_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    near_duplicates_path: Path,
) -> None:
    """Find near-duplicate questions within and across the benchmarks of the data set, and those that leak."""
    rows = (tables.read_frame(path).select("base", "split").iter_rows() for path in samples_paths)
    splits: dict[str, Split] = dict(chain.from_iterable(rows))
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    pairs = duplicates.near_duplicate_rows(bases, splits)
    tables.write_csv(near_duplicates_path, pairs)
    provenance.say(f"{near_duplicates_path}: {pairs.height} pairs, {pairs['leak'].sum()} of them would leak")


@step(
    version=4,
    result="results/paper/table-2",
    outputs=["numbers", "page"],
    category="Data",
    target="paper",
    inputs={
        "counts": "results/excam40k/*/counts.json",
        "printed": "paper/table-2.csv",
        "printed_claims": "paper/claims.csv",
    },
    more={"claims": "results/paper/table-2-claims.csv"},
)
def table_2(
    counts_paths: Annotated[Sequence[Path], "<dataset>/counts.json"],
    printed_path: Annotated[Path, "paper/table-2.csv"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    numbers_path: Path,
    claims_path: Path,
    page_path: Path,
) -> None:
    """Write Table 2: rows per dataset, split and label, beside the paper's numbers.

    Rows per dataset, split and label, and the paper's numbers beside ours (``_paper``, ``_difference``; it prints
    hundreds). Right and wrong rows come in pairs with the same templates, so each dataset and split is half right, half
    wrong. ``without_twin`` counts rows whose wrong version could not be made; the reasons are in
    ``results/excam40k/<dataset>/counts.json`` and ``results/errors/soft/<dataset>.counts.json``. The paper's own totals
    contradict each other: ``results/paper/table-2.md``.
    """
    dataset_lines = [counts.dataset_counts(path.parent.name, read_json(path)) for path in counts_paths]
    lines = counts.with_reported_numbers(dataset_lines, tables.read_lines(printed_path))
    claims = counts.claims(lines[-1], tables.read_lines(printed_claims_path))
    tables.write_lines(numbers_path, counts.COLUMNS, lines)
    tables.write_lines(claims_path, counts.CLAIM_COLUMNS, claims)
    write_text(page_path, counts.page(lines, claims))

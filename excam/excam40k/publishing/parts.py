"""The shards of a published build: one Parquet file per licence, dataset and split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from excam.core import tables
from excam.core.licences import is_permissive, licence_kind, may_be_adapted
from excam.core.provenance import read_json, remove_published
from excam.core.splits import SPLITS, Split
from excam.error_reports import record_files
from excam.error_reports.records import BaseSample, Sample, flat, to_row
from excam.excam40k.publishing import folder_of
from excam.excam40k.publishing.about import citation, title

SUBSET = "test-100"
LABELS = {"right": "right", "wrong_hard": "hard", "wrong_soft": "soft"}  # and how tables call them
HEAD = tuple(f"{split}: {label}" for split in SPLITS for label in LABELS.values())

# The errors as they are, not as JSON text; what others answer, of the base sample; a mark in place of a fourth file
# that would repeat rows of `test`.
_TEXTS = dict.fromkeys(("where", "span", "severity", "type"), pl.String)
ERROR = pl.Struct({**_TEXTS, "start": pl.Int64, "end": pl.Int64})
SCHEMA: Mapping[str, Any] = {
    **record_files.SAMPLE_SCHEMA,
    "errors": pl.List(ERROR),
    "agreement": pl.Float64,
    "asked": pl.Int64,
    "in_test_100": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class DatasetPart:
    """One dataset under one licence: a folder of the build."""

    dataset: str
    licence: str
    splits: Mapping[Split, tuple[Sample, ...]]
    subset: frozenset[str]  # ids of the balanced subset for paid judges
    origin: str  # as in the manifest of the source, e.g. "hub nayeon212/BLEnD"
    revision: str
    generators: tuple[str, ...]  # who wrote its soft errors
    kind: str  # what its licence asks, as `licence_kind` says it
    title: str
    citation: str
    bases: Mapping[str, BaseSample] = field(default_factory=dict[str, BaseSample])  # by id, where they are known

    @property
    def folder(self) -> str:
        return f"{folder_of(self.licence)}/{self.dataset}"

    @property
    def samples(self) -> tuple[Sample, ...]:
        return tuple(sample for split in SPLITS for sample in self.splits[split])

    @property
    def files(self) -> dict[str, tuple[Sample, ...]]:
        """Return path in the build -> rows. A split without rows has no file: `datasets` cannot load an empty one."""
        return {f"{self.folder}/{split}.parquet": rows for split, rows in self.splits.items() if rows}


def read(
    samples: Iterable[Path],
    sources: Iterable[Path],
    soft: Iterable[Path],
    bases: Iterable[Path],
    benchmarks: Mapping[str, Mapping[str, Any]],
    build: str,
) -> tuple[list[DatasetPart], list[DatasetPart]]:
    """Return parts of a build from `<dataset>/<split>.parquet`, source manifests, counts of soft errors and
    `<dataset>.bases.jsonl`, by licence; and apart those that may not be passed on in a changed form.

    `benchmarks`: `terms` of the licence by dataset, and `title` and `citation` of those outside of the package.
    `permissive` keeps the rows under a permissive licence and nothing else, whatever it is given.
    """
    rows = {(path.parent.name, path.stem): record_files.read_samples(path) for path in samples}
    licences = {(row.licence, dataset) for (dataset, split), part in rows.items() if split in SPLITS for row in part}
    origins = {path.parent.name: read_json(path, "origin", "revision") for path in sources}
    writers = {path.name.removesuffix(".counts.json"): read_json(path) for path in soft}
    made_from = {
        path.name.removesuffix(".bases.jsonl"): {base.id: base for base in record_files.read_bases(path)}
        for path in bases
    }
    terms = {dataset: tuple(benchmark["terms"] or ()) for dataset, benchmark in benchmarks.items()}
    parts = [
        DatasetPart(
            dataset,
            licence,
            {s: tuple(row for row in rows[dataset, s] if row.licence == licence) for s in SPLITS},
            frozenset(row.id for row in rows[dataset, SUBSET]),
            origins[dataset]["origin"],
            origins[dataset]["revision"],
            tuple(writers.get(dataset, {}).get("generators", ())),
            licence_kind(licence, terms.get(dataset, ())),
            benchmarks.get(dataset, {}).get("title") or title(dataset),
            benchmarks.get(dataset, {}).get("citation") or citation(dataset),
            made_from.get(dataset, {}),
        )
        for licence, dataset in sorted(licences)
        if build == "all" or is_permissive(licence)
    ]
    withheld = [part for part in parts if not may_be_adapted(part.licence, terms.get(part.dataset, ()))]
    return [part for part in parts if part not in withheld], withheld


def write(parts: Sequence[DatasetPart], folder: Path) -> list[Path]:
    """Write every shard below `folder`; remove Parquet files of an earlier build that are no longer part of it."""
    written = []
    for part in parts:
        for name, rows in part.files.items():
            tables.write_frame(folder / name, frame(rows, part.subset, part.bases))
            written.append(folder / name)
    for stale in set(folder.glob("*/*/*.parquet")) - set(written):
        remove_published(stale)
    return written


def frame(samples: Iterable[Sample], subset: frozenset[str], bases: Mapping[str, BaseSample]) -> pl.DataFrame:
    """Return rows as they are published: nested errors, the gold score, how many others give the right answer, and
    whether a row is in the balanced subset.
    """
    rows = [
        {
            **to_row(s),
            "errors": [flat(error) for error in s.report.errors],
            "agreement": bases[s.base].agreement if s.base in bases else None,
            "asked": bases[s.base].asked if s.base in bases else None,
            "in_test_100": s.id in subset,
        }
        for s in samples
    ]
    return pl.DataFrame(rows, schema=dict(SCHEMA), orient="row")

"""The contract of a benchmark module, and the only import of the Hugging Face `datasets` library.

A module in this folder provides:

    SOURCE: Source                      where the official files are, under which licence
    ERRORS: "hard" | "soft"             how its rows are made wrong (spec 20, 22)
    def read(folder: Path) -> Reading   snapshot -> base samples, dropped rows counted by reason

For those modules: `find` and `table` (files to rows), `gather` (rows to a Reading); cells become fields in `_cells.py`.
For the workflow: `stratified` (spec 5).
"""

from __future__ import annotations

import csv
import logging
import re
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from excam.datasets._cells import digest
from excam.datasets._plain import header, parsed
from excam.exceptions import SourceInvalid
from excam.records import BaseSample

Errors = Literal["hard", "soft"]
Outcome = BaseSample | str  # what one row of a source becomes: a sample, or the reason why there is none
Rows = list[dict[str, Any]]

LONGEST_ROW = 20_000  # characters of all fields together; longer rows are scraping accidents and no model reads them

_FORMATS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
# What csv, json, gzip, pandas, pyarrow and `datasets` raise on a damaged file (their own classes derive from these).
_DAMAGED = (OSError, ValueError, TypeError, KeyError, EOFError, StopIteration, RuntimeError, csv.Error, zlib.error)
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """The official release: a hub id or a URL, its licence (SPDX), and the files of it that we read (glob patterns)."""

    licence: str
    files: tuple[str, ...]
    hub: str = ""
    url: str = ""
    homepage: str = ""


@dataclass(slots=True)
class Reading:
    """Base samples of one snapshot, how many rows were read, why rows were dropped, and what the snapshot lacks."""

    samples: list[BaseSample] = field(default_factory=list)
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    lacks: tuple[str, ...] = ()  # e.g. ("Background", "Explanation"): official columns a documented variant is without


class Benchmark(Protocol):
    SOURCE: Source
    ERRORS: Errors

    def read(self, folder: Path) -> Reading: ...


def find(folder: Path, dataset: str, patterns: Sequence[str]) -> list[Path]:
    """Files of a snapshot that match the first pattern with any match, sorted. Raises SourceInvalid when none does."""
    for pattern in patterns:
        if found := sorted(path for path in folder.glob(pattern) if path.is_file()):
            return found
    present = ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file())[:8]) or "nothing"
    raise SourceInvalid(
        f"{dataset}: no file matches {' or '.join(patterns)}; found {present}; check datasets.{dataset}.source"
    )


def table(path: Path, dataset: str, required: Iterable[str], optional: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Rows of a CSV, TSV, JSON Lines, JSON or Parquet file (also gzipped) through `datasets`, as dictionaries.

    A row holds the named columns that the file has: text for CSV ("NA" and "None" stay text), the name for a
    ClassLabel, None for a null. Raises SourceInvalid when the file is empty, unreadable or lacks a required column.
    """
    required = tuple(required)
    expected = ", ".join(required)
    try:
        columns, rows = _load(path, {*required, *optional})
    except _DAMAGED as damage:
        reason = " ".join(str(damage).split())[:200] or type(damage).__name__
        raise SourceInvalid(f"{dataset}: {path.name}: not readable: {reason}; fetch the file again") from damage
    if not rows:
        raise SourceInvalid(f"{dataset}: {path.name}: no rows; expected rows with {expected}; fetch the file again")
    if missing := [name for name in required if name not in columns]:
        raise SourceInvalid(
            f"{dataset}: {path.name}: no column {', '.join(missing)}; expected {expected}; "
            f"found {', '.join(columns)}; check the pinned revision"
        )
    return iter(rows)


def _load(path: Path, wanted: set[str]) -> tuple[list[str], Rows]:
    suffix = Path(path.name.removesuffix(".gz")).suffix
    form = _FORMATS.get(suffix, "")
    if form == "csv":
        delimiter = "\t" if suffix == ".tsv" else ","
        if not (columns := header(path, delimiter)):
            return [], []
        return _streamed(form, path, wanted, columns, sep=delimiter, keep_default_na=False)
    if form == "parquet":
        return _streamed(form, path, wanted)
    if form == "json":
        try:
            return _streamed(form, path, wanted)
        except _DAMAGED:
            return parsed(path, wanted)
    raise ValueError(f"unknown format {suffix!r}, expected one of {', '.join(_FORMATS)}, also with .gz")


@contextmanager
def _silent() -> Iterator[None]:
    """`datasets` neither counts the load on a server nor logs what `table` is about to say in one line."""
    from datasets import config

    logger, counting = logging.getLogger("datasets"), config.HF_UPDATE_DOWNLOAD_COUNTS
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    config.HF_UPDATE_DOWNLOAD_COUNTS = False
    try:
        yield
    finally:
        logger.setLevel(level)
        config.HF_UPDATE_DOWNLOAD_COUNTS = counting


def _streamed(
    form: str, path: Path, wanted: set[str], columns: Sequence[str] = (), **options: Any
) -> tuple[list[str], Rows]:
    import datasets

    if columns:
        options["features"] = datasets.Features({name: datasets.Value("string") for name in columns})
    with tempfile.TemporaryDirectory() as cache, _silent():
        file = (
            Path(cache) / f"rows.{form}{'.gz' * (path.suffix == '.gz')}"
        )  # for `datasets`, brackets in a path are a pattern
        file.symlink_to(path.resolve())
        stream = datasets.load_dataset(
            form, data_files=[str(file)], split="train", streaming=True, cache_dir=cache, **options
        )
        rows = [{name: row[name] for name in row if name in wanted} for row in stream]
        features = stream.features or {}
    kinds = {name: kind for name, kind in features.items() if name in wanted}
    if form == "json" and any("Json(" in str(kind) or "timestamp" in str(kind) for kind in kinds.values()):
        raise ValueError("a column of mixed types, or text taken for a date")  # read plainly instead: nothing guessed
    for name, kind in kinds.items():
        if isinstance(kind, datasets.ClassLabel):
            for row in rows:
                row[name] = None if row[name] is None else kind.int2str(row[name])
    return list(features) or list(rows[0] if rows else ()), rows


def gather(
    dataset: str,
    outcomes: Iterable[tuple[Path, Outcome]],
    repeated: Literal["refuse", "drop"] = "refuse",
    lacks: tuple[str, ...] = (),
) -> Reading:
    """Collect the outcome of every row, given with its file; unusable and dropped rows are counted by reason.

    An id seen before is refused where ids are the source's own, dropped ("duplicate") where they are made of the
    content. Raises SourceInvalid for a refused id and when no row is left.
    """
    reading = Reading(lacks=lacks)
    seen: set[str] = set()
    for path, outcome in outcomes:
        reading.rows += 1
        reason = outcome if isinstance(outcome, str) else _flaw(outcome)
        if not reason and isinstance(outcome, BaseSample):
            if outcome.id not in seen:
                seen.add(outcome.id)
                reading.samples.append(outcome)
                continue
            if repeated == "refuse":
                raise SourceInvalid(f"{dataset}: {path.name}: id {outcome.id} occurs twice; fetch the file again")
            reason = "duplicate"
        reading.dropped[reason] += 1
    if not reading.samples:
        why = ", ".join(f"{reason} {count}" for reason, count in reading.dropped.items())
        raise SourceInvalid(
            f"{dataset}: none of {reading.rows} rows is usable ({why}); check datasets.{dataset}.source"
        )
    return reading


def _flaw(sample: BaseSample) -> str:
    texts = (sample.question, sample.answer, sample.role, sample.context, *sample.options, *sample.wrong)
    if not sample.id:
        return "no-id"
    if not (sample.question and sample.answer):
        return "empty"
    if not (sample.stratum and sample.culture and sample.language):
        return "no-culture"
    if sum(map(len, texts)) > LONGEST_ROW:
        return "too-long"
    return "not-unicode" if any(map(_SURROGATES.search, texts)) else ""


def stratified(samples: Sequence[BaseSample], limit: int, seed: int) -> list[BaseSample]:
    """At most `limit` samples, as equally many of every stratum as there are (spec 5), sorted by id.

    Inside a stratum the order is that of SHA-256(seed, id), so that rows added elsewhere reshuffle nothing.
    """
    strata: dict[str, list[BaseSample]] = defaultdict(list)
    for sample in samples:
        strata[sample.stratum].append(sample)
    quotas = _quotas({name: len(members) for name, members in strata.items()}, limit, seed)
    drawn = (
        sample
        for name, members in strata.items()
        for sample in sorted(members, key=lambda sample: (digest(str(seed), sample.id), sample.id))[: quotas[name]]
    )
    return sorted(drawn, key=lambda sample: sample.id)


def _quotas(sizes: Mapping[str, int], limit: int, seed: int) -> dict[str, int]:
    """Water-filling: strata below the common level give all they have, the others share the rest."""
    quotas: dict[str, int] = {}
    waiting = sorted(sizes, key=lambda name: (digest(str(seed), name), name))  # the first get what does not divide
    left = max(limit, 0)
    while waiting and (small := [name for name in waiting if sizes[name] <= left // len(waiting)]):
        quotas |= {name: sizes[name] for name in small}
        left -= sum(sizes[name] for name in small)
        waiting = [name for name in waiting if name not in quotas]
    for place, name in enumerate(waiting):
        quotas[name] = left // len(waiting) + (place < left % len(waiting))
    return quotas

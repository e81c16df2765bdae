"""The contract of a benchmark module, and the only import of the Hugging Face `datasets` library.

A module in this folder provides:

    SOURCE: Source                      where the official files are, under which licence
    ERRORS: "hard" | "soft"             how its rows are made wrong (spec 20, 22)
    VERSION: int                        raised when the rows that `read` gives change
    def read(folder: Path) -> Reading   snapshot -> base samples, dropped rows counted by reason
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from excam.exceptions import SourceInvalid
from excam.records import BaseSample

Errors = Literal["hard", "soft"]


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
    VERSION: int

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

    Raises SourceInvalid when the file is empty, unreadable or lacks a required column.
    """
    raise SourceInvalid(f"{dataset}: {path.name}: not readable")  # replaced by the full reader

"""The contract of a benchmark module. Of Hugging Face `datasets` it needs one thing: the names of a ClassLabel.

A module in this folder provides:

    SOURCE: Source                      where the official files are, under which licence
    TASK: Task                          how its rows are wrapped (spec 18)
    ERRORS: "hard" | "soft"             how its rows are made wrong (spec 20, 22)
    def read(folder: Path) -> Reading   snapshot -> base samples as a frame, dropped rows counted by reason

For those modules: `find`, `find_one`, `shards` and `table` (files to a frame), `first` (why a row is dropped), `gather`
(a frame to a Reading); cells become fields in `_cells.py`. For the workflow: `stratified`, in `_drawing.py`.
"""

from __future__ import annotations

import csv
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import polars as pl

from excam.datasets import _files
from excam.datasets._cells import ESCAPED, cleaned, mark
from excam.datasets._drawing import stratified as stratified
from excam.datasets._plain import HALF
from excam.exceptions import SourceInvalid, in_a_line
from excam.hostile import CHAT_CONTROL, LONGEST_ROW
from excam.records import BaseSample
from excam.records import Errors as Errors
from excam.records import Task as Task

# The fields of a base sample that a frame holds; `dataset` and `task` are the same for all rows.
TEXTS = ("id", "question", "answer", "language", "culture", "stratum", "role", "context", "group", "label")
LISTS = ("options", "wrong")
FIELDS = (*TEXTS, *LISTS)
_FILE = "_file"  # hidden column: where a row comes from

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_FORMATS = (*_SEPARATORS, ".json", ".jsonl", ".parquet")
# What polars, csv, json, gzip and pyarrow raise on a damaged file (their own classes derive from these).
_DAMAGED = (*_files.DAMAGED, OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, csv.Error, zlib.error)


@dataclass(frozen=True, slots=True)
class Source:
    """The official release: a hub id or a URL, its licence (SPDX), and the files of it that we read (glob patterns)."""

    licence: str
    files: tuple[str, ...]
    hub: str = ""
    url: str = ""
    homepage: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The usable rows of one snapshot, what was dropped or changed and why, and what the snapshot lacks."""

    dataset: str
    task: Task
    frame: pl.DataFrame  # columns FIELDS, in the order of the source
    rows: int
    dropped: Counter[str] = field(default_factory=Counter)
    escaped: Counter[str] = field(default_factory=Counter)  # rows kept with text changed for safety
    lacks: tuple[str, ...] = ()  # e.g. ("Background", "Explanation"): official columns a documented variant is without

    def samples(self, frame: pl.DataFrame | None = None) -> list[BaseSample]:
        """Base samples of the whole frame, or of rows drawn from it."""
        rows = (self.frame if frame is None else frame).iter_rows(named=True)
        return [BaseSample(**row | _lists(row), dataset=self.dataset, task=self.task) for row in rows]


def _lists(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(row[name]) for name in LISTS}


class Benchmark(Protocol):
    """What a module of `excam.datasets` provides."""

    SOURCE: Source
    TASK: Task
    ERRORS: Errors

    def read(self, folder: Path) -> Reading: ...


def find(folder: Path, dataset: str, patterns: Sequence[str]) -> list[Path]:
    """Files of a snapshot that match the first pattern with any match, sorted. Raises SourceInvalid when none does."""
    for pattern in patterns:
        if found := sorted(path for path in folder.glob(pattern) if path.is_file()):
            return found
    present = ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file())[:8]) or "nothing"
    raise SourceInvalid(
        f"{dataset}: no file matches {' or '.join(patterns)}; found {present}; check config.yaml: datasets.{dataset}"
    )


def find_one(folder: Path, dataset: str, patterns: Sequence[str]) -> Path:
    """The file that `find` finds. Raises SourceInvalid when it finds several: none is left out unseen."""
    return _only(folder, dataset, find(folder, dataset, patterns))


def shards(folder: Path, dataset: str, patterns: Sequence[str]) -> list[Path]:
    """The file that `find` finds, or all pieces that a Parquet file may be cut into."""
    found = find(folder, dataset, patterns)
    return found if found[0].suffix == ".parquet" else [_only(folder, dataset, found)]


def _only(folder: Path, dataset: str, found: Sequence[Path]) -> Path:
    if len(found) > 1:
        names = ", ".join(path.relative_to(folder).as_posix() for path in found[:8])
        raise SourceInvalid(f"{dataset}: expected one file; found {names}; leave one in the folder")
    return found[0]


def table(
    path: Path, dataset: str, required: Iterable[str], optional: Iterable[str] = (), lists: Iterable[str] = ()
) -> pl.DataFrame:
    """The named columns that a CSV, TSV, JSON Lines, JSON or Parquet file (also gzipped) has, as clean text.

    A null is empty text; those named in `lists` too are lists of text, null where the cell is no list; a ClassLabel is
    its name. Raises SourceInvalid when the file is empty, unreadable or lacks a required column.
    """
    required = tuple(required)
    expected = ", ".join(required)
    kinds = dict.fromkeys((*required, *optional), pl.String()) | dict.fromkeys(lists, pl.List(pl.String))
    try:
        columns, frame = _load(path, kinds)
    except _DAMAGED as damage:
        reason = in_a_line(damage)
        raise SourceInvalid(f"{dataset}: {path.name}: not readable: {reason}; fetch the file again") from damage
    if frame.is_empty():
        raise SourceInvalid(f"{dataset}: {path.name}: no rows; expected rows with {expected}; fetch the file again")
    if missing := [name for name in required if name not in columns]:
        raise SourceInvalid(
            f"{dataset}: {path.name}: no column {', '.join(missing)}; expected {expected}; "
            f"found {', '.join(columns)}; check the pinned revision"
        )
    return cleaned(frame, kinds.keys() & set(frame.columns)).with_columns(pl.lit(path.name).alias(_FILE))


def _load(path: Path, wanted: _files.Wanted) -> _files.Read:
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix in _SEPARATORS:
        return _files.csv_rows(path, _SEPARATORS[suffix], wanted)
    if suffix == ".parquet":
        return _files.parquet_rows(path, wanted, _class_labels(path))
    if suffix in _FORMATS:
        return _files.json_rows(path, wanted)
    raise ValueError(f"unknown format {suffix!r}, expected one of {', '.join(_FORMATS)}, also with .gz")


def _class_labels(path: Path) -> dict[str, list[str]]:
    """The names behind the numbers of ClassLabel columns; `datasets` (1.5 s to load) only for a file that has some."""
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    if b"ClassLabel" not in (schema.metadata or {}).get(b"huggingface", b""):
        return {}
    from datasets import ClassLabel, Features

    features = Features.from_arrow_schema(schema)
    return {name: kind.names for name, kind in features.items() if isinstance(kind, ClassLabel)}


def first(**reasons: pl.Expr) -> pl.Expr:
    """The name of the first condition that holds, "-" for "_"; null where none does."""
    found = (pl.when(condition).then(pl.lit(name.replace("_", "-"))) for name, condition in reasons.items())
    return pl.coalesce(*found, pl.lit(None, pl.String))


def gather(
    dataset: str,
    task: Task,
    frame: pl.DataFrame,
    repeated: Literal["refuse", "drop"] = "refuse",
    lacks: tuple[str, ...] = (),
) -> Reading:
    """A Reading from a frame with fields of base samples as columns; `reason` says why a row is dropped, null if kept.

    A row that repeats another in all fields is dropped ("duplicate"). Another row with an id that occurred is refused
    where ids are the source's own, dropped too where they are made of the content: which row stays depends on its
    texts, not on its place. Raises SourceInvalid for a refused id and when no row is left.
    """
    frame = _complete(frame)
    frame = frame.with_columns(pl.coalesce("reason", _flaw()).alias("reason"))
    kept = frame.filter(pl.col("reason").is_null())
    again = kept.filter(~pl.col("id").is_first_distinct())
    if repeated == "refuse" and len(again):
        _refuse_conflict(dataset, kept.filter(pl.col("id").is_in(again["id"].implode())))
    if len(again):
        kept = kept.with_row_index().sort("id", *TEXTS[1:]).unique("id", keep="first").sort("index")
    why = frame.filter(pl.col("reason").is_not_null()).group_by("reason", maintain_order=True).len()
    dropped = Counter(dict(why.iter_rows())) + Counter(duplicate=len(again))
    if kept.is_empty():
        counts = ", ".join(f"{reason} {count}" for reason, count in dropped.items())
        raise SourceInvalid(
            f"{dataset}: none of {len(frame)} rows is usable ({counts}); check config.yaml: datasets.{dataset}"
        )
    escaped = Counter({reason: int(kept[mark(reason)].sum()) for reason in ESCAPED})
    return Reading(dataset, task, kept.select(FIELDS), len(frame), dropped, +escaped, lacks)


def _refuse_conflict(dataset: str, rows: pl.DataFrame) -> None:
    different = rows.unique(FIELDS, keep="first", maintain_order=True)
    conflict = different.filter(~pl.col("id").is_first_distinct())
    for row in conflict.head(1).iter_rows(named=True):
        raise SourceInvalid(
            f"{dataset}: {row[_FILE]}: id {row['id']} occurs twice, with different rows; fetch the file again"
        )


def _complete(frame: pl.DataFrame) -> pl.DataFrame:
    defaults = {
        **dict.fromkeys(TEXTS, pl.lit("")),
        **dict.fromkeys(LISTS, pl.lit([], pl.List(pl.String))),
        **dict.fromkeys(map(mark, ESCAPED), pl.lit(False)),
        "reason": pl.lit(None, pl.String),
    }
    absent = (default.alias(name) for name, default in defaults.items() if name not in frame.columns)
    return frame.with_columns(absent).with_columns(pl.col(TEXTS).fill_null(""))


def _flaw() -> pl.Expr:
    said = pl.concat_str(*TEXTS, *(pl.col(name).list.join("\n").fill_null("") for name in LISTS), separator="\n")
    return first(
        no_id=pl.col("id") == "",
        empty=(pl.col("question") == "") | (pl.col("answer") == ""),
        no_culture=(pl.col("stratum") == "") | (pl.col("culture") == "") | (pl.col("language") == ""),
        too_long=said.str.len_chars() > LONGEST_ROW,
        not_unicode=said.str.contains(HALF, literal=True),
        chat_control_token=said.str.contains(CHAT_CONTROL),
    )

"""Official files of a data set as frames: CSV, TSV, JSON, JSON Lines and Parquet, also gzipped.

`find`, `find_one` and `shards` return the files of a snapshot; `read_table` returns the named columns of a file.
"""

from __future__ import annotations

import csv
import glob
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from excam.core.exceptions import SourceInvalid, in_a_line
from excam.core.mistaken_files import mistaken_for, not_utf8, other_separator
from excam.core.source_rows import header, is_array, parse_rows, text_list
from excam.core.tables import scan_parquet

Wanted = Mapping[str, pl.DataType]  # column -> String or List(String)
Read = tuple[list[str], pl.DataFrame]  # the names of all columns of a file, and those requested that it has

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_FORMATS = (*_SEPARATORS, ".json", ".jsonl", ".parquet")
_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # what polars raises on a damaged file
# What csv, json, gzip and pyarrow raise on one (their own classes derive from these).
_DAMAGED = (*_POLARS, OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, csv.Error, zlib.error)


def find(folder: Path, dataset: str, patterns: Sequence[str]) -> list[Path]:
    """Return the files of a snapshot that match the first pattern with any match, sorted.

    Raises SourceInvalid when none does, and when a file is there twice (packed and unpacked, or in two folders).
    """
    matched = [sorted(path for path in folder.glob(pattern) if path.is_file()) for pattern in patterns]
    if found := next((files for files in matched if files), None):
        _refuse_second_copy(folder, dataset, found, (path for files in matched for path in files))
        return found
    present = ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file())[:8]) or "nothing"
    raise SourceInvalid(
        f"{dataset}: no file matches {' or '.join(patterns)}; found {present}; check config.yaml: datasets.{dataset}"
    )


def _refuse_second_copy(folder: Path, dataset: str, found: Sequence[Path], matched: Iterable[Path]) -> None:
    """Raise SourceInvalid if a file that would not be read has the name of one that would, ".gz" and ".zip" aside."""
    read = {_unpacked_name(path): path for path in found}
    for other in sorted(set(matched).difference(found)):
        if first := read.get(_unpacked_name(other)):
            names = " and ".join(path.relative_to(folder).as_posix() for path in (first, other))
            raise SourceInvalid(f"{dataset}: expected one file; found {names}; leave one in the folder")


def _unpacked_name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".zip")


def find_one(folder: Path, dataset: str, patterns: Sequence[str]) -> Path:
    """Return the file that `find` finds. Raises SourceInvalid if it finds several: none is silently left out."""
    return _single_file(folder, dataset, find(folder, dataset, patterns))


def shards(folder: Path, dataset: str, patterns: Sequence[str]) -> list[Path]:
    """Return the file that `find` finds, or all pieces that a Parquet file may be cut into."""
    found = find(folder, dataset, patterns)
    return found if found[0].suffix == ".parquet" else [_single_file(folder, dataset, found)]


def _single_file(folder: Path, dataset: str, found: Sequence[Path]) -> Path:
    if len(found) > 1:
        names = ", ".join(path.relative_to(folder).as_posix() for path in found[:8])
        raise SourceInvalid(f"{dataset}: expected one file; found {names}; leave one in the folder")
    return found[0]


def read_table(
    path: Path, dataset: str, required: Iterable[str], optional: Iterable[str] = (), lists: Iterable[str] = ()
) -> pl.DataFrame:
    """Return the named columns that a CSV, TSV, JSON Lines, JSON or Parquet file (also gzipped) has, as text.

    Those named in `lists` too are lists of text, null if the cell is not a list; a ClassLabel is its name. Raises
    SourceInvalid when the file is empty, unreadable or lacks a required column.
    """
    required = tuple(required)
    expected = ", ".join(required)
    kinds = dict.fromkeys((*required, *optional), pl.String()) | dict.fromkeys(lists, pl.List(pl.String))
    try:
        if why := _mistake(path, required):
            raise SourceInvalid(f"{dataset}: {path.name}: {why}")
        columns, frame = _read_by_format(path, kinds)
    except _DAMAGED as damage:
        if why := _encoding(path):
            raise SourceInvalid(f"{dataset}: {path.name}: {why}") from damage
        reason = in_a_line(damage)
        raise SourceInvalid(f"{dataset}: {path.name}: not readable: {reason}; fetch the file again") from damage
    if columns and (missing := [name for name in required if name not in columns]):
        raise SourceInvalid(
            f"{dataset}: {path.name}: no column {', '.join(missing)}; expected {expected}; "
            f"found {', '.join(columns)}; check the pinned revision"
        )
    if frame.is_empty():
        raise SourceInvalid(f"{dataset}: {path.name}: no rows; expected rows with {expected}; fetch the file again")
    return frame


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix


def _mistake(path: Path, required: Sequence[str]) -> str | None:
    if why := mistaken_for(path):
        return why
    separator = _SEPARATORS.get(_suffix(path))
    return other_separator(path, separator, required) if separator else None


def _encoding(path: Path) -> str | None:
    try:
        return None if _suffix(path) == ".parquet" else not_utf8(path)
    except (OSError, EOFError, zlib.error):  # what is damaged is the archive
        return None


def _read_by_format(path: Path, wanted: Wanted) -> Read:
    suffix = _suffix(path)
    if suffix in _SEPARATORS:
        return _csv_rows(path, _SEPARATORS[suffix], wanted)
    if suffix == ".parquet":
        return _parquet_rows(path, wanted, _class_labels(path))
    if suffix in _FORMATS:
        return _json_rows(path, wanted)
    raise ValueError(f"unknown format {suffix!r}, expected one of {', '.join(_FORMATS)}, also with .gz")


def _csv_rows(path: Path, separator: str, wanted: Wanted) -> Read:
    """Return all cells as text: "NA" and "None" stay, a missing cell is empty. Raises on rows wider than the header."""
    columns = header(path, separator)
    if not columns:
        return [], pl.DataFrame()
    # All columns are read: polars sees a row that is too wide, hence shifted, only then.
    frame = pl.read_csv(path, glob=False, separator=separator, infer_schema=False, empty_string_is_null=False)
    frame.columns = columns
    frame = frame.filter(pl.any_horizontal(pl.all() != ""))  # blank lines
    return columns, _as_wanted(frame.select(name for name in columns if name in wanted), wanted)


def _json_rows(path: Path, wanted: Wanted) -> Read:
    """Return rows of a JSON array or of JSON Lines, by polars where it is exact, else by the plain parser."""
    if pl.List in wanted.values():  # in a list, polars makes 1.0 of one row and "1" of another the same text
        return parse_rows(path, wanted)
    try:
        if is_array(path):
            frame = pl.read_json(path, schema=wanted)
        else:
            frame = pl.scan_ndjson(glob.escape(str(path)), schema=wanted).collect()
    except (*_POLARS, OSError):
        return parse_rows(path, wanted)
    # polars turns a lone surrogate into NUL, and does not distinguish an absent column from an empty one
    if any(column.str.contains("\0", literal=True).any() or column.null_count() == len(column) for column in frame):
        return parse_rows(path, wanted)
    return list(wanted), frame


def _parquet_rows(path: Path, wanted: Wanted, labels: Mapping[str, Sequence[str]]) -> Read:
    """Return rows of a Parquet file; a column in `labels` holds numbers and comes back as names."""
    scanned = scan_parquet(path)
    columns = scanned.collect_schema().names()
    frame = scanned.select(name for name in columns if name in wanted).collect()
    named = (
        pl.col(name).replace_strict(range(len(names)), names, default=None, return_dtype=pl.String)
        for name, names in labels.items()
        if name in frame.columns
    )
    return columns, _as_wanted(frame.with_columns(named), wanted)


def _class_labels(path: Path) -> dict[str, list[str]]:
    """Return the names behind the numbers of ClassLabel columns; load `datasets` (1.5 s) only if a file has some."""
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    if b"ClassLabel" not in (schema.metadata or {}).get(b"huggingface", b""):
        return {}
    from datasets import ClassLabel, Features

    features = Features.from_arrow_schema(schema)
    return {name: kind.names for name, kind in features.items() if isinstance(kind, ClassLabel)}


def _as_wanted(frame: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """Return lists from lists or from their JSON text; everything else as text."""
    decoded = (
        pl.Series(name, [text_list(cell) for cell in frame[name]], pl.List(pl.String))
        for name, kind in wanted.items()
        if kind == pl.List and frame.schema.get(name) == pl.String
    )
    return frame.with_columns(decoded).cast({name: wanted[name] for name in frame.columns})

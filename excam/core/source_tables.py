"""Official files of a data set as frames of text.

`find`, `find_one` and `shards` return the files of a snapshot; `read_table` returns the named columns of a file, which
may have any format of `row_files`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from excam.core import row_files
from excam.core.exceptions import InputInvalid, SourceInvalid

HALF = "\ufffe"  # a noncharacter; replaces a lone surrogate, which UTF-8 cannot encode
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_WITHOUT_COMMA = re.compile(r"'\s+'|\"\s+\"|'\s+\"|\"\s+'")  # numpy's lists: Python would join their texts into one


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
    """Return the named columns that a file has, as text; those in `lists` as lists of text, null for any other cell.

    A number is written as in JSON, 1.0 as 1; a null stays null, a ClassLabel is its name, and a lone surrogate becomes
    `HALF`. Raises SourceInvalid when the file is empty, has a row that cannot be read, or lacks a required column.
    """
    required, lists = tuple(required), tuple(lists)
    wanted: Mapping[str, pl.DataType] = dict.fromkeys((*required, *optional), pl.String()) | dict.fromkeys(
        lists, pl.List(pl.String)
    )
    try:
        columns, cells = _cells(path, wanted)
    except InputInvalid as problem:
        line = re.sub(
            r"^:(\d+): |^: ", lambda at: f"row {at[1]}: " if at[1] else "", str(problem).removeprefix(str(path))
        )
        raise SourceInvalid(f"{dataset}: {path.name}: {line}") from None
    expected = ", ".join(required)
    if not columns:
        raise SourceInvalid(f"{dataset}: {path.name}: no rows; expected rows with {expected}; fetch the file again")
    if missing := [name for name in required if name not in columns]:
        raise SourceInvalid(
            f"{dataset}: {path.name}: no column {', '.join(missing)}; expected {expected}; "
            f"found {', '.join(columns)}; check the pinned revision"
        )
    return pl.DataFrame({name: cells[name] for name in wanted if name in columns}, schema_overrides=dict(wanted))


def _cells(path: Path, wanted: Mapping[str, pl.DataType]) -> tuple[dict[str, None], dict[str, list[Any]]]:
    """Return the names of all columns of a file, and the cells of those that are wanted."""
    columns: dict[str, None] = {}
    cells: dict[str, list[Any]] = {name: [] for name in wanted}
    for _, row in row_files.rows(path):
        columns |= dict.fromkeys(row)
        for name, kind in wanted.items():
            cells[name].append(text_list(row.get(name)) if kind == pl.List else _text(row.get(name)))
    return columns, cells


def replace_surrogates(text: str) -> str:
    """Return the text with HALF for every lone surrogate, so that it can be written; `gather` drops such a row."""
    return text if text.isascii() else _SURROGATES.sub(HALF, text)


def text_list(value: Any) -> list[str] | None:
    """Return the items of a list, or of a string with a JSON or Python list, as strings; None for anything else."""
    if isinstance(value, str):
        value = _parsed_list(value)
    return [_part(part) for part in value] if isinstance(value, list) else None


def _parsed_list(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not text.lstrip().startswith("[") or _WITHOUT_COMMA.search(text):
        return None
    try:
        return ast.literal_eval(text.strip())  # parsed and never evaluated
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _part(value: Any) -> str:
    return replace_surrogates(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _text(value: Any) -> str | None:
    """Return a JSON value as text, as polars writes it: `true`, `1` for 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else _part(value)

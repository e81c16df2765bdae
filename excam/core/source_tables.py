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
from excam.core.row_layouts import PACKED, SUFFIXES
from excam.core.text import SURROGATE

Patterns = Sequence[str | Sequence[str]]  # of files; a sequence among them holds alternatives
HALF = "\ufffe"  # a noncharacter; replaces a lone surrogate, which UTF-8 cannot encode
_WITHOUT_COMMA = re.compile(r"'\s+'|\"\s+\"|'\s+\"|\"\s+'")  # numpy's lists: Python would join their texts into one


def every_pattern(patterns: Patterns) -> list[str]:
    """Return all patterns, those of alternatives too."""
    return [pattern for entry in patterns for pattern in ([entry] if isinstance(entry, str) else entry)]


def find(folder: Path, dataset: str, patterns: Patterns) -> list[Path]:
    """Return the files of a snapshot that match any pattern, sorted; of alternatives those of the first with a match.

    Of the same file in several formats (`a.json` and `a.tsv`) the one that the earlier pattern matches is read;
    `unread_files` names what is not. Raises SourceInvalid when nothing matches, and when a file is there twice (packed
    and unpacked, or in two folders).
    """
    matches = _matches(folder, patterns)
    _refuse_second_copy(folder, dataset, matches)
    if files := _read_of(matches, patterns):
        return files
    present = ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file())[:8]) or "nothing"
    wanted = " or ".join(every_pattern(patterns))
    raise SourceInvalid(
        f"{dataset}: no file matches {wanted}; found {present}; check datasets.{dataset} of the configuration"
    )


def unread_files(folder: Path, patterns: Patterns) -> list[str]:
    """Return the files below a folder that look like rows and that `find` does not return, by their names in it."""
    present = {path for path in folder.rglob("*") if path.is_file() and _stem(path) != path.name}
    unread = present.difference(_read_of(_matches(folder, patterns), patterns))
    return sorted(path.relative_to(folder).as_posix() for path in unread)


def _matches(folder: Path, patterns: Patterns) -> dict[str, list[Path]]:
    """Return the files that match each pattern, sorted."""
    return {
        pattern: sorted(path for path in folder.glob(pattern) if path.is_file())
        for pattern in dict.fromkeys(every_pattern(patterns))
    }


def _read_of(matches: Mapping[str, Sequence[Path]], patterns: Patterns) -> list[Path]:
    """Return the files that count, sorted: without later alternatives, and each in one format."""
    first: dict[Path, Path] = {}
    for entry in patterns:
        names = [entry] if isinstance(entry, str) else entry
        for path in next((matches[name] for name in names if matches[name]), ()):
            first.setdefault(path.with_name(_stem(path)), path)
    return sorted(first.values())


def _refuse_second_copy(folder: Path, dataset: str, matches: Mapping[str, Sequence[Path]]) -> None:
    """Raise SourceInvalid if a file is there packed and unpacked, or in two folders of which no pattern matches both.

    The files `German/test.csv` and `data/German/test.csv` are one; `German/test.csv` and `Greek/test.csv` are two.
    """
    seen: dict[str, list[Path]] = {}
    for path in dict.fromkeys(path for files in matches.values() for path in files):
        same_name = seen.setdefault(_unpacked_name(path), [])
        for other in same_name:
            match_both = any(path in files and other in files for files in matches.values())
            if path.parent == other.parent or (not match_both and _is_tail(folder, path, other)):
                names = " and ".join(copy.relative_to(folder).as_posix() for copy in (other, path))
                raise SourceInvalid(f"{dataset}: expected one file; found {names}; leave one in the folder")
        same_name.append(path)


def _is_tail(folder: Path, file: Path, other: Path) -> bool:
    """Return whether the folders of one file are the last of the other's: `German` of `data/German`, none of any."""
    short, long = sorted((path.relative_to(folder).parent.parts for path in (file, other)), key=len)
    return long[len(long) - len(short) :] == short


def _unpacked_name(path: Path) -> str:
    return path.with_suffix("").name if path.suffix.lower() in (*PACKED, ".zip") else path.name


def _stem(path: Path) -> str:
    """Return the name of a file without its format, `train` for `train.jsonl.gz`; the whole name of any other file."""
    name = Path(_unpacked_name(path))
    return name.stem if name.suffix.lower() in SUFFIXES else path.name


def find_one(folder: Path, dataset: str, patterns: Patterns) -> Path:
    """Return the file that `find` finds. Raises SourceInvalid if it finds several: none is silently left out."""
    return _single_file(folder, dataset, find(folder, dataset, patterns))


def shards(folder: Path, dataset: str, patterns: Patterns) -> list[Path]:
    """Return the file that `find` finds, or all pieces that a Parquet file may be cut into."""
    files = find(folder, dataset, patterns)
    pieces = all(path.suffix == ".parquet" for path in files) and len({path.parent for path in files}) == 1
    return files if pieces else [_single_file(folder, dataset, files)]


def _single_file(folder: Path, dataset: str, files: Sequence[Path]) -> Path:
    if len(files) > 1:
        names = ", ".join(path.relative_to(folder).as_posix() for path in files[:8])
        raise SourceInvalid(f"{dataset}: expected one file; found {names}; leave one in the folder")
    return files[0]


def read_table(
    path: Path, dataset: str, required: Iterable[str], optional: Iterable[str] = (), lists: Iterable[str] = ()
) -> pl.DataFrame:
    """Return the named columns that a file has, as text; those in `lists` as lists of text, null for any other cell.

    Options with labels, `{"label": [...], "text": [...]}` or a list of such pairs, are the list of their texts; a name
    such as `choices.label` in `lists` is the list of the labels in the column `choices`. A number is
    written as in JSON, 1.0 as 1; a null stays null, a ClassLabel is its name, and a lone surrogate becomes `HALF`.
    Raises SourceInvalid when the file is empty, has a row that cannot be read, or lacks a required column.

    Args:
        path: a file of any format of `row_files`
        dataset: its name in messages
        required: columns that the file must have
        optional: columns that are returned where it has them
        lists: columns whose cells are lists
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
            f"found {', '.join(columns)}; check the pinned revision, or the columns that its module names"
        )
    present = [name for name in wanted if name in columns or name.partition(".")[0] in columns]
    return pl.DataFrame({name: cells[name] for name in present}, schema_overrides=dict(wanted))


def _cells(path: Path, wanted: Mapping[str, pl.DataType]) -> tuple[dict[str, None], dict[str, list[Any]]]:
    """Return the names of all columns of a file, and the cells of those that are wanted."""
    columns: dict[str, None] = {}
    cells: dict[str, list[Any]] = {name: [] for name in wanted}
    for _, row in row_files.rows(path):
        columns |= dict.fromkeys(row)
        for name, kind in wanted.items():
            cells[name].append(_list_cell(row, name) if kind == pl.List else _text(row.get(name)))
    return columns, cells


def _list_cell(row: Mapping[str, Any], name: str) -> list[str] | None:
    column, _, part = (name, "", "") if name in row else name.partition(".")
    return text_list(row.get(column), part or "text")


def replace_surrogates(text: str) -> str:
    """Return the text with HALF for every lone surrogate, so that it can be written; `gather` drops such a row."""
    return text if text.isascii() else SURROGATE.sub(HALF, text)


def text_list(value: Any, part: str = "text") -> list[str] | None:
    """Return the items of a list, or of a string with a JSON or Python list, as strings; None for anything else.

    Of a mapping of lists, and of a list of mappings, the items are those under `part`.
    """
    if isinstance(value, str):
        value = _parsed_list(value)
    if isinstance(value, Mapping):
        value = value.get(part)
    if isinstance(value, list) and value and all(isinstance(entry, Mapping) and part in entry for entry in value):
        value = [entry[part] for entry in value]
    return [_part(entry) for entry in value] if isinstance(value, list) else None


def _parsed_list(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not text.lstrip().startswith(("[", "{")) or _WITHOUT_COMMA.search(text):
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

"""Text files parsed row by row in Python: a CSV header, and JSON that polars does not parse exactly.

polars is not exact if a requested column has lists or no value at all, or if the file has a lone surrogate or a byte
order mark.
"""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import polars as pl

HALF = "\ufffe"  # a noncharacter; replaces a lone surrogate, which UTF-8 cannot encode
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_WITHOUT_COMMA = re.compile(r"'\s+'|\"\s+\"|'\s+\"|\"\s+'")  # numpy's lists: Python would join their texts into one


def open_text(path: Path, newline: str = "") -> TextIO:
    """Return a text file, gzipped or not, as UTF-8 without a byte order mark; line ends untouched."""
    opener = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=newline))


def header(path: Path, delimiter: str) -> list[str]:
    """Return the column names of a CSV file, none for an empty one. Raises ValueError if one occurs twice."""
    with open_text(path) as stream:
        names = next((line for line in csv.reader(stream, delimiter=delimiter) if line), [])
    if repeated := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise ValueError(f"the header names {', '.join(repeated)} twice")
    return [name or f"Unnamed: {index}" for index, name in enumerate(names)]


def is_array(path: Path) -> bool:
    """Return whether this JSON file is one array, not a row per line."""
    with open_text(path) as stream:
        return stream.read(4096).lstrip().startswith("[")


def parse_rows(path: Path, wanted: Mapping[str, pl.DataType]) -> tuple[list[str], pl.DataFrame]:
    """Return columns and rows of a JSON array or of JSON Lines, with the requested columns. Raises ValueError.

    Values are as polars would parse them; lone surrogates are HALF.
    """
    columns: dict[str, None] = {}
    cells: dict[str, list[Any]] = {name: [] for name in wanted}
    for place, row in _rows(path):
        if not isinstance(row, dict):
            raise ValueError(f"{place}: not an object")
        columns |= dict.fromkeys(row)
        for name, kind in wanted.items():
            cells[name].append(text_list(row.get(name)) if kind == pl.List else _text(row.get(name)))
    frame = pl.DataFrame(cells, schema=dict(wanted))
    return list(columns), frame.select(name for name in wanted if name in columns)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield rows with their place for a message: the line of the file, or the position in an array."""
    if is_array(path):
        with open_text(path) as stream:
            yield from ((f"row {number}", row) for number, row in enumerate(json.load(stream), 1))
    else:  # line by line: of a nested row, only the wanted columns stay in memory
        with open_text(path, newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield f"line {number}", _line(line, number)


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}: {error.msg}, at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # a number too long, lists too deep
        raise ValueError(f"line {number}: {error}") from error


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

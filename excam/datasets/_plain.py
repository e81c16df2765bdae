"""Text files read row by row in Python: a CSV header before the rows, and JSON that polars does not read exactly.

That is JSON with lists that are wanted, a lone surrogate, a wanted column without any value, a byte order mark.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import polars as pl

HALF = "\ufffe"  # no character; stands for half a character (a lone surrogate), which no UTF-8 text can hold
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def opened(path: Path, newline: str = "") -> TextIO:
    """A text file, gzipped or not, as UTF-8 without a byte order mark; line ends untouched."""
    opener = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=newline))


def header(path: Path, delimiter: str) -> list[str]:
    """Column names of a CSV file, none for an empty one. Raises ValueError where one occurs twice."""
    with opened(path) as stream:
        names = next((line for line in csv.reader(stream, delimiter=delimiter) if line), [])
    if repeated := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise ValueError(f"the header names {', '.join(repeated)} twice")
    return [name or f"Unnamed: {index}" for index, name in enumerate(names)]


def is_array(path: Path) -> bool:
    """Is this JSON file one array, not a row per line?"""
    with opened(path) as stream:
        return stream.read(4096).lstrip().startswith("[")


def parsed(path: Path, wanted: Mapping[str, pl.DataType]) -> tuple[list[str], pl.DataFrame]:
    """Columns and rows of a JSON array or of JSON Lines; of every row the wanted columns. Raises ValueError.

    Values are what polars would have made of them, lone surrogates are HALF.
    """
    columns: dict[str, None] = {}
    cells: dict[str, list[Any]] = {name: [] for name in wanted}
    for place, row in _rows(path):
        if not isinstance(row, dict):
            raise ValueError(f"{place}: not an object")
        columns |= dict.fromkeys(row)
        for name, kind in wanted.items():
            cells[name].append(listed(row.get(name)) if kind == pl.List else _text(row.get(name)))
    frame = pl.DataFrame(cells, schema=dict(wanted))
    return list(columns), frame.select(name for name in wanted if name in columns)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Rows with their place for a message: the line of the file, of an array the number of the row."""
    if is_array(path):
        with opened(path) as stream:
            yield from ((f"row {number}", row) for number, row in enumerate(json.load(stream), 1))
    else:  # line by line: of a nested row, only the wanted columns stay in memory
        with opened(path, newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield f"line {number}", _line(line, number)


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as torn:
        raise ValueError(f"line {number}: {torn.msg}, at column {torn.colno}") from torn
    except (ValueError, RecursionError) as torn:  # a number too long, lists too deep
        raise ValueError(f"line {number}: {torn}") from torn


def whole(text: str) -> str:
    """The text with HALF for every lone surrogate, so that it can be written; `gather` drops such a row."""
    return text if text.isascii() else _SURROGATES.sub(HALF, text)


def listed(value: Any) -> list[str] | None:
    """A list, or the JSON text of one, as texts; None where it is neither."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return [_part(part) for part in value] if isinstance(value, list) else None


def _part(value: Any) -> str:
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _text(value: Any) -> str | None:
    """A JSON value as text, as polars writes it: `true`, `1` for 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else _part(value)

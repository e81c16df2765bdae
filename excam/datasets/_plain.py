"""Text files read without `datasets`: a CSV header before the rows, JSON that `datasets` cannot represent."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any, TextIO, cast


def opened(path: Path) -> TextIO:
    """A text file, gzipped or not, as UTF-8 without a byte order mark; line ends untouched."""
    opener = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def header(path: Path, delimiter: str) -> list[str]:
    """Column names of a CSV file. Raises ValueError where pandas would shift or rename columns without a word."""
    with opened(path) as stream:
        lines = (line for line in csv.reader(stream, delimiter=delimiter) if line)
        names, first = next(lines, []), next(lines, [])
    if len(first) > len(names):  # pandas would take the surplus fields for an index and shift every column
        raise ValueError(f"the first row has {len(first)} fields, the header {len(names)}")
    if repeated := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise ValueError(f"the header names {', '.join(repeated)} twice")
    return [name or f"Unnamed: {index}" for index, name in enumerate(names)]  # what pandas calls a nameless column


def parsed(path: Path, wanted: set[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows of a JSON array or of JSON Lines; of every row the wanted columns. Raises ValueError."""
    with opened(path) as stream:
        content = stream.read().strip()
    lines = (line for line in content.split("\n") if line.strip())
    rows = json.loads(content) if content.startswith("[") else [json.loads(line) for line in lines]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("a row is not an object")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return columns, [{name: row[name] for name in row if name in wanted} for row in rows]

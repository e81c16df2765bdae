"""The one reader of rows: JSON Lines, JSON arrays, CSV, Parquet, Arrow, folders of `datasets`, workbooks.

`records` yields every row with its number. A row that cannot be read is a `BadRow`: it is counted and never lost.
`rows` is for files that must be sound and raises at the first bad row. `row_layouts.layout_of` says how a file is read.
Rows come one after another, so a file may be larger than memory, but for a JSON array.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.command_input import spooled
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.row_layouts import DAMAGED, MAX_ROW, FileLayout, Kind, layout_of, open_text

CHUNK = 4096  # rows of a Parquet file in memory at once
csv.field_size_limit(MAX_ROW)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read: `reason` is a short code for counting, `detail` says what was found."""

    reason: str
    detail: str


Record = Mapping[str, Any] | BadRow
Records = Iterator[tuple[int, Record]]


def records(path: Path, encoding: str | None = None) -> Records:
    """Yield the rows of a file or folder, each with its number: of its line in JSON Lines, else counted from 1.

    `encoding` is that of a text, by default UTF-8 or UTF-16.
    A pipe, and standard input for `-`, is copied first. Raises InputInvalid for a file that cannot be read at all.
    """
    with spooled(path) as source:
        yield from records_of(layout_of(source, encoding))


def rows(path: Path, encoding: str | None = None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a file of which every row must be sound, or empty: that one is left out.

    Raises InputInvalid naming the first that is not.
    """
    for number, record in records(path, encoding):
        if not isinstance(record, BadRow):
            yield number, record
        elif record is not EMPTY:
            raise InputInvalid(f"{path}:{number}: {record.detail}")


def answered_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of `rows`. Raise InputInvalid for a row with a `failure`: its other values say nothing."""
    for number, row in rows(path):
        if row.get("failure") not in (None, ""):
            stated = f"has the failure {str(row['failure'])[:40]!a}"
            raise InputInvalid(f"{path}:{number}: {stated}; expected rows without one; leave it out")
        yield number, row


def records_of(layout: FileLayout) -> Records:
    """Yield the rows of a file whose layout is known, see `records`."""
    readers: Mapping[Kind, Callable[[Path, FileLayout], Records]] = {
        "json-lines": _json_lines,
        "json": _json_value,
        "csv": _csv,
        "parquet": _parquet,
        "arrow": _arrow,
        "workbook": _workbook,
    }
    at = 0
    for file in layout.files:
        number = 0
        try:
            for number, record in readers[layout.kind](file, layout):
                yield at + number, record
        except DAMAGED as problem:
            reason = str(getattr(problem, "strerror", None) or in_a_line(problem)).lower()
            raise InputInvalid(f"{file}: {reason}; expected a file that can be read; fetch or save it again") from None
        except MemoryError:
            raise InputInvalid(
                f"{file}: takes more memory than there is; expected shorter rows, or JSON Lines"
            ) from None
        at += number


_ESCAPED = "surrogateescape"
_NOT_TEXT = re.compile("[\udc80-\udcff]")  # what it makes of bytes that are no UTF-8
EMPTY = BadRow("empty-row", "no cell has a text")
NOT_UTF8 = BadRow("not-utf8", "not UTF-8; expected UTF-8; save the file as UTF-8")


# --- JSON


class _DuplicateKey(ValueError):
    """Raised for a key that occurs twice in a JSON object."""


def _unique_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(items)
    if len(unique) < len(items):
        raise _DuplicateKey(_most_frequent(key for key, _ in items))
    return unique


def _most_frequent(names: Iterable[str]) -> str:
    """Return the name that occurs most often, cut to 100 characters."""
    return Counter(names).most_common(1)[0][0][:100]


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _parsed(line: str) -> Record:
    if not line.isascii() and _NOT_TEXT.search(line):
        return NOT_UTF8
    try:
        return _checked(_DECODER.decode(line))
    except _DuplicateKey as twice:
        return BadRow("duplicate-key", f"key {in_a_line(twice)}: occurs twice; expected each once")
    except json.JSONDecodeError as problem:
        return BadRow("not-json", f"not JSON ({problem.msg}, column {problem.colno}); expected an object")
    except (ValueError, RecursionError):  # digits beyond Python's limit, lists too deep
        return BadRow("not-json", "not JSON that can be read; expected an object")


def _checked(value: Any) -> Record:
    if isinstance(value, dict):
        return value
    return BadRow("not-an-object", f"found {type(value).__name__}; expected an object")


def _json_lines(path: Path, layout: FileLayout) -> Records:
    with open_text(path, layout.encoding, "\n", _ESCAPED) as stream:
        for number, line in enumerate(stream, 1):
            line = line.removeprefix("\ufeff") if number == 1 else line
            if line.strip():
                yield number, _parsed(line)


def _json_value(path: Path, layout: FileLayout) -> Records:
    """Yield the objects of an array, the samples of a log of inspect_ai, or the one object of a file."""
    with open_text(path, layout.encoding, errors=_ESCAPED) as stream:
        text = stream.read().removeprefix("\ufeff")
    if _NOT_TEXT.search(text):
        raise InputInvalid(f"{path}: {NOT_UTF8.detail}")
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys)
    except _DuplicateKey as twice:
        raise InputInvalid(f"{path}: key {in_a_line(twice)}: occurs twice; expected each once") from None
    except (ValueError, RecursionError) as problem:
        raise InputInvalid(
            f"{path}: not JSON ({in_a_line(problem)}); expected an array of objects, or an object a line"
        ) from None
    if isinstance(value, dict) and isinstance(value.get("samples"), list):
        value = value["samples"]
    elif isinstance(value, dict) and _is_by_column(value):
        raise InputInvalid(f"{path}: one object with columns; expected an array of objects, a row each")
    for number, row in enumerate(value if isinstance(value, list) else [value], 1):
        yield number, _checked(row)


def log_status(layout: FileLayout) -> str:
    """Return the status that a log of inspect_ai states of its run, such as success or error; "" for any other file."""
    if layout.kind != "json":
        return ""
    with open_text(layout.files[0], layout.encoding, errors=_ESCAPED) as stream:
        try:
            log = json.load(stream)
        except (*DAMAGED, ValueError, RecursionError):
            return ""
    return str(log.get("status") or "") if isinstance(log, dict) else ""


def _is_by_column(value: Mapping[str, Any]) -> bool:
    """Return whether an object holds columns, as pandas writes a table: values by row number, or lists of values."""
    lists = all(
        isinstance(column, list) and not any(isinstance(cell, dict) for cell in column) for column in value.values()
    )
    numbered = all(isinstance(column, dict) and all(key.isdigit() for key in column) for column in value.values())
    return bool(value) and (lists or numbered)


# --- CSV


def _csv(path: Path, layout: FileLayout) -> Records:
    """Yield the rows of a CSV file as texts by column. Missing cells at the end of a row are None.

    Rows of empty cells at the end of the file, and empty lines among several columns, are no rows.

    Raises InputInvalid at the end if each row has some: then the first row stands in the line of the header.
    """
    with open_text(path, layout.encoding, errors=_ESCAPED) as stream:
        for _ in range(layout.skip):
            next(stream, None)
        head = csv.reader(stream, delimiter=layout.separator)
        try:
            header = next((line for line in head if any(line)), [])
        except csv.Error as problem:
            line = layout.skip + head.line_num
            raise InputInvalid(f"{path}: line {line}: {problem}; expected CSV with a header") from None
        # blanks after the separators of the header are those of a program that writes them after each
        blanks = sum(name.startswith(" ") for name in header[1:]) * 2 > len(header) - 1
        names = header_names(path, header)
        lines = csv.reader(stream, delimiter=layout.separator, skipinitialspace=blanks, strict=True)
        before = layout.skip + head.line_num
        number = widest = empty = 0
        while True:
            began = before + lines.line_num + 1
            try:
                line = next(lines, None)
            except csv.Error as problem:
                number += 1
                ended = before + lines.line_num
                lines_read = f"lines {began} to {ended}" if ended > began else f"line {began}"
                yield number, BadRow(f"not-csv ({lines_read})", f"{lines_read}: {problem}; expected CSV")
                continue
            if line is None:
                break
            if not any(line):  # a row, if others follow; Excel writes many at the end
                empty += bool(line) or len(names) == 1
                continue
            for _ in range(empty):
                number += 1
                yield number, EMPTY
            empty = 0
            number, widest = number + 1, max(widest, len(line))
            yield number, _csv_row(names, line)
        if 0 < widest < len(header):
            expected = f"expected {len(header)}, as in its header; is a line end missing behind that?"
            raise InputInvalid(f"{path}: each row has {widest} fields or fewer; {expected}")


def header_names(where: Path | str, header: Iterable[str | None]) -> list[str]:
    """Return the names of columns; one without a name is called by its place. Raises InputInvalid if two are alike."""
    names = [(name or "").strip("\ufeff \xa0\t") or f"Unnamed: {at}" for at, name in enumerate(header)]
    if len(names) > len(set(names)):
        raise InputInvalid(f"{where}: column {in_a_line(_most_frequent(names))}: occurs twice; expected each once")
    return names


def _workbook(path: Path, layout: FileLayout) -> Records:
    """Yield the rows of a workbook's first sheet as texts by column, as those of CSV, without empty ones at the end."""
    from excam.core.tables import read_sheet

    lines = read_sheet(path, layout.sheets[0])
    filled = [at for at, line in enumerate(lines) if any(line)] or [0]
    names = header_names(path, lines[filled[0]] if lines else ())
    for number, line in enumerate(lines[filled[0] + 1 : filled[-1] + 1], 1):
        yield number, dict(zip(names, line, strict=True)) if any(line) else EMPTY


def _csv_row(names: Sequence[str], line: list[str]) -> Record:
    if any(line[len(names) :]):
        return BadRow("other-width", f"{len(line)} fields; expected {len(names)}, as in its header")
    if any(map(_NOT_TEXT.search, line)):
        return NOT_UTF8
    return dict(zip(names, (*line, *[None] * (len(names) - len(line))), strict=False))


# --- columnar files and folders


def _parquet(path: Path, layout: FileLayout) -> Records:
    from excam.core.tables import UNREADABLE, class_labels, scan_parquet

    at = 0
    try:
        scanned, labels = scan_parquet(path), class_labels(path)
        while True:
            part = scanned.slice(at, CHUNK).collect()
            yield from enumerate(with_labels(part.iter_rows(named=True), labels), at + 1)
            at += len(part)
            if len(part) < CHUNK:
                return
    except UNREADABLE as problem:
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected a Parquet file") from None


def _arrow(path: Path, layout: FileLayout) -> Records:
    from excam.core.tables import UNREADABLE, read_arrow

    try:
        frame = read_arrow(path)
    except UNREADABLE as problem:
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected an Arrow file") from None
    yield from enumerate(with_labels(frame.iter_rows(named=True), layout.labels or {}), 1)


def with_labels(
    numbered_rows: Iterable[dict[str, Any]], labels: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """Yield rows with names in place of the numbers of `labels`; a number without a name becomes None."""
    for row in numbered_rows:
        for name, names in labels.items():
            value = row.get(name)
            row[name] = names[value] if isinstance(value, int) and 0 <= value < len(names) else None
        yield row

"""Rows as programs have them: dictionaries, tables of pandas or polars, data sets of `datasets`, or a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain, islice
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.provenance import say
from excam.core.row_files import BadRow, Record, with_labels
from excam.scoring.metric import Metric, Row
from excam.scoring.rows import PROGRAM, FileColumns, RowFile, columns_of, row, with_id, with_unique_ids

GivenRows = Any  # also tables of libraries that are not installed
_NO_ROW = BadRow("not-an-object", "")
_EXPECTED = 'expected dictionaries, such as [{"instruction": "...", "output": "..."}], a table, or a path'


def rows_of(source: GivenRows, metric: Metric) -> tuple[Iterator[Row], int | None]:
    """Return an iterator over the rows of a program, and their number if it is known; columns are found as in a file.

    Raises InputInvalid for a column that no row has: of an iterator where the first row is read, else at once.
    """
    if isinstance(source, str | Path):
        return _of_file(Path(source), metric)
    rows = _records(source)
    if isinstance(rows, Mapping) or not isinstance(rows, Iterable):
        splits = f" of {in_a_line(', '.join(map(str, rows)))}" if isinstance(rows, Mapping) else ""
        raise InputInvalid(f"{PROGRAM}: found {type(source).__name__}{splits}; {_EXPECTED}")
    total = len(rows) if isinstance(rows, Sized) else None
    coming = iter(rows)
    first = list(islice(coming, 1)) if total is None else rows
    names = dict.fromkeys(name for entry in first if isinstance(entry, Mapping) for name in entry)
    are_rows = all(isinstance(entry, Row) for entry in first)
    if total != 0 and first and not names and not are_rows:
        raise InputInvalid(f"{PROGRAM}: found {type(next(iter(first))).__name__}; {_EXPECTED}")
    columns = FileColumns({}) if are_rows else columns_of(list(map(str, names)), metric, {})
    if total is not None:
        columns, _ = with_id(columns, map(_record, first))

    def numbered_rows() -> Iterator[tuple[int, Row]]:
        for number, entry in enumerate(rows if total is not None else chain(first, coming), 1):
            yield number, entry if isinstance(entry, Row) else row(_record(entry), columns, metric)

    return with_unique_ids(numbered_rows(), have_ids=are_rows or "id" in columns.theirs), total


def _record(entry: Any) -> Record:
    return entry if isinstance(entry, Mapping) else _NO_ROW


def _of_file(path: Path, metric: Metric) -> tuple[Iterator[Row], int]:
    if path.is_fifo():
        raise InputInvalid(f"{path}: is a pipe, which can be read once; expected a file")
    file = RowFile(path, metric)
    if file.said:
        say(file.said)
    return iter(file), file.survey().rows


def _records(source: GivenRows) -> Any:
    """Return the rows of a table as dictionaries, and anything else as it is."""
    library = type(source).__module__.partition(".")[0]
    if library == "polars" and hasattr(source, "lazy"):
        return source.lazy().collect().to_dicts()
    if library == "pandas" and hasattr(source, "columns"):
        frame = source.reset_index() if any(name is not None for name in source.index.names) else source
        if not frame.columns.is_unique:
            raise InputInvalid(f"{PROGRAM}: a column occurs twice; expected each once, such as table.iloc[:, :2]")
        return frame.astype(object).where(frame.notna(), None).rename(columns=str).to_dict("records")
    if library == "datasets" and hasattr(source, "column_names") and not isinstance(source, Mapping):
        from excam.core.tables import class_labels_of

        return list(with_labels(iter(source), class_labels_of(source.features.to_dict())))
    return source

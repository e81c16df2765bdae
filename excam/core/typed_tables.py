"""Parquet files of our own, which others may have changed: their columns, types, empty cells and keys are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.tables import read_frame


def read_typed(
    path: Path,
    schema: Mapping[str, Any],
    what: str,
    filled: Iterable[str] = (),
    key: Sequence[str] = (),
    may_be_empty: bool = True,
) -> pl.DataFrame:
    """Return these columns of a Parquet file, with these types; `what` says in messages what the file should hold.

    Raise InputInvalid for a missing column, another type, a number that is not finite, a null in a column of `filled`,
    two rows with the same values in the columns of `key`, and a file without rows, unless it `may_be_empty`;
    ArtifactBroken for a file that is not Parquet.

    Args:
        path: of the file
        schema: type by column; other columns are left out
        what: what the file should hold, in messages
        filled: columns without a null
        key: columns whose values together occur once; none: rows may repeat
        may_be_empty: whether a file without rows is sound
    """
    if not path.is_file():
        raise InputInvalid(f"{path}: no such file; expected {what}")
    frame = read_frame(path)
    if absent := [name for name in schema if name not in frame.columns]:
        names = ", ".join(frame.columns)[:100]
        raise InputInvalid(f"{path}: no {', '.join(absent)[:100]}; found columns {names}; expected {what}")
    frame = frame.select(list(schema))
    types = pl.Schema(schema)
    for name, wanted in types.items():
        if not _holds(wanted, frame.schema[name]):
            raise InputInvalid(f"{path}: column {name}: found {frame.schema[name]}; expected {what}, with {wanted}")
    try:
        frame = frame.cast(types)
    except pl.exceptions.PolarsError as problem:  # a number that is too large
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected {what}") from None
    for name, wanted in types.items():
        if wanted.is_float() and (number := _first(~frame[name].is_finite())) is not None:
            raise InputInvalid(f"{path}: row {number + 1}: {name} is {frame[name][number]}; expected a finite number")
    for name in filled:
        if (number := _first(_is_null(frame[name]))) is not None:
            raise InputInvalid(f"{path}: row {number + 1}: no {name}; expected {what}")
    if key and (number := _first(frame.select(~pl.struct(key).is_first_distinct()).to_series())) is not None:
        repeated = "/".join(str(value) for value in frame.select(key).row(number))
        raise InputInvalid(f"{path}: row {number + 1}: {repeated[:100]} is there twice; expected {what}, each once")
    if frame.is_empty() and not may_be_empty:
        raise InputInvalid(f"{path}: 0 rows; expected {what}")
    return frame


def _holds(wanted: Any, actual: Any) -> bool:
    """Return whether a column of type `wanted` can hold all that one of type `actual` may: also shorter numbers."""
    if isinstance(wanted, pl.List):
        return actual == pl.Null or (isinstance(actual, pl.List) and _holds(wanted.inner, actual.inner))
    numbers = (wanted.is_float() and actual.is_numeric()) or (wanted.is_integer() and actual.is_integer())
    return actual in (wanted, pl.Null) or numbers


def _is_null(column: pl.Series) -> pl.Series:
    """Return which cells are null, or lists that hold a null."""
    if column.dtype == pl.List:
        return column.is_null() | column.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
    return column.is_null()


def _first(marks: pl.Series) -> int | None:
    """Return the index of the first cell that is true."""
    return next(iter(marks.arg_true().head(1)), None)

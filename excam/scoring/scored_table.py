"""Scored rows as a Parquet table: a column for each key of a line of `excam score`, nested values as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid, in_a_line
from excam.scoring import pairs
from excam.scoring.scored import Scored
from excam.scoring.scored_json import from_dict

if TYPE_CHECKING:
    import polars as pl

SUFFIX = ".parquet"
CHUNK = 4096  # rows in memory at once, and of a row group
NUMBERS = ("score", "certainty", "probability")
NESTED = ("report", "recovered", "warnings", "agreement", "parts", "spans", "columns")
KEYS = {"id", "score", "failure", "signature"}  # that every scored row has


def write(path: Path, results: Iterable[Scored]) -> None:
    """Write results as Parquet atomically, in the memory of a few chunks; equal results give equal bytes.

    There is at least one result, and all are of one metric. A lone surrogate becomes a question mark because no table
    can hold it.
    """
    import polars as pl

    from excam.core.tables import write_frames

    coming = iter(results)
    first = next(coming)
    names = dict.fromkeys((*first.to_dict(), "warnings"))  # a row without warnings does not name them
    schema = {name: pl.Float64 if name in NUMBERS else pl.String for name in names}
    write_frames(path, _frames(chain([first], coming), schema), schema, CHUNK)


def _frames(results: Iterator[Scored], schema: Mapping[str, Any]) -> Iterator[pl.DataFrame]:
    import polars as pl

    while part := list(islice(results, CHUNK)):
        yield pl.DataFrame([_cells(one, schema) for one in part], schema=dict(schema), orient="row")


def _cells(one: Scored, names: Iterable[str]) -> list[str | float | None]:
    row = one.to_dict()
    return [_cell(name, row.get(name, ())) for name in names]


def _cell(name: str, value: Any) -> str | float | None:
    if value is None or name in NUMBERS:
        return value
    if name in NESTED:
        return json.dumps(value)  # in ASCII
    return str(value).encode(errors="replace").decode()


def read(path: Path) -> Iterator[Scored]:
    """Yield the results of a table that `write` wrote. Raises InputInvalid naming an invalid row."""
    for number, row in pairs.rows(path):
        yield from_dict(_parsed(row), f"{path}:{number}")


def _parsed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its nested values; a text that is not JSON stays, and `from_dict` refuses it."""
    found = dict(row)
    for name in NESTED:
        if isinstance(text := row.get(name), str):
            try:
                found[name] = json.loads(text)
            except (ValueError, RecursionError):
                continue
    return found


def is_scored(path: Path) -> bool:
    """Return whether a Parquet file has the columns of scored rows."""
    import polars as pl

    from excam.core.tables import scan_parquet

    try:
        columns = set(scan_parquet(path).collect_schema())
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected a Parquet file") from None
    return columns >= KEYS

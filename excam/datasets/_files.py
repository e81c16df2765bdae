"""Files to frames: of CSV, TSV, JSON, JSON Lines and Parquet the wanted columns, as text or lists of text.

Every function gives the names of the file's columns and a frame with the wanted ones that it has.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from excam.datasets._plain import header, is_array, listed, parsed

Wanted = Mapping[str, pl.DataType]  # column -> String or List(String)
Read = tuple[list[str], pl.DataFrame]

DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # what polars raises on a damaged file


def csv_rows(path: Path, separator: str, wanted: Wanted) -> Read:
    """All cells as text: "NA" and "None" stay, a missing cell is empty. Raises on rows wider than the header."""
    columns = header(path, separator)
    if not columns:
        return [], pl.DataFrame()
    # All columns are read: polars sees a row that is too wide, hence shifted, only then.
    frame = pl.read_csv(path, glob=False, separator=separator, infer_schema=False, empty_string_is_null=False)
    frame.columns = columns
    frame = frame.filter(pl.any_horizontal(pl.all() != ""))  # blank lines
    return columns, _as_wanted(frame.select(name for name in columns if name in wanted), wanted)


def json_rows(path: Path, wanted: Wanted) -> Read:
    """Rows of a JSON array or of JSON Lines, by polars where it is exact, else by the plain parser."""
    if pl.List in wanted.values():  # in a list, polars makes 1.0 of one row and "1" of another the same text
        return parsed(path, wanted)
    try:
        if is_array(path):
            frame = pl.read_json(path, schema=wanted)
        else:
            frame = pl.scan_ndjson(glob.escape(str(path)), schema=wanted).collect()
    except (*DAMAGED, OSError):
        return parsed(path, wanted)
    # polars makes half a character a NUL, and does not tell an absent column from an empty one
    if any(column.str.contains("\0", literal=True).any() or column.null_count() == len(column) for column in frame):
        return parsed(path, wanted)
    return list(wanted), frame


def parquet_rows(path: Path, wanted: Wanted, labels: Mapping[str, Sequence[str]]) -> Read:
    """Rows of a Parquet file; a column in `labels` holds numbers and comes back as names."""
    scanned = pl.scan_parquet(path, glob=False)
    columns = scanned.collect_schema().names()
    frame = scanned.select(name for name in columns if name in wanted).collect()
    named = (
        pl.col(name).replace_strict(range(len(names)), names, default=None, return_dtype=pl.String)
        for name, names in labels.items()
        if name in frame.columns
    )
    return columns, _as_wanted(frame.with_columns(named), wanted)


def _as_wanted(frame: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """Lists from lists or from their JSON text; everything else as text."""
    decoded = (
        pl.Series(name, [listed(cell) for cell in frame[name]], pl.List(pl.String))
        for name, kind in wanted.items()
        if kind == pl.List and frame.schema.get(name) == pl.String
    )
    return frame.with_columns(decoded).cast({name: wanted[name] for name in frame.columns})

"""Results in files: JSON Lines, Parquet or CSV by their suffix, written as they come; and as tables of data libraries.

Parquet has `COLUMNS`. CSV and tables of polars have among them the texts of the rows, their other columns, and the
explanation, each as a column of its own.
A file that is there already is never overwritten unless that is asked for.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import publish, say
from excam.core.row_files import BadRow, records
from excam.core.spreadsheets import guard_cell, remove_guard
from excam.core.text import plain_name, respelled
from excam.scoring.metric import LABELS, Row
from excam.scoring.results import Result, from_dict, is_result

if TYPE_CHECKING:
    import polars as pl

    from excam.scoring.ensemble import Ensemble
    from excam.scoring.scorer import Scorer

CHUNK = 4096  # rows in memory at once, and of a row group
SUFFIXES = (".jsonl", ".parquet", ".csv")
OF_IDS = ("duplicate-id", "no-id")  # failures of rows that another column of ids does not have
NUMBERS = ("score", "certainty", "probability")
TEXTS = ("id", "failure", "verdict", "thinking", "answered_by", *LABELS, "signature")  # not as JSON text
COLUMNS = ("id", "score", "failure", "verdict", "texts", "report", "parts", "certainty", "probability", "warnings",
           "recovered", "thinking", "answered_by", *LABELS, "columns",
           "agreement", "metric", "signature")  # fmt: skip
SHOWN = 4  # of these columns stand before those that only people read
EXPLANATION = "explanation"
Cell = str | float | None
BOM = "\ufeff"  # without it Excel takes UTF-8 for something else


def suffix_of(path: Path) -> str:
    """Return the format of a file to write. Raises InputInvalid for another."""
    suffix = path.suffix.lower() or ".jsonl"
    suffix = ".jsonl" if suffix in (".json", ".ndjson") else suffix
    if suffix not in SUFFIXES:
        raise InputInvalid(f"{path}: unknown kind {path.suffix}; expected {', '.join(SUFFIXES)}")
    return suffix


# --- reading


def read(path: Path) -> Iterator[Result]:
    """Yield the results of a file that `excam score --to` or the workflow wrote.

    Names of systems, languages and cultures are read as `plain_name`, and that is said. Raises InputInvalid for any
    other file, and for two rows of one system with one id: what is there twice counts twice.
    """
    seen: set[int] = set()  # hashes: 8 bytes each however long an id is
    names: dict[str, None] = {}
    try:
        for number, row in records(path):
            result = from_row(row, f"{path}:{number}")
            labels = {label: getattr(result, label) for label in LABELS}
            names |= dict.fromkeys(labels.values())
            result = replace(result, **{label: plain_name(name) for label, name in labels.items()})
            key = hash((result.id, result.system))
            if key in seen:
                what = f"the scored row {result.id} is there twice, and would count twice"
                raise InputInvalid(f"{path}:{number}: {what}; expected unique ids; keep one of the two")
            seen.add(key)
            yield result
        if note := respelled(names):
            say(f"{path}: {note}")
    except InputInvalid as problem:
        if "scored row" in str(problem):
            raise
        raise InputInvalid(f"{problem}; `excam score FILE --to {path}` writes such a file") from None


def is_scored(path: Path) -> bool:
    """Return whether the first row of a file is one that `excam score` writes."""
    try:
        first = next(iter(records(path)), None)
    except InputInvalid:
        return False
    return first is not None and is_result(first[1])


def from_row(row: Mapping[str, Any] | BadRow, where: str) -> Result:
    """Return the result in a row of a file. Raises InputInvalid, naming `where` it is, for any other row."""
    if isinstance(row, BadRow):
        raise InputInvalid(f"{where}: no scored row: {row.detail}")
    return from_dict(_from_cells(row) if "texts" in row and not isinstance(row["texts"], dict) else row, where)


def _from_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in the cells of a table that `write` wrote; what is not JSON stays, and is refused later."""
    values: dict[str, Any] = {}
    for name, cell in row.items():
        if name not in COLUMNS or cell is None or cell == "":
            continue
        if name in TEXTS:
            values[name] = remove_guard(cell)
        else:
            try:
                whole = float if name in NUMBERS else int  # a sheet has 0 for 0.0
                values[name] = json.loads(cell, parse_int=whole) if isinstance(cell, str) else cell
            except (ValueError, RecursionError):
                values[name] = cell
    return {"score": None, **values}


# --- writing


def write(path: Path, results: Iterable[Result]) -> None:
    """Write results in the format of the suffix, atomically, in the memory of a few; equal results give equal bytes.

    Of CSV, cells that a spreadsheet would run as a formula are guarded; `read`
    removes the guard, and leaves out cells that `COLUMNS` have not.
    """
    writers = {".jsonl": _write_lines, ".parquet": _write_parquet, ".csv": _write_csv}
    writers[suffix_of(path)](path, results)


def _write_lines(path: Path, results: Iterable[Result]) -> None:
    with publish(path) as temporary, temporary.open("wb") as stream:
        stream.writelines(f"{json.dumps(result.to_dict())}\n".encode("ascii") for result in results)


def _write_parquet(path: Path, results: Iterable[Result]) -> None:
    import polars as pl

    from excam.core.tables import write_frames

    kinds, cells = schema(), map(plain_cells, results)
    parts = iter(lambda: list(islice(cells, CHUNK)), [])
    write_frames(path, (pl.DataFrame(part, schema=kinds, orient="row") for part in parts), kinds, CHUNK)


def _lines(results: Iterable[Result]) -> Iterator[list[Cell]]:
    """Yield the header of a table, and its lines; the columns of its rows are those of the first ones."""
    coming = iter(results)
    first = list(islice(coming, CHUNK))
    row_columns = own_columns(first)
    yield list(header(row_columns))
    yield from (line(result, row_columns) for result in chain(first, coming))


def _write_csv(path: Path, results: Iterable[Result]) -> None:
    with publish(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        stream.write(BOM)
        table = csv.writer(stream)
        for cells in _lines(results):
            table.writerow([guard_cell(cell) if isinstance(cell, str) else cell for cell in cells])


# --- tables


def own_columns(results: Iterable[Result]) -> list[str]:
    """Return the columns of the results' rows that have cells of their own: all but those of a name in `COLUMNS`."""
    names = dict.fromkeys(name for result in results for name in (*result.texts, *result.columns))
    return [name for name in names if name not in (*COLUMNS, EXPLANATION)]


def header(row_columns: Sequence[str]) -> list[str]:
    """Return the columns of a table with these columns of rows."""
    return [*COLUMNS[:SHOWN], *row_columns, EXPLANATION, *COLUMNS[SHOWN:]]


def line(result: Result, row_columns: Sequence[str]) -> list[Cell]:
    """Return the cells of a result, in the order of `header`."""
    cells = plain_cells(result)
    row = {**result.columns, **result.texts}
    row_cells = [_shown(row.get(name)) for name in row_columns]
    explanation = _shown(result.report.explanation if result.report else None)
    return [*cells[:SHOWN], *row_cells, explanation, *cells[SHOWN:]]


def plain_cells(result: Result) -> list[Cell]:
    """Return the cells of `COLUMNS`; nested values are JSON text, and a lone surrogate becomes a question mark."""
    row = result.to_dict()
    return [_cell(name, row.get(name)) for name in COLUMNS]


def _shown(value: Any) -> Cell:
    return value if isinstance(value, int | float) else _cell("id" if isinstance(value, str) else "columns", value)


def _cell(name: str, value: Any) -> Cell:
    if value is None or name in NUMBERS:
        return value
    return str(value).encode(errors="replace").decode() if name in TEXTS else json.dumps(value)


def schema() -> dict[str, Any]:
    """Return the types of `COLUMNS` in polars."""
    import polars as pl

    return {name: pl.Float64 if name in NUMBERS else pl.String for name in COLUMNS}


def frame(results: Sequence[Result]) -> pl.DataFrame:
    """Return a table of all results. A column of the rows has the type of its values, or that of texts."""
    import polars as pl

    row_columns = own_columns(results)
    names, kinds = header(row_columns), schema()
    columns = zip(*(line(result, row_columns) for result in results), strict=True) if results else [()] * len(names)
    return pl.DataFrame(
        [
            pl.Series(name, values, None if name in row_columns else kinds.get(name, pl.String), strict=False)
            for name, values in zip(names, columns, strict=True)
        ]
    )


# --- going on


def is_of(result: Result, item: Row, judge: Scorer | Ensemble) -> bool:
    """Return whether a result is that of a row, by its texts and labels; of a metric of one's own, by its id too.

    Elsewhere nothing depends on an id, unless it made the row a failure.
    """
    same_labels = all(plain_name(getattr(result, name)) == plain_name(item.labels.get(name, "")) for name in LABELS)
    same_failure = result.failure == item.failure if item.failure else result.failure not in OF_IDS
    same_id = result.id == item.id or not judge.metric.is_own
    return (
        same_labels and same_failure and same_id and (result.texts, result.signature) == (item.texts, judge.signature)
    )


def earlier(
    path: Path, items: Iterable[Row], judge: Scorer | Ensemble, *, overwrite: bool = False
) -> Iterator[Result | None]:
    """Yield the result of each row in a finished file, None for one to ask about, until there are no more in the file.

    With `overwrite`, rows with a failure are asked about again, and all rows where it is of another judge. Else raises
    InputInvalid for another file: of no results, of another signature, or of other rows.

    Args:
        path: of the finished file, which may be missing
        items: the rows to score
        judge: that would score them
        overwrite: ask again about failures, and about all rows where another judge made the file
    """
    if not path.exists():
        return
    advice = "name another file, or give --overwrite"
    results, first, rows = read(path), None, iter(items)
    with suppress(InputInvalid):
        first = next(results, None)
    if overwrite and (first is None or first.signature != judge.signature):
        return
    if first is None:
        raise InputInvalid(f"{path}: is there, and is no file of results; expected one; {advice}")
    if first.signature != judge.signature:
        raise InputInvalid(f"{path}: has results of {first.signature}; expected those of {judge.signature}; {advice}")
    try:
        for result in chain([first], results):
            item = next(rows, None)
            if item is not None and is_of(result, item, judge):
                asked_again = overwrite and result.failure != item.failure
                yield None if asked_again else result.of_row(item)
            elif item is not None and (overwrite or result.failure in OF_IDS):
                yield None
            elif not overwrite:
                first_other = f"has results of other rows, the first is {result.id}"
                raise InputInvalid(f"{path}: {first_other}; expected those of the input; {advice}")
    except InputInvalid:  # with --overwrite, results from a damaged line on are not known
        if not overwrite:
            raise

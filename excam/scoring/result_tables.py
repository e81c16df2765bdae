"""Results as tables, in files and of data libraries: one list of columns for all of them.

Parquet has `COLUMNS`. CSV, workbooks and tables of polars and pandas have among them the texts of the rows, their other
columns, and the explanation, each as a column of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.scoring.metric import LABELS
from excam.scoring.results import Result

if TYPE_CHECKING:
    import polars as pl

NUMBERS = ("score", "certainty", "probability")
TEXTS = ("id", "failure", "verdict", "thinking", "answered_by", *LABELS, "signature")  # not as JSON text
COLUMNS = ("id", "score", "failure", "verdict", "texts", "report", "parts", "certainty", "probability", "warnings",
           "recovered", "thinking", "answered_by", *LABELS, "columns",
           "agreement", "metric", "signature")  # fmt: skip
SHOWN = 4  # of these columns stand before those that only people read
EXPLANATION = "explanation"
MOST_ROWS, MOST_CHARACTERS = 2**20, 2**15 - 1  # of a sheet, of a cell
Cell = str | float | None


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


def write_workbook(path: Path, lines: Iterable[Sequence[Cell]]) -> None:
    """Write lines as the sheet of a workbook; no text becomes a formula or a link, and equal lines give equal bytes.

    Raises InputInvalid for a text or a number of lines that a sheet cannot hold.
    """
    from datetime import UTC, datetime

    from xlsxwriter import Workbook  # pyright: ignore[reportMissingImports]  # an extra

    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with Workbook(str(path), options) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        sheet = book.add_worksheet("scored")
        sheet.freeze_panes(1, 1)
        for at, cells in enumerate(lines):
            if at >= MOST_ROWS or any(isinstance(cell, str) and len(cell) > MOST_CHARACTERS for cell in cells):
                what = f"row {at + 1} or a text in it"
                limits = f"{MOST_ROWS:,} rows and {MOST_CHARACTERS:,} characters a cell"
                raise InputInvalid(f"{what}: too much for a workbook; expected up to {limits}; name a .csv or .parquet")
            for column, cell in enumerate(cells):
                if isinstance(cell, str):
                    sheet.write_string(at, column, cell)
                elif cell is not None:
                    sheet.write_number(at, column, cell)

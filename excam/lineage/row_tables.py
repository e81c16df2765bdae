"""The tables of rows behind a figure or table of any system: the nearest files with ids among what it was made of.

Which file was made of which is in Snakemake's records, so this needs a run's folder. A page (HTML) that was made of a
table of rows shows them to people.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from excam.core import row_files, tables
from excam.core.exceptions import InputInvalid
from excam.lineage.recorded_hashes import Evidence

IDS = ("id", "sample", "item", "instance", "scenario", "row", "response", "answer", "question")
TABLES = (".parquet", ".jsonl")
RAW_IDS = ("id", "annotation_id")  # of a CSV file that no rule made; one that a rule made holds numbers


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table of rows, and the pages that were made of it."""

    file: str
    rows: int
    id_column: str
    columns: tuple[str, ...]
    pages: tuple[str, ...]

    def line(self) -> str:
        """Return one line for a reader."""
        pages = f"; to look at: {', '.join(self.pages)}" if self.pages else ""
        return f"{self.file}: {self.rows} rows by `{self.id_column}` ({', '.join(self.columns)}){pages}"


def behind(evidence: Evidence, artifact: str) -> list[RowTable]:
    """Return the nearest tables of rows that `artifact` was made of, in the order of its inputs.

    From its inputs back to theirs: below a table of rows nothing more is looked for. A CSV file that somebody gave,
    such as ratings, is one where there is no other table. Raise InputInvalid where no table has ids.
    """
    seen, at = {artifact}, [artifact]
    nearest, raw = list[RowTable](), list[RowTable]()
    while at:
        inputs = [file for made in at for file in _inputs(evidence, made)]
        at = []
        for file in dict.fromkeys(inputs):
            if file in seen:
                continue
            seen.add(file)
            if table := read_table(evidence, file):
                (raw if file.endswith(".csv") else nearest).append(table)
            else:
                at.append(file)
    if not (nearest or raw):
        raise InputInvalid(f"{artifact}: no table with ids among what it was made of; see excam audit {artifact}")
    return nearest or raw


def _inputs(evidence: Evidence, file: str) -> tuple[str, ...]:
    record = evidence.records.get(file)
    return record.inputs if record else ()


def read_table(evidence: Evidence, file: str) -> RowTable | None:
    """Return what a file says of its rows; None if it is gone, or no table, or has no column of ids."""
    path = evidence.find(file)
    if path is None or not (path.suffix in TABLES or (path.suffix == ".csv" and file not in evidence.records)):
        return None
    columns, rows = _size(path)
    names = RAW_IDS if path.suffix == ".csv" else IDS
    name = next((column for column in names if column in columns), None)
    if name is None:
        return None
    pages = sorted(
        output for output, record in evidence.records.items() if output.endswith(".html") and file in record.inputs
    )
    return RowTable(file, rows, name, columns, tuple(pages))


def _size(path: Path) -> tuple[tuple[str, ...], int]:
    """Return the columns and the number of rows of a table."""
    if path.suffix == ".parquet":
        frame = tables.read_frame(path)
        return tuple(frame.columns), frame.height
    rows = (row for _, row in row_files.rows(path)) if path.suffix == ".csv" else tables.read_jsonl(path)
    columns = tuple(next(rows, {}))
    return columns, bool(columns) + sum(1 for _ in rows)

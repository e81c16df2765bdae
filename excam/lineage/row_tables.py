"""The tables of rows behind a figure or table of any system: the nearest files with ids among what it was made of.

Which file was made of which is in Snakemake's records, so this needs a run's folder. A page (HTML) that was made of a
table of rows shows them to people.
"""

from __future__ import annotations

from dataclasses import dataclass

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.lineage.recorded_hashes import Evidence

IDS = ("id", "sample", "item", "instance", "scenario", "row", "response", "answer", "question")
TABLES = (".parquet", ".jsonl")


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
        shown = f"; to look at: {', '.join(self.pages)}" if self.pages else ""
        return f"{self.file}: {self.rows} rows by `{self.id_column}` ({', '.join(self.columns)}){shown}"


def behind(evidence: Evidence, artifact: str) -> list[RowTable]:
    """Return the nearest tables of rows that `artifact` was made of, in the order of its inputs.

    From its inputs back to theirs: below a table of rows nothing more is looked for. Raise InputInvalid where no table
    has ids.
    """
    known, at = {artifact}, [artifact]
    nearest: list[RowTable] = []
    while at:
        inputs = [file for made in at for file in _inputs(evidence, made)]
        at = []
        for file in dict.fromkeys(inputs):
            if file in known:
                continue
            known.add(file)
            if table := read_table(evidence, file):
                nearest.append(table)
            else:
                at.append(file)
    if not nearest:
        raise InputInvalid(f"{artifact}: no table with ids among what it was made of; see excam audit {artifact}")
    return nearest


def _inputs(evidence: Evidence, file: str) -> tuple[str, ...]:
    record = evidence.records.get(file)
    return record.inputs if record else ()


def read_table(evidence: Evidence, file: str) -> RowTable | None:
    """Return what a file says of its rows; None if it is gone, or no table, or has no column of ids."""
    path = evidence.find(file)
    if path is None or path.suffix not in TABLES:
        return None
    if path.suffix == ".parquet":
        frame = tables.read_frame(path)
        columns, rows = tuple(frame.columns), frame.height
    else:
        lines = tables.read_jsonl(path)
        columns = tuple(next(lines, {}))
        rows = bool(columns) + sum(1 for _ in lines)
    name = next((column for column in IDS if column in columns), None)
    if name is None:
        return None
    pages = sorted(
        output for output, record in evidence.records.items() if output.endswith(".html") and file in record.inputs
    )
    return RowTable(file, rows, name, columns, tuple(pages))

"""From one line of a CSV table to its rows: those rows of the tables it was made of that have the values of the line.

The file of a line does not name its rows, so each selection is stated with its reason:

- a column of the same name, if the user named it or the line's value is no number;
- the path, where each value has a table with the same columns (scores/bleu.parquet, scores/comet.parquet);
- the ids that were selected in another table of the same rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid, in_a_line
from excam.lineage import row_tables
from excam.lineage.recorded_hashes import Evidence
from excam.lineage.row_tables import RowTable

IDS_SHOWN = 10
FORMATS = (".csv", ".jsonl")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a CSV table, the columns by which the user named it, and the values of every column in all lines."""

    file: str
    values: Mapping[str, str]
    named: Sequence[str]
    known: Mapping[str, frozenset[str]]

    def text(self) -> str:
        """Return the line for a reader."""
        return f"{self.file}: {', '.join(f'{name}={value}' for name, value in self.values.items() if value)}"


@dataclass(slots=True)
class SelectedRows:
    """The rows of a table that are behind a line, by what they were selected, and values that could not be used."""

    table: RowTable
    rows: list[dict[str, Any]]
    all_ids: frozenset[str]
    selected_by: list[str] = field(default_factory=list)
    not_used: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """Return the ids of the rows, each once."""
        return list(dict.fromkeys(str(row[self.table.id_column]) for row in self.rows))

    def keep_rows(self, rows: Iterable[dict[str, Any]], reason: str) -> None:
        """Keep only these rows."""
        self.rows = list(rows)
        self.selected_by.append(reason)

    def lines(self) -> Iterator[str]:
        """Yield lines for a reader: count and selection, some ids, and the pages."""
        table, ids = self.table, self.ids
        if self.selected_by:
            how = f"{len(self.rows)} of {table.rows} rows, selected by {', '.join(self.selected_by)}"
        else:
            how = f"no value in common with the line: as far as is recorded, computed from all {table.rows} rows"
        yield f"{table.file}: {how}" + (f"; not used: {', '.join(self.not_used)}" if self.not_used else "")
        more = f", and {len(ids) - IDS_SHOWN} more: --to FILE" if len(ids) > IDS_SHOWN else ""
        yield f"  {len(ids)} by `{table.id_column}`: {', '.join(ids[:IDS_SHOWN])}{more}"
        if table.pages:
            yield f"  to look at: {', '.join(table.pages)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the same for programs, with all ids."""
        return {
            **{"file": self.table.file, "rows": len(self.rows), "of": self.table.rows},
            **{"selected_by": self.selected_by, "not_used": self.not_used},
            **{"id_column": self.table.id_column, "ids": self.ids, "pages": self.table.pages},
        }


def find_line(run: Evidence, file: str, where: Sequence[str]) -> Line:
    """Return the line of a CSV table that has all values of `where`, each COLUMN=VALUE.

    Raise InputInvalid unless it is one line.
    """
    path = run.find(file)
    lines = tables.read_lines(path) if path and path.suffix == ".csv" else []
    if not lines:
        raise InputInvalid(f"{file}: found no lines; expected a CSV table for --where; see excam rows {file}")
    known = {name: frozenset(line[name] for line in lines) for name in lines[0]}
    named = list[str]()
    for condition in where:
        column, sign, value = condition.partition("=")
        if not sign or column not in known:
            columns = in_a_line(", ".join(known))
            raise InputInvalid(
                f"--where: found {condition}; expected COLUMN=VALUE; the columns of {file} are {columns}"
            )
        there = in_a_line(", ".join(dict.fromkeys(line[column] for line in lines)))
        lines = [line for line in lines if line[column] == value]
        named.append(column)
        if not lines:
            conditions = "".join(f" with {other}" for other in where[: len(named) - 1])
            raise InputInvalid(
                f"{file}: found no line{conditions} with {condition}; expected one of {there}; name one of them"
            )
    if len(lines) > 1:
        column = next((name for name in known if len({line[name] for line in lines}) > 1), named[-1])
        there = in_a_line(", ".join(dict.fromkeys(line[column] for line in lines)))
        matched = f"found {len(lines)} lines with {', '.join(where)}"
        raise InputInvalid(f"{file}: {matched}; expected one; add --where {column}=VALUE of {there}")
    return Line(file, lines[0], named, known)


def behind(run: Evidence, line: Line) -> list[SelectedRows]:
    """Return the tables of rows behind the file of a line that have rows with its values, with these rows.

    Tables in which nothing could be selected come last.

    Raise InputInvalid where there are none.
    """
    by_columns: dict[frozenset[str], list[SelectedRows]] = defaultdict(list)
    for table in row_tables.behind(run, line.file):
        rows = list(row_tables.read_rows(run.find(table.file) or Path(table.file)))
        ids = frozenset(str(row[table.id_column]) for row in rows)
        by_columns[frozenset(table.columns)].append(SelectedRows(table, rows, ids))
    groups = list(by_columns.values())
    for group in groups:
        _select_by_path(group, line)
        _select_by_columns(group, line)
    _select_by_ids(groups)
    for table in (table for group in groups for table in group):
        used = {reason.partition("=")[0] for reason in (*table.selected_by, *table.not_used)}
        table.not_used += [f"{name}={line.values[name]} (no such column)" for name in line.named if name not in used]
    if not (selected := [table for group in groups for table in group if table.rows]):
        raise InputInvalid(f"{line.text()}: no row has these values; name other ones; see excam rows {line.file}")
    return sorted(selected, key=lambda table: not table.selected_by)


def _select_by_path(group: list[SelectedRows], line: Line) -> None:
    """Keep the tables whose path has the line's value, at the place where paths have values of that column.

    A place means the column that has most values in common with it, and at least two; where two columns have as many,
    it is not used.
    """
    paths = [Path(table.table.file).with_suffix("").parts for table in group]
    if len({len(parts) for parts in paths}) != 1:
        return
    for place, values in enumerate(map(frozenset, zip(*paths, strict=True))):
        common = sorted(((len(values & known), name) for name, known in line.known.items()), reverse=True)
        (most, column), (second, _) = (*common, (0, ""))[:2]
        if most > max(second, 1) and line.values[column] in values:
            for table, parts in zip(group, paths, strict=True):
                same = parts[place] == line.values[column]
                table.keep_rows(table.rows if same else [], f"{column}={parts[place]} of its path")


def _select_by_columns(group: list[SelectedRows], line: Line) -> None:
    """Keep the rows of tables with the same columns that have the line's values in columns of the same names."""
    for column, value in line.values.items():
        having = [table for table in group if column in table.table.columns]
        values = {text for table in having for row in table.rows for text in _texts(row.get(column))}
        used = column in line.named or not _is_number(value)
        used = used and not any(reason.startswith(f"{column}=") for table in group for reason in table.selected_by)
        if not (having and used and value):
            continue
        for table in having:
            if value in values:
                table.keep_rows((row for row in table.rows if value in _texts(row.get(column))), f"{column}={value}")
            else:
                table.not_used.append(f"{column}={value} (no row has it)")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _texts(value: Any) -> set[str]:
    """Return a value of a row as a CSV table has it; each of a list."""
    if isinstance(value, list):
        return {text for part in value for text in _texts(part)}
    return set() if value is None else {str(value), str(value).lower()} if isinstance(value, bool) else {str(value)}


def _select_by_ids(groups: list[list[SelectedRows]]) -> None:
    """Keep in each table the ids that were selected in tables with other columns, if these have all of its ids."""
    selections = [
        (
            group,
            frozenset().union(*(table.all_ids for table in group)),
            frozenset(name for table in group for name in table.ids),
            ", ".join(table.table.file for table in group if table.rows),
        )
        for group in groups
        if any(table.selected_by for table in group)
    ]
    for other, known, chosen, files in selections:
        for table in (table for group in groups if group is not other for table in group):
            if table.all_ids <= known and not table.all_ids <= chosen:
                name = table.table.id_column
                table.keep_rows(
                    (row for row in table.rows if str(row[name]) in chosen), f"the ids of {in_a_line(files)}"
                )


def write(path: Path, selected: Sequence[SelectedRows]) -> None:
    """Write the rows as CSV or JSON Lines, each with its table in the column `row_table`."""
    rows = [{"row_table": table.table.file, **row} for table in selected for row in table.rows]
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        provenance.write_text(path, text)
        return
    flat = [{name: _cell(value) for name, value in row.items()} for row in rows]
    tables.write_lines(path, list(dict.fromkeys(name for row in rows for name in row)), flat)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (list, dict)) else value

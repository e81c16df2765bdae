"""Rows of users' files and programs as a metric reads them: columns are found, and a row that is none is a failure.

A row that cannot be scored is a `Row` with a failure: it keeps its place among the results and is counted there. What
concerns a whole file, such as a column that is not there, is refused in one line.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.package_tables import table_rows
from excam.core.row_files import BadRow, Record, log_status, records_of
from excam.core.row_layouts import Layout, layout_of
from excam.core.spreadsheets import remove_guard
from excam.core.text import id_text
from excam.scoring import log_rows
from excam.scoring.metric import LABELS, Metric, Row

WRITTEN = frozenset({"id", "score", "signature"})  # columns by which a CSV file is one that excam score wrote
MADE = frozenset({"instruction", "output", "target"})  # columns that are made of turns and of logs
LOOKED_AT = 1000  # rows whose columns are taken for those of the file
ROLES = ("id", *LABELS)  # of columns beside those of the metric
PROGRAM = "rows"  # the place of rows that are in no file
OPTIONS = ("instruction", "output", *ROLES)  # names of columns that have an option of their own


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a metric's columns and the labels are in a file: `theirs` by our name; `renamed` are those said."""

    theirs: Mapping[str, str]
    renamed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@cache
def _aliases() -> Mapping[str, frozenset[str]]:
    """Return the names by which people call a column, by role: `asked`, `given`, `id` and the labels."""
    lines = table_rows("excam.scoring", "column_names.tsv")[1:]
    return {role: frozenset(name.replace("_", " ") for name in names.split()) for role, names in lines}


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def columns_of(names: Collection[str], metric: Metric, named: Mapping[str, str], where: str = PROGRAM) -> Columns:
    """Return where the columns of a metric are among the `names` of a file.

    `named` has the user's choices: our name, or `instruction` and `output` for the two columns of `metric.pair`. Other
    columns are found by their name, else by the one usual name of their role. Raises InputInvalid for a column that is
    not there, or may be several.
    """
    chosen = _chosen(named, metric, where)
    theirs: dict[str, str] = {}
    instruction, output = metric.pair or ("", "")
    roles = {name: name for name in (*metric.reads, *ROLES)} | {instruction: "asked", output: "given"}
    free = [name for name in names if name not in metric.reads]
    for column in (*metric.reads, *ROLES):
        if column in chosen:
            if chosen[column] not in names:
                raise InputInvalid(f"{where}: column {in_a_line(chosen[column])}: not found; found {_listed(names)}")
            theirs[column] = chosen[column]
        elif column in names:
            theirs[column] = column
        else:
            usual = {_plain(column), *_aliases().get(roles.get(column, ""), ())}
            matches = [name for name in free if _plain(name) in usual and name not in chosen.values()]
            if len(matches) == 1:
                theirs[column] = matches[0]
            elif matches and column in (*metric.columns, instruction):
                options = " or ".join(_option(column, name, metric) for name in matches)
                option = f"give {options}" if where != PROGRAM else f"rename one to {column}"
                raise InputInvalid(f"{where}: column {column}: found {_listed(matches)}; expected one; {option}")
            elif column in metric.columns:
                option = f"give {_option(column, 'NAME', metric)}" if where != PROGRAM else "rename the key"
                raise InputInvalid(f"{where}: column {column}: not found; found {_listed(names)}; {option}")
    renamed = tuple(f"{in_a_line(name)} as {column}" for column, name in theirs.items() if name != column)
    used = set(theirs.values())
    return Columns(theirs, renamed, tuple(name for name in names if name not in used))


def _chosen(named: Mapping[str, str], metric: Metric, where: str) -> dict[str, str]:
    """Return the user's choices by the metric's own names."""
    known = (*metric.reads, *ROLES)
    pair: dict[str, str] = dict(zip(("instruction", "output"), metric.pair or (), strict=False))
    chosen: dict[str, str] = {}
    for name, value in named.items():
        column = name if name in known else pair.get(name)
        if column is None:
            raise InputInvalid(
                f"{where}: metric {metric.name} has no column {name}; it reads {', '.join(known)}; expected one of them"
            )
        if chosen.get(column, value) != value:
            raise InputInvalid(f"{where}: column {column}: found {chosen[column]} and {value}; expected one of them")
        chosen[column] = value
    return chosen


def _option(column: str, name: str, metric: Metric) -> str:
    own = dict(zip(metric.pair or (), ("instruction", "output"), strict=False)).get(column, column)
    return f"--{own} {name}" if own in OPTIONS else f"--column {column}={name}"


def _listed(names: Collection[str]) -> str:
    return in_a_line(", ".join(names)) if names else "none"


def row(record: Record, columns: Columns, metric: Metric) -> Row:
    """Return a record as a row, without an id if it has none; with a failure if the metric cannot score it."""
    if isinstance(record, BadRow):
        return Row("", {}, {}, record.reason)
    values: dict[str, Any] = {}
    failures: list[str] = []
    for column in metric.reads:
        value = record.get(columns.theirs.get(column, column))
        if is_absent(value) or (value == "" and column in metric.optional):
            if column in metric.columns:
                failures.append(f"missing-{column}")
            elif column in metric.defaults:
                values[column] = metric.defaults[column]
        elif not isinstance(value, str) and column not in metric.values:
            failures.append(f"not-text-{column}")
        else:
            values[column] = value
            if column in metric.columns and not metric.scores_blank and not str(value).strip():
                failures.append(f"empty-{column}")
    labels: dict[str, str] = {}
    for name in LABELS:
        value = record.get(columns.theirs.get(name, name))
        if isinstance(value, str | int | float) and not is_absent(value):
            labels[name] = _text_of(value)
        elif not is_absent(value):
            failures.append(f"not-text-{name}")
    given_id = record.get(columns.theirs.get("id", "id"))
    name = id_text(given_id)
    if name is None and not is_absent(given_id) and str(given_id).strip():
        failures.append("no-id")
    return Row(name or "", values, labels, failures[0] if failures else None)


def is_absent(value: Any) -> bool:
    """Return whether a cell holds nothing: null, or the NaN that pandas writes for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text_of(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def with_unique_ids(rows: Iterable[tuple[int, Row]], *, have_ids: bool) -> Iterator[Row]:
    """Yield rows with unique ids: a row without one gets its number; one that repeats an id becomes a failure.

    The number follows a # where other rows have ids, which may be numbers, and behind an id that is there already.
    """
    seen: set[int] = set()  # digests instead of ids: 8 bytes each however long an id is
    for number, original in rows:
        name, failure = original.id or f"{'#' * have_ids}{number}", original.failure
        if not _is_new(name, seen):
            failure = failure or ("duplicate-id" if original.id else None)
            name += f"#{number}"
            while not _is_new(name, seen):
                name += "#"
        yield original if name == original.id else Row(name, original.values, original.labels, failure)


def _is_new(name: str, seen: set[int]) -> bool:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest)  # collision probability for a million ids: 3e-8
    is_new = number not in seen
    seen.add(number)
    return is_new


_EXPECTED = 'expected dictionaries, one for each row, such as [{"instruction": "...", "output": "..."}]'


def _refuse_no_rows(rows: Any) -> None:
    """Raise InputInvalid for what programs give in place of rows: a path, one row, a table of pandas or polars."""
    kind = type(rows).__name__
    table = {"pandas": 'table.to_dict("records")', "polars": "table.to_dicts()"}.get(
        type(rows).__module__.split(".")[0]
    )
    if table:
        raise InputInvalid(f"rows: found {kind}; {_EXPECTED}; give {table}")
    if isinstance(rows, str | Mapping | Path) or not isinstance(rows, Iterable):
        raise InputInvalid(f"rows: found {kind}; {_EXPECTED}")


def of_mappings(rows: Iterable[Mapping[str, Any] | Row], metric: Metric) -> Iterator[Row]:
    """Return an iterator over the rows of a program; their columns are found as those of a file.

    Raises InputInvalid for a column that no row has: of a sequence at once, else where the first row is read.
    """
    _refuse_no_rows(rows)
    coming = iter(rows)
    first = list(coming) if isinstance(rows, list | tuple) else list(islice(coming, 1))
    names = dict.fromkeys(name for entry in first if isinstance(entry, Mapping) for name in entry)
    are_rows = all(isinstance(entry, Row) for entry in first)
    if first and not names and not are_rows:
        raise InputInvalid(f"rows: found {type(first[0]).__name__}; {_EXPECTED}")
    columns = Columns({}) if are_rows else columns_of(list(map(str, names)), metric, {})

    def numbered_rows() -> Iterator[tuple[int, Row]]:
        for number, entry in enumerate(chain(first, coming), 1):
            if isinstance(entry, Row):
                yield number, entry
            else:
                bad = BadRow("not-an-object", "") if not isinstance(entry, Mapping) else entry
                yield number, row(bad, columns, metric)

    return with_unique_ids(numbered_rows(), have_ids=are_rows or "id" in columns.theirs)


@dataclass
class Survey:
    """What a first look at all rows of a file found."""

    rows: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    first: str = ""  # the first failure, with its place


class RowFile:
    """The rows of a file for a metric. It can be iterated several times."""

    def __init__(
        self,
        path: Path,
        metric: Metric,
        named: Mapping[str, str] | None = None,
        encoding: str | None = None,
        limit: int | None = None,
    ) -> None:
        """Find out how the file is read and where its columns are. Raises InputInvalid as `columns_of`."""
        self.path, self.metric, self.limit = path, metric, limit
        self._layout: Layout = layout_of(path, encoding)
        named = named or {}
        first = [record for _, record in islice(records_of(self._layout), LOOKED_AT)]
        objects = [record for record in first if not isinstance(record, BadRow)]
        self._is_guarded = self._layout.kind == "csv" and any(record.keys() >= WRITTEN for record in objects[:1])
        chosen = _chosen(named, metric, str(path))
        answered = self._is_answered(objects, chosen)
        reads_turns = self._reads_turns(objects, chosen)
        self._shape = log_rows.shape_of(objects, answered=answered) if reads_turns or answered else None
        if self._shape:
            objects = [made for record in objects if not isinstance(made := self._shape.read(record), BadRow)] or [{}]
        if not first:
            raise InputInvalid(f"{path}: 0 rows; expected one JSON object a line, or a table with a header")
        names = dict.fromkeys(name for record in objects for name in record)
        self.columns = columns_of(list(names), metric, named, str(path)) if objects else Columns({})

    def _is_answered(self, objects: Sequence[Mapping[str, Any]], chosen: Mapping[str, str]) -> bool:
        """Return whether a column, by its name or the user's, has the text that answers, and none the instruction."""
        if self.metric.pair is None:
            return False
        instruction, output = self.metric.pair
        usual = {_plain(output), *_aliases()["given"]}
        texts = {name for record in objects for name, value in record.items() if isinstance(value, str)}
        output_names = (
            {chosen[output]} & texts if output in chosen else {name for name in texts if _plain(name) in usual}
        )
        return bool(output_names) and instruction not in chosen and instruction not in texts

    def _reads_turns(self, objects: Sequence[Mapping[str, Any]], chosen: Mapping[str, str]) -> bool:
        """Return whether an instruction and an output are wanted that may be in turns, or in the log of a program."""
        pair = set(self.metric.pair or ())
        if chosen.keys() & pair or not pair:
            return not MADE.isdisjoint(chosen.values())
        return not any(all(isinstance(record.get(name), str) for name in pair) for record in objects)

    def __iter__(self) -> Iterator[Row]:
        return islice(with_unique_ids(self._rows(), have_ids="id" in self.columns.theirs), self.limit)

    def _rows(self) -> Iterator[tuple[int, Row]]:
        for number, record in records_of(self._layout):
            if self._is_guarded and not isinstance(record, BadRow):
                record = {name: remove_guard(value) if value else value for name, value in record.items()}
            if self._shape and not isinstance(record, BadRow):
                record = self._shape.read(record)
            yield number, row(record, self.columns, self.metric)

    def survey(self) -> Survey:
        """Read all rows once and count them, and their failures."""
        survey = Survey()
        for number, read_row in enumerate(self, 1):
            survey.rows += 1
            if read_row.failure:
                survey.failures[read_row.failure] += 1
                survey.first = survey.first or f"{self.path}: row {number} ({read_row.id}): {read_row.failure}"
        return survey

    @cached_property
    def said(self) -> str:
        """Return in a line how the file is read where that is not as its names say; else ""."""
        notes = [*self._layout.notes]
        if self._shape:
            notes.append(self._shape.said)
        if self._shape and (status := log_status(self._layout)) not in ("", "success"):
            notes.append(f"the log says of its run: {in_a_line(status)}; samples may be missing or without an answer")
        if self.columns.renamed:
            notes.append(f"read {', '.join(self.columns.renamed)}")
        if not notes:
            return ""
        unread = f"; not read: {_listed(self.columns.unread)}" if self.columns.unread and not self._shape else ""
        return f"{self.path}: {'; '.join(notes)}{unread}"

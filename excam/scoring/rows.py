"""Rows of users' files and programs as a metric reads them: columns are found, and a row that is none is a failure.

A row that cannot be scored is a `Row` with a failure: it keeps its place among the results and is counted there. What
concerns a whole file, such as a column that is not there, is refused in one line.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from excam.core import languages
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.package_tables import table_rows
from excam.core.row_files import BadRow, Record, Records, log_status, records_of
from excam.core.row_layouts import FileLayout, layout_of
from excam.core.spreadsheets import remove_guard
from excam.core.text import id_text
from excam.inference import answer_text
from excam.scoring import log_rows
from excam.scoring.metric import LABELS, Metric, Row
from excam.scoring.results import FIELDS
from excam.scoring.warnings import REASONING, STAND_IN, UNCLOSED

WRITTEN = frozenset({"id", "score", "signature"})  # columns by which a CSV file is one that excam score wrote
_OF_RESULTS = {*FIELDS, "explanation"} - {"id", *LABELS}  # columns there that are no column of its rows
MADE = ("instruction", "output")  # columns that are made of turns
LOOKED_AT = 1000  # rows whose columns are taken for those of the file
ROLES = ("id", *LABELS)  # of columns beside those of the metric
ANSWERS = ("given", "translation")  # roles of columns with texts that a model wrote
PROGRAM = "rows"  # the place of rows that are in no file
OPTIONS = (*MADE, *ROLES)  # names of columns that have an option of their own


@dataclass(frozen=True, slots=True)
class FileColumns:
    """Where a metric's columns and the labels are in a file: `theirs` by our name; `renamed` are those said.

    `turns` is a column of conversations, which have the columns MADE of a row that lacks them.
    """

    theirs: Mapping[str, str]
    renamed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    turns: str = ""
    made: tuple[str, ...] = ()  # of MADE, those that no column has
    answers: frozenset[str] = frozenset()  # our names of the columns with texts that a model wrote


@cache
def aliases() -> Mapping[str, frozenset[str]]:
    """Return the names by which people call a column, by role: `asked`, `given` and other names of ours."""
    lines = table_rows("excam.scoring", "column_names.tsv")[1:]
    return {role: frozenset(name.replace("_", " ") for name in names.split()) for role, names in lines}


def plain_name(name: str) -> str:
    """Return the name of a column by which spellings are compared: without case, underscores and further spaces."""
    return " ".join(name.replace("_", " ").casefold().split())


def _words(name: str) -> list[str]:
    """Return the words of a column's name, in lower case: of `questionText-en` question, text and en."""
    return [word.casefold() for word in re.split(r"[\s_./()\[\]:-]+|(?<=[a-z0-9])(?=[A-Z])", name) if word]


def _says_id(name: str) -> bool:
    """Return whether the name of a column says that it has ids, by its last word: question_id, qid, uuid, key, Nr."""
    last = (_words(name) or [""])[-1]
    return last.endswith("id") or last in ("key", "nr", "no")


@cache
def _qualifiers() -> frozenset[str]:
    """Return the words that usual names of texts have beside the one that says what they are, such as text or user."""
    names = {role: aliases()[role] for role in ("asked", "given")}
    return frozenset(
        word
        for usual_names in names.values()
        for name in usual_names
        for word in name.split()
        if word not in usual_names
    )


def _means(name: str, role: str) -> bool:
    """Return whether a column's name means a role, as plural, with a language, or with words that change nothing.

    So `instructions`, `question_en` and `user_input` are an instruction; `reference_answer` is no answer.
    """
    usual_names = aliases().get(role, frozenset())
    words = [word for word in _words(name) if languages.language_name(word) not in languages.tested_languages()]
    telling = [word for word in words if word not in _qualifiers()]
    single = all(word in usual_names or word.removesuffix("s") in usual_names for word in telling)
    return not _says_id(name) and (" ".join(words) in usual_names or (bool(telling) and single))


def columns_of(names: Collection[str], metric: Metric, named: Mapping[str, str], where: str = PROGRAM) -> FileColumns:
    """Return where the columns of a metric are among the `names` of a file.

    `named` has the user's choices: our name, or `instruction` and `output` for the two columns of `metric.pair`. Other
    columns are found by their name, else by the usual one of their role, else by what the words of a name mean. What
    there is not is looked for in the turns of conversations. Raises InputInvalid for a column that is not there, or may
    be several.
    """
    chosen = _chosen(named, metric, where)
    turns = next((name for name in names if name in log_rows.TURNS), "")
    theirs = _theirs(names, metric, chosen, MADE if turns else (), where)
    missing = {*metric.columns} - {*theirs, *metric.without}
    if absent := [column for column in metric.reads if column in missing]:
        option = f"give {' '.join(_option(column, 'NAME', metric) for column in absent)}"
        option = option if where != PROGRAM else "rename the key"
        if standing := [column for column in absent if column in metric.stand_ins]:
            how = f"--without {standing[0]}" if where != PROGRAM else f'open it with without=["{standing[0]}"]'
            option += f", or {how} if there is none"
        raise InputInvalid(f"{where}: column {', '.join(absent)}: not found; found {_listed(names)}; {option}")
    turns = turns if metric.pair or not set(MADE).isdisjoint(theirs.values()) else ""
    renamed = [f"{in_a_line(name)} as {column}" for column, name in theirs.items() if name != column and name in names]
    return FileColumns(
        theirs,
        tuple(renamed),
        tuple(name for name in names if name not in {*theirs.values(), turns}),
        turns,
        tuple(name for name in MADE if turns and name in theirs.values() and name not in names),
        frozenset(column for column in metric.columns if _role(column, metric) in ANSWERS),
    )


def _theirs(
    names: Collection[str], metric: Metric, chosen: Mapping[str, str], made: Sequence[str], where: str
) -> dict[str, str]:
    """Return by our names those of a file's columns: chosen, called so, meant, or `made` of turns."""
    of_turns = dict(zip(metric.pair or (), made, strict=False))
    free = [name for name in names if name not in metric.reads and name not in chosen.values()]
    theirs: dict[str, str] = {}
    for column in (*metric.reads, *ROLES):
        if column in metric.without:
            continue
        if column in chosen and chosen[column] not in {*names, *made}:
            raise InputInvalid(f"{where}: column {in_a_line(chosen[column])}: not found; found {_listed(names)}")
        is_there = column in chosen or column in names
        matches = [chosen.get(column, column)] if is_there else _matches(column, free, metric)
        if len(matches) == 1:
            theirs[column] = matches[0]
        elif matches and column in metric.columns:
            options = " or ".join(_option(column, name, metric) for name in matches)
            option = f"give {options}" if where != PROGRAM else f"rename one to {column}"
            raise InputInvalid(f"{where}: column {column}: found {_listed(matches)}; expected one; {option}")
        elif column in of_turns:
            theirs[column] = of_turns[column]
    return theirs


def _role(column: str, metric: Metric) -> str:
    """Return under which role usual names of a metric's column are listed."""
    role = dict(zip(metric.pair or (), ("asked", "given"), strict=False)).get(column, column)
    return role.rpartition("_")[2] if column in metric.stand_ins else role  # target_language: language


def _matches(column: str, names: Sequence[str], metric: Metric) -> list[str]:
    """Return which names mean a column: the usual ones, else for a column that is needed those whose words mean it."""
    role = _role(column, metric)
    usual = {plain_name(column), *aliases().get(role, ())}
    matches = [name for name in names if plain_name(name) in usual]
    return matches or [name for name in names if column in metric.columns and _means(name, role)]


def _chosen(named: Mapping[str, str], metric: Metric, where: str) -> dict[str, str]:
    """Return the user's choices by the metric's own names."""
    names = (*metric.reads, *ROLES)
    pair: dict[str, str] = dict(zip(("instruction", "output"), metric.pair or (), strict=False))
    chosen: dict[str, str] = {}
    for name, value in named.items():
        column = name if name in names else pair.get(name)
        if column is None:
            raise InputInvalid(
                f"{where}: metric {metric.name} has no column {name}; it reads {', '.join(names)}; expected one of them"
            )
        if column in metric.without:
            raise InputInvalid(f"{where}: column {column}: found {value} and --without {column}; expected one of them")
        if chosen.get(column, value) != value:
            raise InputInvalid(f"{where}: column {column}: found {chosen[column]} and {value}; expected one of them")
        chosen[column] = value
    return chosen


def _option(column: str, name: str, metric: Metric) -> str:
    option = dict(zip(metric.pair or (), ("instruction", "output"), strict=False)).get(column, column)
    return f"--{option} {name}" if option in OPTIONS else f"--column {column}={name}"


def _listed(names: Collection[str]) -> str:
    return in_a_line(", ".join(names)) if names else "none"


def with_id(columns: FileColumns, records: Iterable[Record]) -> tuple[FileColumns, str]:
    """Return columns with an id where no column is called so, see `id_columns`, and what is said of it."""
    names = [] if "id" in columns.theirs else [name for name in columns.unread if _says_id(name)]
    if not (complete := id_columns(names, records, columns.theirs.get("system")) if names else []):
        repeated = f"{_listed(names)}: not the id, as some rows lack it or share one; rows are numbered"
        return columns, repeated if names else ""
    first, *others = complete
    return replace(
        columns,
        theirs={**columns.theirs, "id": first},
        renamed=(*columns.renamed, f"{in_a_line(first)} as id"),
        unread=tuple(name for name in columns.unread if name != first),
    ), f"{_listed(others)} may be the id too: --id NAME" if others else ""


def id_columns(names: Iterable[str], records: Iterable[Record], system: str | None = None) -> list[str]:
    """Return which columns have ids: their name says so, and of a system all `records` have another one there."""
    seen: dict[str, set[int]] = {name: set() for name in names if _says_id(name)}
    for record in records:
        if not seen:
            break
        if not isinstance(record, BadRow):
            values, of = {name: id_text(record.get(name)) for name in seen}, system and record.get(system)
            seen = {name: ids for name, ids in seen.items() if (value := values[name]) and _is_new((value, of), ids)}
    return list(seen)


def row(record: Record, columns: FileColumns, metric: Metric) -> Row:
    """Return a record as a row, without an id if it has none; with a failure if the metric cannot score it."""
    cells = _with_turns(record, columns, metric)
    if isinstance(cells, BadRow):
        return Row("", {}, {}, cells.reason)
    values: dict[str, Any] = {name: metric.stand_ins[name] for name in metric.without}
    failures: list[str] = []
    notes = [STAND_IN] * bool(values)
    for column, value, note in _read_cells(cells, columns, metric):
        notes += note
        if isinstance(value, BadRow):
            failures.append(value.reason)
        elif is_absent(value) or (value == "" and column in metric.optional):
            failures += [f"missing-{column}"] * (column in metric.columns)
        elif not isinstance(value, str) and column not in metric.values:
            failures.append(f"not-text-{column}")
        else:
            values[column] = value
            if column in metric.columns and not metric.scores_blank and not str(value).strip():
                failures.append(f"empty-{column}")
    present = {name: value for name in LABELS if not is_absent(value := cells.get(columns.theirs.get(name, name)))}
    labels = {name: text_of(value) for name, value in present.items() if isinstance(value, str | int | float)}
    failures += [f"not-text-{name}" for name in present if name not in labels]
    given_id = cells.get(columns.theirs.get("id", "id"))
    name = id_text(given_id)
    if name is None and not is_missing(given_id):
        failures.append("no-id")
    others = {name: json_value(cells[name]) for name in columns.unread if not is_absent(cells.get(name))}
    return Row(name or "", values, labels, next(iter(failures), None), others, notes)


def _read_cells(cells: Mapping[str, Any], columns: FileColumns, metric: Metric) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield what a metric reads: the column, its value or the turn that it is, and the codes of warnings about it."""
    for column in metric.reads:
        if column not in metric.without:
            value = cells.get(columns.theirs.get(column, column))
            if metric.pair and column == metric.pair[0]:
                value = log_rows.asked(value)
            is_answer = column in columns.answers
            value, notes = without_reasoning(log_rows.answered(value)) if is_answer else (value, [])
            yield column, value, notes


def _with_turns(record: Record, columns: FileColumns, metric: Metric) -> Record:
    """Return a record with the turns of its conversation in place of the columns that it lacks."""
    if isinstance(record, BadRow) or (turns := record.get(columns.turns)) is None:
        return record
    question, answer = (columns.theirs.get(name, name) for name in metric.pair or MADE)
    if not is_absent(record.get(answer)):
        return record if isinstance(record.get(question), str) else {**record, question: turns}
    return {**record, question: turns, answer: turns} if log_rows.is_turns(turns) else log_rows.NO_ANSWER


def without_reasoning(text: Any) -> tuple[Any, list[str]]:
    """Return an answer without the reasoning that it begins with, and the codes of warnings about it."""
    if not isinstance(text, str):
        return text, []
    answer = answer_text.after_reasoning(text)
    return (text, [UNCLOSED] * answer_text.has_marks(text)) if answer is None else (answer, [REASONING])


def json_value(value: Any) -> Any:
    """Return a cell as JSON holds it: a date as text, bytes as their number."""
    if isinstance(value, Mapping):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


def is_absent(value: Any) -> bool:
    """Return whether a cell holds nothing: null, or the NaN that pandas writes for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_missing(value: Any) -> bool:
    """Return whether a cell has no value: null, blank, or the NaN that columns of numbers have in its place."""
    return is_absent(value) or (isinstance(value, str) and not value.strip())


def text_of(value: str | float) -> str:
    """Return a name or a number as text; 1.0 is 1, as tables with gaps write it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def with_unique_ids(rows: Iterable[tuple[int, Row]], *, have_ids: bool) -> Iterator[Row]:
    """Yield rows with ids, unique within a system: a row without one gets its number; one that repeats it is a failure.

    The number follows a # where other rows have ids, which may be numbers, and behind an id that is there already.
    """
    seen: set[int] = set()  # digests instead of ids: 8 bytes each however long an id is
    for number, original in rows:
        name, failure = original.id or f"{'#' * have_ids}{number}", original.failure
        system = original.labels.get("system", "")
        if not _is_new((name, system), seen):
            failure = failure or ("duplicate-id" if original.id else None)
            name += f"#{number}"
            while not _is_new((name, system), seen):
                name += "#"
        yield original if name == original.id else replace(original, id=name, failure=failure)


def _is_new(name: object, seen: set[int]) -> bool:
    digest = hashlib.blake2b(repr(name).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest)  # collision probability for a million ids: 3e-8
    is_new = number not in seen
    seen.add(number)
    return is_new


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
        self.path, self.metric, self._limit = path, metric, limit
        self._layout: FileLayout = layout_of(path, encoding)
        self._logs: set[str] = set()  # of which programs samples were read
        self._left_out = 0  # samples of the harness whose answers another sample has, see `_records`
        first = [record for _, record in islice(self._records(), LOOKED_AT)]
        if not first:
            raise InputInvalid(f"{path}: 0 rows; expected one JSON object a line, or a table with a header")
        objects = [record for record in first if not isinstance(record, BadRow)]
        names = list(dict.fromkeys(name for record in objects for name in record))
        columns = columns_of(names, metric, named or {}, str(path)) if objects else FileColumns({})
        self.columns, note = with_id(columns, (record for _, record in self._records()))
        self._notes = [note] * bool(note)
        if columns.made:
            contents = {"instruction": "earlier turns and the last one of a person", "output": "the last answer"}
            read = ", ".join(f"{contents[name]} as {name}" for name in columns.made)
            self._notes.append(f"{columns.turns}: {read}; not what a system or a tool says")

    def __iter__(self) -> Iterator[Row]:
        numbered = ((number, row(record, self.columns, self.metric)) for number, record in self._records())
        return islice(with_unique_ids(numbered, have_ids="id" in self.columns.theirs), self._limit)

    def _records(self) -> Records:
        """Yield the rows of the file; of a sample of lm-evaluation-harness that occurs once for each filter, one."""
        seen: set[int] = set()
        self._left_out = 0
        for number, record in records_of(self._layout):
            if isinstance(record, BadRow):
                yield number, record
            elif log_rows.is_of_harness(record):
                self._logs.add(log_rows.HARNESS)
                if _is_new((record["doc_id"], record["resps"]), seen):
                    yield from ((number, answer) for answer in log_rows.of_harness(record))
                else:
                    self._left_out += 1
            elif log_rows.is_of_inspect(record):
                self._logs.add(log_rows.INSPECT)
                yield number, log_rows.of_inspect(record)
            elif self._layout.kind in ("csv", "workbook") and record.keys() >= WRITTEN:
                texts = {name: value for name, value in record.items() if name not in _OF_RESULTS}
                is_guarded = self._layout.kind == "csv"
                yield number, {name: remove_guard(value) for name, value in texts.items()} if is_guarded else texts
            else:
                yield number, record

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
        notes = [*self._layout.notes, *sorted(self._logs), *self._notes]
        if self._left_out:
            notes.append(f"left out, with the same answers behind another filter: {self._left_out}")
        if self._logs and (status := log_status(self._layout)) not in ("", "success"):
            notes.append(f"the log says of its run: {in_a_line(status)}; samples may be missing or without an answer")
        if self.columns.renamed:
            notes.append(f"read {', '.join(self.columns.renamed)}")
        if not notes and not any(_means(name, role) for name in self.columns.unread for role in ("asked", "given")):
            return ""
        notes += [f"not read, kept in `columns`: {_listed(self.columns.unread)}"] * bool(self.columns.unread)
        return f"{self.path}: {'; '.join(notes)}"

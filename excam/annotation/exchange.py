"""Files of answers, as JSON and as CSV: the page exports them, a backup restores them, the tables read them.

The same answers give the same bytes, whether the page's script, the store or this module writes them. Texts come from
others and are opened in spreadsheets, so in CSV they are guarded (`excam.core.spreadsheets`). Marks, orders and slots
are JSON in a cell.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from excam.annotation import answers as checked
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task
from excam.annotation.form import SUBMITTED, Form
from excam.annotation.form_parts import Kind
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.core.spreadsheets import guard_formula, remove_guard

FORMAT = "excam-answers/1"
LARGEST = 64 * 2**20  # bytes of a file that is read: 100 tasks with the longest comments of 16 people
QUOTED = re.compile('[,;"\t\r\n]')  # what puts a field of CSV into quotes
BOM = "\ufeff"  # without it Excel takes UTF-8 for something else

Line = Mapping[str, str]


def to_json(campaign: Campaign, answers: Iterable[Answer]) -> str:
    """Return answers as JSON text, as `JSON.stringify(_, null, 1)` writes it and a line break.

    In the order of the campaign's tasks, then of annotators. Raises InputInvalid for a task that is not in the campaign
    and for two answers of one annotator about one task.
    """
    rows = [answer.row() for answer in in_campaign_order(campaign, answers)]
    return json.dumps({"format": FORMAT, "campaign": campaign.id, "answers": rows}, ensure_ascii=False, indent=1) + "\n"


def to_csv(campaign: Campaign, answers: Iterable[Answer], owner: Sequence[str] = ()) -> str:
    """Return answers as CSV text (RFC 4180, with a byte order mark), in the order of `to_json`; raises as it does.

    In front of an answer stand the campaign and the task's facets; behind it the columns of `owner`, from
    `owner_columns`: what the campaign's owner may see and an annotator may not.
    """
    tasks = campaign.by_id
    of_columns = kinds(campaign.form)
    lines: list[Sequence[str]] = [(*head(campaign.form), *of_columns, *owner)]
    for answer in in_campaign_order(campaign, answers):
        task = tasks[answer.task]
        fields = [_text(of_columns[name], value) for name, value in answer.row().items()]
        before = [task.facet(name) for name in campaign.form.facets]
        behind = [_owner_text(task, name) for name in owner]
        lines.append((campaign.id, *map(guard_formula, before), *fields, *map(guard_formula, behind)))
    return BOM + "".join(",".join(map(_quoted, line)) + "\r\n" for line in lines)


def to_lines(campaign: Campaign, answers: Iterable[Answer]) -> str:
    """Return answers as JSON Lines for the campaign's owner, each with all of its task; in the order of `to_json`.

    In front of an answer stand the campaign, `row` (the input's own id), language and culture; behind it all that the
    input's row held to be `shown` and `hidden`. Raises as `to_json` does.
    """
    tasks = campaign.by_id
    rows: list[dict[str, Any]] = []
    for answer in in_campaign_order(campaign, answers):
        task = tasks[answer.task]
        before = {"campaign": campaign.id, "row": task.row, "language": task.language, "culture": task.culture}
        rows.append({**before, **answer.row(), "shown": task.shown, "hidden": task.hidden})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def owner_columns(campaign: Campaign) -> tuple[str, ...]:
    """Return the columns of a task behind an answer in the owner's CSV: hidden entries, `row`, what was shown."""
    names = dict.fromkeys(name for task in campaign.tasks for name in task.shown if name not in campaign.form.facets)
    return (*campaign.form.owner, "row", *(guard_formula(f"task.{name}") for name in names))


def _owner_text(task: Task, column: str) -> str:
    """Return a column of `owner_columns`; what is shown and is no text as JSON, "" where the task lacks it."""
    if column == "row":
        return task.row
    if not column.startswith("task."):
        return task.hidden.get(column, "")
    value = task.shown.get(remove_guard(column).removeprefix("task."), "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read(source: Path | bytes, campaign: Campaign) -> list[Answer]:
    """Return the answers of a file of either kind, or of its bytes, in the order of `to_json`.

    Raises InputInvalid for what is too large, broken, of another campaign, about an unknown task, saved more than a day
    from now, lacks a column or field, has a field too many, or answers one task twice for one annotator.
    """
    name = str(source) if isinstance(source, Path) else "answers"
    content = _content(source, name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputInvalid(
            f"{name}: not UTF-8 at byte {problem.start}; export it again, or take the JSON file"
        ) from None
    try:
        rows = _from_json(text, campaign) if text.lstrip()[:1] == "{" else _from_csv(text, campaign)
        answers = in_campaign_order(campaign, [checked.read(row, campaign) for row in rows])
        refuse_future(answers)
    except InputInvalid as problem:
        raise InputInvalid(f"{name}: {problem}") from None
    return answers


@dataclass(frozen=True, slots=True)
class Merged:
    """Each answer once, in the order of the campaign, and the number of repeated and replaced ones."""

    answers: list[Answer]
    repeated: int  # the same answer again
    superseded: int  # another answer, saved before the one that counts


def exported_files(folder: str | None) -> list[Path]:
    """Return the files in `folder` and its sub-folders that may hold answers; none if it is None or missing."""
    home = Path(folder) if folder else None
    paths = [path for kind in ("*.json", "*.csv") for path in home.rglob(kind)] if home else []
    return sorted(path for path in paths if path.is_file())


def read_all(files: Iterable[Path], campaign: Campaign) -> Merged:
    """Return the answers of several files; of two of one annotator about one task the one that was saved later.

    How many that replaces is said. Raises InputInvalid as `read` does.
    """
    latest: dict[tuple[str, str], Answer] = {}
    repeated = superseded = 0
    for answer in (answer for file in files for answer in read(file, campaign)):
        key = answer.task, answer.annotator
        if earlier := latest.get(key):
            repeated, superseded = repeated + (earlier == answer), superseded + (earlier != answer)
            answer = max(earlier, answer, key=lambda either: (either.saved, repr(either)))
        latest[key] = answer
    if superseded:
        say(f"answers that another file has, too: {superseded} replaced by what the same annotator saved later")
    return Merged(in_campaign_order(campaign, latest.values()), repeated, superseded)


def refuse_future(answers: Sequence[Answer]) -> None:
    """Raise InputInvalid if an answer was saved more than a day from now: it would replace every later one."""
    latest = checked.utc_text(datetime.now(UTC) + timedelta(days=1))
    if late := [answer for answer in answers if answer.saved > latest]:
        raise InputInvalid(
            f"{len(late)} of {len(answers)} answers are saved more than a day from now, as task {late[0].task} at "
            f"{late[0].saved}; expected the time they were given; was a clock wrong? correct it, and `saved` in a file"
        )


def in_campaign_order(campaign: Campaign, answers: Iterable[Answer]) -> list[Answer]:
    """Return answers in the order of their tasks in the campaign, then by annotator.

    Raises InputInvalid as `to_json` does.
    """
    place = {task.id: at for at, task in enumerate(campaign.tasks)}
    by_task: dict[tuple[int, str], Answer] = {}
    for answer in answers:
        if answer.task not in place:
            raise InputInvalid(
                f"task {answer.task} is not in campaign {campaign.id}; take the file that was drawn with it"
            )
        key = (place[answer.task], answer.annotator)
        if key in by_task:
            raise InputInvalid(f"task {answer.task} is answered twice by {answer.annotator}; expected once; keep one")
        by_task[key] = answer
    return [by_task[key] for key in sorted(by_task)]


def _content(source: Path | bytes, name: str) -> bytes:
    """Read a file or bytes, with a limit of `LARGEST` in memory even if the file grows meanwhile."""
    if isinstance(source, bytes):
        content = source
    else:
        try:
            with source.open("rb") as stream:
                content = stream.read(LARGEST + 1)
        except OSError as problem:
            raise InputInvalid(f"{source}: {problem.strerror}; expected a file of exported answers") from None
    if len(content) > LARGEST:
        raise InputInvalid(f"{name}: more than {LARGEST >> 20} MB; expected exported answers; export a part each")
    return content


def _from_json(text: str, campaign: Campaign) -> Iterator[Mapping[str, Any]]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputInvalid(f"not complete JSON ({str(problem)[:100]}); export it again") from None
    if raw.get("format") != FORMAT or set(raw) != {"format", "campaign", "answers"}:
        raise InputInvalid(f"not in the form {FORMAT}; expected what the page or `excam annotate export` writes")
    _same_campaign(raw["campaign"], campaign)
    if not isinstance(raw["answers"], list) or not all(isinstance(row, dict) for row in raw["answers"]):
        raise InputInvalid("answers is not a list of objects; expected what the page or `excam annotate export` writes")
    yield from raw["answers"]


def _from_csv(text: str, campaign: Campaign) -> Iterator[Mapping[str, Any]]:
    tasks = campaign.by_id
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = next(table, [])
        _check_head(names, campaign.form)
        for fields in filter(None, table):
            if len(fields) != len(names):
                raise InputInvalid(
                    f"line {table.line_num}: {len(fields)} fields; expected {len(names)}; export it again"
                )
            line = dict(zip(names, fields, strict=True))
            _same_campaign(line["campaign"], campaign)
            if task := tasks.get(line["task"]):
                _same_task(line, task, campaign.form)
            yield {name: _value(kind, line[name]) for name, kind in kinds(campaign.form).items()}
    except csv.Error as problem:
        raise InputInvalid(f"line {table.line_num}: not complete CSV ({problem}); export it again") from None


def head(form: Form) -> tuple[str, ...]:
    """Return the columns of the task, in front of those of the answer."""
    return ("campaign", *form.facets)


def kinds(form: Form) -> dict[str, Kind]:
    """Return the kind of each column of an answer, in order; of those that every answer has, the kind alike."""
    columns: dict[str, Kind] = {name: question.kind for name, question in form.columns.items()}
    frame: dict[str, Kind] = {"seconds": "number", SUBMITTED: "flags"}
    return {name: columns.get(name) or frame.get(name, "choice") for name in checked.columns(form)}


def _check_head(names: Sequence[str], form: Form) -> None:
    """Raise InputInvalid unless every column of an answer is there once; others are the owner's, and not read."""
    for name in (*head(form), *checked.columns(form)):
        if names.count(name) != 1:
            raise InputInvalid(
                f"the column {name} is there {names.count(name)} times; expected once, as the page or "
                "`excam annotate export` writes it"
            )


def _same_campaign(named: Any, campaign: Campaign) -> None:
    if named != campaign.id:
        raise InputInvalid(
            f"answers of campaign {str(named)[:40]!r}; expected {campaign.id}; choose that campaign's file"
        )


def _same_task(line: Line, task: Task, form: Form) -> None:
    """Raise InputInvalid unless a line describes the task as the campaign does: a column may be shifted or sorted."""
    for name in form.facets:
        if (written := remove_guard(line[name])) != task.facet(name):
            raise InputInvalid(
                f"{name} of task {task.id} is {written[:40]!r}; expected {task.facet(name)!r}; export it again"
            )


def _text(kind: Kind, value: Any) -> str:
    """Return a value as CSV text, not quoted yet."""
    if kind == "flags":
        return "true" if value else "false"
    if kind in ("span", "order", "slots"):
        return guard_formula(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) if value else ""
    return guard_formula(value) if kind == "text" else "" if value is None else str(value)


def _value(kind: Kind, text: str) -> Any:
    """Return the value of a CSV text: the inverse of `_text`. A text without a value stays text, which `answers.read`
    refuses by its type.
    """
    if kind == "flags":
        return {"true": True, "false": False}.get(text, text)
    if kind in ("scale", "number"):
        return _number(text)
    if kind in ("span", "order", "slots"):
        try:
            return json.loads(remove_guard(text)) if text else {"slots": {}}.get(kind, [])
        except (ValueError, RecursionError):
            return text
    return remove_guard(text) if kind == "text" else text


def _number(text: str) -> Any:
    if not text:
        return None
    if re.fullmatch("0|-?[1-9][0-9]{0,15}", text):
        return int(text)
    return float(text) if re.fullmatch("-?(0|[1-9][0-9]{0,15})[.][0-9]{1,4}", text) else text


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if QUOTED.search(field) else field

"""Tasks from rows of a file, for forms whose tasks no other command draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.annotation.campaign import Task, unshowable
from excam.annotation.form import Form
from excam.core import row_files
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.hash_order import digest
from excam.core.provenance import say
from excam.core.text import id_text
from excam.scoring.rows import aliases, id_columns, plain_name

USUALLY_NAMED = ("language", "culture", "system")  # found by the names that `excam score` knows
OWN = ("id", "language", "culture", "hidden", "assigned")  # of a row, beside what the form shows


def tasks(path: Path, form: Form, annotators: int, named: Mapping[str, str] = {}) -> list[Task]:
    """Return one task for each row of a file, in its order. Raise InputInvalid for a row that is none.

    `named` says which column is the id or an entry that the form shows or keeps for its owner. Others are found by
    their names in any case, language, culture and system by their usual ones, an id by what its name says; else rows
    are numbered. Annotators see what the form shows; every other column is hidden from them and stays the owner's.
    """
    rows = list(row_files.rows(path))
    if not rows:
        raise InputInvalid(f"{path}: no rows; expected a row for each task")
    columns = _columns(path, [row for _, row in rows], form, named)
    renamed = [f"{in_a_line(theirs)} as {ours}" for ours, theirs in columns.items() if ours != theirs]
    drawn = [_task(f"{path}:{number}", str(number), row, form, columns) for number, row in rows]
    drawn = [replace(task, annotators=annotators) for task in drawn]
    if renamed or "id" not in columns:
        numbered = [] if "id" in columns else ["the number of each row as its id (another column: --id NAME)"]
        say(f"{path}: read {', '.join([*renamed, *numbered])}")
    if hidden := dict.fromkeys(in_a_line(name) for task in drawn for name in task.hidden):
        say(f"{path}: hidden from annotators: {', '.join(hidden)}; `export --to answers.jsonl` has these columns")
    if empty := [name for name in form.owner if all(name not in task.hidden for task in drawn)]:
        say(f"{path}: no column for {empty[0]} of the form's owner, which stays empty: --column {empty[0]}=COLUMN")
    return drawn


def _columns(path: Path, rows: Sequence[Mapping[str, Any]], form: Form, named: Mapping[str, str]) -> dict[str, str]:
    """Return which column of the rows each entry is."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    entries = list(dict.fromkeys((*OWN, *form.entries, *form.owner)))
    if absent := [theirs for theirs in named.values() if theirs not in names]:
        raise InputInvalid(f"{path}: no column {absent[0]}; found {in_a_line(', '.join(names))}")
    if strange := [ours for ours in named if ours not in entries]:
        raise InputInvalid(f"--column: the form {form.name} has no {strange[0]}; expected one of {', '.join(entries)}")
    columns = {entry: entry for entry in entries if entry in names} | dict(named)
    for entry in entries:
        spellings = {plain_name(entry), *(aliases()[entry] if entry in USUALLY_NAMED else ())}
        matches = [name for name in names if name not in columns.values() and plain_name(name) in spellings]
        if entry not in columns and len(matches) == 1:
            columns[entry] = matches[0]
    if "id" not in columns and (ids := id_columns(set(names) - set(columns.values()), rows)):
        columns["id"] = min(ids, key=names.index)
    return columns


def _task(where: str, number: str, row: Mapping[str, Any], form: Form, columns: Mapping[str, str]) -> Task:
    owners = {theirs: ours for ours, theirs in columns.items() if ours in form.owner and ours not in form.entries}
    mine = {ours: row[theirs] for ours, theirs in columns.items() if theirs in row and theirs not in owners}
    hidden_names = [name for name in row if name in owners or name not in columns.values()]
    rest = {owners.get(name, name): row[name] for name in hidden_names if row[name] not in (None, "")}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in rest.items()}
    name = id_text(mine.get("id", number)) or ""
    hidden, assigned = (_parsed(mine.get(entry), empty) for entry, empty in (("hidden", {}), ("assigned", [])))
    for problem in _problems(mine, name, hidden, assigned):
        raise InputInvalid(f"{where}: {problem}")
    task = Task(
        id=digest(0, "annotation/row", form.name, name)[:16],
        row=name,
        language=mine.get("language") or "",
        culture=mine.get("culture") or "",
        annotators=1,
        shown={entry: value for entry, value in mine.items() if entry not in OWN},
        hidden={**texts, **hidden},
        assigned=tuple(assigned),
    )
    for problem in unshowable(form, task):  # here, where the row has a line, not only an id
        seen = in_a_line(", ".join(row)) or "nothing"
        raise InputInvalid(f"{where}: {problem}; found {seen}; name the column with --column ENTRY=COLUMN")
    return task


def _parsed(value: Any, empty: Any) -> Any:
    """Return a value, that of the JSON in a cell of a table, or that of an empty cell."""
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        with suppress(ValueError):
            return json.loads(value)
    return empty if value in (None, "") else value


def _problems(mine: Mapping[str, Any], name: str, hidden: Any, assigned: Any) -> Iterator[str]:
    if not name:
        yield "no `id`; expected a text, another one for each row; take another column with --id NAME"
    for entry in ("language", "culture"):
        if not isinstance(mine.get(entry) or "", str):
            yield f"{entry} is {mine[entry]!r:.40}; expected a text"
    if not isinstance(hidden, dict) or not all(isinstance(value, str) for value in hidden.values()):
        yield f"hidden is {hidden!r:.40}; expected an object of texts"
    if not isinstance(assigned, list) or not all(isinstance(value, str) for value in assigned):
        yield f"assigned is {assigned!r:.40}; expected a list of annotators"

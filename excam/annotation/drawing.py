"""Tasks from rows of a file, for forms whose tasks no other command draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from excam.annotation.campaign import Task, unshowable
from excam.annotation.form import Form
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.provenance import say

OWN = ("id", "language", "culture", "hidden", "assigned")  # the rest is shown


def tasks(path: Path, form: Form, annotators: int) -> list[Task]:
    """Return one task for each row of a file, in its order. Raise InputInvalid for a row that is none.

    An entry of the form's `owner` that no row hides is said: rows of people's own may know no system, or a name is
    misspelt.
    """
    drawn = [_task(f"{path}:{number}", row, form, annotators) for number, row in row_files.rows(path)]
    if not drawn:
        raise InputInvalid(f"{path}: no rows; expected an object in each line")
    hidden = dict.fromkeys(name for task in drawn for name in task.hidden)
    if absent := [name for name in form.owner if name not in hidden]:
        say(
            f"{path}: no row hides {', '.join(absent)}, which the form {form.name} names as its owner's: empty in your "
            f"export; the rows hide {', '.join(hidden) or 'nothing'}"
        )
    return drawn


def _task(where: str, row: Mapping[str, Any], form: Form, annotators: int) -> Task:
    for problem in _problems(row):
        raise InputInvalid(f"{where}: {problem}")
    task = Task(
        id=digest(0, "annotation/row", form.name, row["id"])[:16],
        row=row["id"],
        language=row.get("language", ""),
        culture=row.get("culture", ""),
        annotators=annotators,
        shown={name: value for name, value in row.items() if name not in OWN},
        hidden=row.get("hidden", {}),
        assigned=tuple(row.get("assigned", ())),
    )
    for problem in unshowable(form, task):  # here, where the row has a line, not only an id
        raise InputInvalid(f"{where}: {problem}; the row shows {', '.join(task.shown) or 'nothing'}")
    return task


def _problems(row: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(row.get("id"), str) or not row["id"]:
        yield "no `id`; expected a text, another one for each row"
    for name in ("language", "culture"):
        if not isinstance(row.get(name, ""), str):
            yield f"{name} is {row[name]!r:.40}; expected a text"
    hidden, assigned = row.get("hidden", {}), row.get("assigned", [])
    if not isinstance(hidden, dict) or not all(isinstance(value, str) for value in hidden.values()):
        yield f"hidden is {hidden!r:.40}; expected an object of texts"
    if not isinstance(assigned, list) or not all(isinstance(value, str) for value in assigned):
        yield f"assigned is {assigned!r:.40}; expected a list of annotators"

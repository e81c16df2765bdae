"""The history of a store: how an incoming answer is handled. Each function runs inside the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from excam.annotation.answers import Answer
from excam.annotation.storage import SEALED, row_checksum, utc_now

OF_ALL = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL GROUP BY annotator, task"
OF_ONE = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL AND annotator = ? GROUP BY task"
OF_TASK = (
    "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL AND task = ? GROUP BY annotator "
    "ORDER BY annotator"
)
_LATEST = """SELECT revision, answer FROM history WHERE annotator = ? AND task = ? AND revision IS NOT NULL
    ORDER BY revision DESC LIMIT 1"""
_KNOWN = "SELECT 1 FROM history WHERE annotator = ? AND task = ? AND answer = ?"
_ADD = f"INSERT INTO history ({', '.join(SEALED)}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Saved:
    """The current answer to a task; its revision is 1, 2, ... for this annotator and task"""

    revision: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Conflict:
    """An answer was refused because it was edited from a revision that is not the latest. The history keeps it."""

    latest: Saved


def saved_from_row(revision: int, answer: str) -> Saved:
    """Return the current answer from its database row."""
    return Saved(revision, Answer.from_row(json.loads(answer)))


def take(db: sqlite3.Connection, base: int, answer: Answer) -> Saved | Conflict:
    """Accept an answer that was edited from revision `base`, unless there is a later revision."""
    latest = _latest(db, answer)
    if latest and latest.answer == answer:
        return latest
    if latest and latest.revision != base:
        _keep(db, "conflict", base, answer)
        return Conflict(latest)
    return _accept(db, "saved", base, latest, answer)


def merge(db: sqlite3.Connection, answer: Answer) -> str:
    """Accept an imported answer if there is none or it was saved later. Return `new`, `newer`, `older` or `same`."""
    latest = _latest(db, answer)
    if latest and latest.answer == answer:
        return "same"
    if latest and latest.answer.saved >= answer.saved:
        _keep(db, "older", 0, answer)
        return "older"
    _accept(db, "imported", latest.revision if latest else 0, latest, answer)
    return "newer" if latest else "new"


def _latest(db: sqlite3.Connection, answer: Answer) -> Saved | None:
    row = db.execute(_LATEST, (answer.annotator, answer.task)).fetchone()
    return saved_from_row(*row) if row else None


def _accept(db: sqlite3.Connection, kind: str, base: int, latest: Saved | None, answer: Answer) -> Saved:
    revision = latest.revision + 1 if latest else 1
    _write(db, revision, base, kind, answer)
    return Saved(revision, answer)


def _keep(db: sqlite3.Connection, kind: str, base: int, answer: Answer) -> None:
    """Record a refused answer once: repeated requests and repeated imports add nothing."""
    if not db.execute(_KNOWN, (answer.annotator, answer.task, _answer_json(answer))).fetchone():
        _write(db, None, base, kind, answer)


def _write(db: sqlite3.Connection, revision: int | None, base: int, kind: str, answer: Answer) -> None:
    values = (answer.annotator, answer.task, revision, base, kind, _answer_json(answer), utc_now())
    db.execute(_ADD, (*values, row_checksum(values)))


def _answer_json(answer: Answer) -> str:
    return json.dumps(answer.row(), ensure_ascii=False)

"""The history of a store: how an incoming answer is handled. Each function runs inside the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Literal

from excam.annotation.answers import Answer
from excam.annotation.storage import SEALED, row_checksum, utc_now

Kind = Literal["saved", "imported"]  # where an answer comes from: the page, or a file
Outcome = Literal["new", "newer", "older", "same"]
OF_ALL = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL GROUP BY annotator, task"
OF_ONE = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL AND annotator = ? GROUP BY task"
OF_TASK = (
    "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL AND task = ? GROUP BY annotator "
    "ORDER BY annotator"
)
_LATEST = """SELECT revision, answer FROM history WHERE annotator = ? AND task = ? AND revision IS NOT NULL
    ORDER BY revision DESC LIMIT 1"""
_KNOWN = "SELECT 1 FROM history WHERE annotator = ? AND task = ? AND answer = ?"
_ADD = f"INSERT INTO history ({', '.join(SEALED)}, seal) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Saved:
    """The current answer to a task; its revision is 1, 2, ... for this annotator and task"""

    revision: int
    answer: Answer


def saved_from_row(revision: int, answer: str) -> Saved:
    """Return the current answer from its database row."""
    return Saved(revision, Answer.from_row(json.loads(answer)))


def take(db: sqlite3.Connection, kind: Kind, answer: Answer) -> tuple[Outcome, Saved]:
    """Write an answer into the history, and return what counts now: of two the one saved later, on a tie the first.

    One that equals what counts, or that was written as `older` before, is not written again: a reply was lost.
    """
    latest = _latest(db, answer)
    if latest and latest.answer == answer:
        return "same", latest
    if latest and latest.answer.saved >= answer.saved:
        if not db.execute(_KNOWN, (answer.annotator, answer.task, _answer_json(answer))).fetchone():
            _write(db, None, "older", answer)
        return "older", latest
    revision = latest.revision + 1 if latest else 1
    _write(db, revision, kind, answer)
    return "newer" if latest else "new", Saved(revision, answer)


def _latest(db: sqlite3.Connection, answer: Answer) -> Saved | None:
    row = db.execute(_LATEST, (answer.annotator, answer.task)).fetchone()
    return saved_from_row(*row) if row else None


def _write(db: sqlite3.Connection, revision: int | None, kind: str, answer: Answer) -> None:
    values = (answer.annotator, answer.task, revision, kind, _answer_json(answer), utc_now())
    db.execute(_ADD, (*values, row_checksum(values)))


def _answer_json(answer: Answer) -> str:
    return json.dumps(answer.row(), ensure_ascii=False)

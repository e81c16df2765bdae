"""The history of a store: what becomes of an answer that comes in. Each function is part of a caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass

from excam.annotation.answers import Answer
from excam.annotation.storage import SEALED, now, seal

OF_ALL = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL GROUP BY annotator, task"
OF_ONE = "SELECT max(revision), answer FROM history WHERE revision IS NOT NULL AND annotator = ? GROUP BY task"
EVENTS = "SELECT revision, base, kind, received, answer FROM history WHERE annotator = ? AND task = ? ORDER BY number"
_LATEST = """SELECT revision, answer FROM history WHERE annotator = ? AND task = ? AND revision IS NOT NULL
    ORDER BY revision DESC LIMIT 1"""
_KNOWN = "SELECT 1 FROM history WHERE annotator = ? AND task = ? AND answer = ?"
_ADD = f"INSERT INTO history ({', '.join(SEALED)}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Saved:
    """An answer as it stands; its revision is 1 for the first about this task by this annotator, and so on."""

    revision: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Conflict:
    """An answer was not taken, for it was edited from another revision than the latest. It is in the history."""

    latest: Saved


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the history. `kind`: saved or imported, with a revision; conflict or older, without one."""

    revision: int | None
    base: int
    kind: str
    received: str
    answer: Answer


def saved(revision: int, answer: str) -> Saved:
    """An answer as it stands, from its row."""
    return Saved(revision, Answer(**json.loads(answer)))


def event(revision: int | None, base: int, kind: str, received: str, answer: str) -> Event:
    """A line, from its row."""
    return Event(revision, base, kind, received, Answer(**json.loads(answer)))


def take(db: sqlite3.Connection, base: int, answer: Answer) -> Saved | Conflict:
    """Accept an answer that was edited from revision `base`, unless a later one is there."""
    latest = _latest(db, answer)
    if latest and latest.answer == answer:
        return latest
    if latest and latest.revision != base:
        _keep(db, "conflict", base, answer)
        return Conflict(latest)
    return _accept(db, "saved", base, latest, answer)


def merge(db: sqlite3.Connection, answer: Answer) -> str:
    """Accept an answer of a file if there is none or it was saved later: `new`, `newer`, `older` or `same`."""
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
    return saved(*row) if row else None


def _accept(db: sqlite3.Connection, kind: str, base: int, latest: Saved | None, answer: Answer) -> Saved:
    revision = latest.revision + 1 if latest else 1
    _write(db, revision, base, kind, answer)
    return Saved(revision, answer)


def _keep(db: sqlite3.Connection, kind: str, base: int, answer: Answer) -> None:
    """Keep what does not stand, once: who asks again and again, or imports a file twice, adds nothing."""
    if not db.execute(_KNOWN, (answer.annotator, answer.task, _text(answer))).fetchone():
        _write(db, None, base, kind, answer)


def _write(db: sqlite3.Connection, revision: int | None, base: int, kind: str, answer: Answer) -> None:
    values = (answer.annotator, answer.task, revision, base, kind, _text(answer), now())
    db.execute(_ADD, (*values, seal(values)))


def _text(answer: Answer) -> str:
    return json.dumps(asdict(answer), ensure_ascii=False)

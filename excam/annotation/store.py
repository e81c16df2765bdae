"""The store of a campaign with several annotators: one file, in which the last answer counts and none is lost.

It holds the campaign, the annotators, and a history: every answer that counted, with its revision, and every one that
came when a later one was there. When a method returns, its data are on disk.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from excam.annotation import storage
from excam.annotation.answers import PATTERNS, Answer
from excam.annotation.storage import SEALED, row_checksum, utc_now
from excam.core.exceptions import InputInvalid
from excam.core.names import shown_names

Kind = Literal["saved", "imported"]  # where an answer comes from: the page, or a file
Outcome = Literal["new", "newer", "older", "same"]
# the answers that count, of all, of an annotator, about a task, or both
_CURRENT = """SELECT max(revision), answer FROM history WHERE revision IS NOT NULL{}
    GROUP BY annotator, task ORDER BY annotator"""
_KNOWN = "SELECT 1 FROM history WHERE annotator = ? AND task = ? AND answer = ?"
_ADD = f"INSERT INTO history ({', '.join(SEALED)}, seal) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Saved:
    """The current answer to a task; its revision is 1, 2, ... for this annotator and task"""

    revision: int
    answer: Answer


class Store:
    """An open store. Threads can share it, and programs can share its file."""

    def __init__(self, path: Path) -> None:
        """Open a store. Raises InputInvalid if it is not one, ArtifactBroken if damaged, Unwritable without access."""
        self.path = path
        self._writer, self.campaign = storage.open_store(path)
        self._reader = storage.connect(path)  # WAL: who reads never waits for who writes
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._names: set[str] = set()  # as last seen; they are only ever added

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and merge the write-ahead log into the file, unless another program has it open."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit everything in the block or nothing; only one block runs at a time."""
        with self._writing, storage.explain_sqlite_errors(self.path), storage.transaction(self._writer):
            yield self._writer

    def _rows(self, query: str, *values: str) -> list[tuple]:
        with self._reading, storage.explain_sqlite_errors(self.path):
            return self._reader.execute(query, values).fetchall()

    def annotators(self) -> list[str]:
        """Return the names of the annotators, sorted by code points."""
        return sorted(name for (name,) in self._rows("SELECT name FROM annotators"))

    def add(self, names: Sequence[str]) -> list[str]:
        """Add annotators, all or none, and return a token for each; `refuse_names` has let the names pass.

        Raises InputInvalid for an existing name.
        """
        with self._transaction() as db:
            for name in names:
                if db.execute("SELECT 1 FROM annotators WHERE name = ?", (name,)).fetchone():
                    raise InputInvalid(
                        f"{self.path}: annotator {name} is there already; expected new names; "
                        f"`excam annotate link {self.path} {name}` makes a link"
                    )
                db.execute("INSERT INTO annotators VALUES (?, ?)", (name, utc_now()))
            return [_new_link(db, name) for name in names]

    def link(self, name: str, renew: bool = False) -> str:
        """Return another token for an annotator; with `renew`, earlier tokens become invalid.

        Raises InputInvalid for an unknown name.
        """
        self._refuse_unknown([name])
        with self._transaction() as db:
            if renew:
                db.execute("DELETE FROM links WHERE annotator = ?", (name,))
            return _new_link(db, name)

    def annotator(self, token: str) -> str | None:
        """Return the annotator of a token. The lookup is by hash, so its time reveals no other token."""
        wanted = _digest(token)
        links = self._rows("SELECT digest, annotator FROM links WHERE digest = ?", wanted)
        return next((name for digest, name in links if hmac.compare_digest(digest, wanted)), None)

    def latest(self, annotator: str) -> list[Saved]:
        """Return the current answers of one annotator, in no order. Raises InputInvalid for an unknown name."""
        self._refuse_unknown([annotator])
        return self._current(" AND annotator = ?", annotator)

    def answers(self) -> list[Answer]:
        """Return all current answers, in no order."""
        return [each.answer for each in self._current()]

    def about(self, task: str) -> list[Answer]:
        """Return the current answers about one task, by annotator."""
        return [each.answer for each in self._current(" AND task = ?", task)]

    def _current(self, condition: str = "", *values: str) -> list[Saved]:
        return [_saved(*row) for row in self._rows(_CURRENT.format(condition), *values)]

    def save(self, answer: Answer) -> Saved:
        """Save an answer, and return what counts now: of two about one task the later one, on a tie the first.

        The history keeps both. Raises InputInvalid for an unknown task or annotator, Unwritable, ArtifactBroken.
        """
        self._refuse_unknown([answer.annotator], [answer.task])
        with self._transaction() as db:
            return _take(db, "saved", answer)[1]

    def merge(self, answers: Iterable[Answer]) -> Counter[str]:
        """Import the answers of a file, all or none; what counts is as in `save`.

        Return the counts of `new`, `newer`, `older` (kept in the history) and `same`. Raises as `save` does.
        """
        imported = list(answers)
        self._refuse_unknown([answer.annotator for answer in imported], [answer.task for answer in imported])
        with self._transaction() as db:
            return Counter(_take(db, "imported", answer)[0] for answer in imported)

    def _refuse_unknown(self, annotators: Sequence[str], tasks: Sequence[str] = ()) -> None:
        if not self._names.issuperset(annotators):
            self._names = set(self.annotators())
        if strange := [name for name in annotators if name not in self._names]:
            names = ", ".join(sorted(self._names)[:10])
            raise InputInvalid(
                f"{self.path}: no annotator {strange[0][:60]!r}; expected one of {names}; `excam annotate create` adds "
                "more"
            )
        if unknown := [task for task in tasks if task not in self.campaign.by_id]:
            raise InputInvalid(f"task {unknown[0]} is not in campaign {self.campaign.id}; expected one of its tasks")


def _saved(revision: int, answer: str) -> Saved:
    """Return the current answer from its database row."""
    return Saved(revision, Answer.from_row(json.loads(answer)))


def _take(db: sqlite3.Connection, kind: Kind, answer: Answer) -> tuple[Outcome, Saved]:
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
    values = (answer.annotator, answer.task)
    row = db.execute(_CURRENT.format(" AND annotator = ? AND task = ?"), values).fetchone()
    return _saved(*row) if row else None


def _write(db: sqlite3.Connection, revision: int | None, kind: str, answer: Answer) -> None:
    values = (answer.annotator, answer.task, revision, kind, _answer_json(answer), utc_now())
    db.execute(_ADD, (*values, row_checksum(values)))


def _answer_json(answer: Answer) -> str:
    return json.dumps(answer.row(), ensure_ascii=False)


def refuse_names(names: Sequence[str]) -> None:
    """Raise InputInvalid for a name that no annotator can have, that tables reserve, or that occurs twice."""
    if wrong := [name for name in names if not PATTERNS["annotator"].fullmatch(name)]:
        raise InputInvalid(
            f"annotator {wrong[0][:60]!r}; expected letters, digits and . _ -, at most 40, no . _ - first"
        )
    if len(set(names)) < len(names):
        raise InputInvalid(f"annotators {', '.join(names)[:100]}: one is there twice; expected each once")
    shown_names(names, "annotators")


def _new_link(db: sqlite3.Connection, name: str) -> str:
    token = secrets.token_urlsafe(24)  # 192 bits: not to be guessed, so nothing has to count the attempts
    db.execute("INSERT INTO links VALUES (?, ?, ?)", (_digest(token), name, utc_now()))
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()

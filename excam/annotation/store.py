"""The store of a campaign that is answered together: one file, in which nothing is ever lost or overwritten.

It holds the campaign, the annotators, and a history: every answer that was accepted, in revisions, and every one that
was not, because it was edited from an old revision or came late. What a method returns is on disk.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from excam.annotation import history, storage
from excam.annotation.answers import PATTERNS, Answer
from excam.annotation.history import Conflict, Event, Saved
from excam.annotation.storage import now
from excam.exceptions import InputInvalid


class Store:
    """An open store. Threads may share it, and programs its file."""

    def __init__(self, path: Path) -> None:
        """Raises InputInvalid for what is no store, ArtifactBroken for a damaged one, Unwritable for one to be read."""
        self.path = path
        self._writer, self.campaign = storage.opened(path)
        self._reader = storage.connect(path)  # WAL: who reads never waits for who writes
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._tasks = {task.id for task in self.campaign.tasks}
        self._names: set[str] = set()  # as last seen; they are only ever added

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Takes what lies beside the file into it, unless another program has it open too."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All on disk at its end or nothing; one after the other."""
        with self._writing, storage.explained(self.path), storage.transaction(self._writer):
            yield self._writer

    def _rows(self, query: str, *values: str) -> list[tuple]:
        with self._reading, storage.explained(self.path):
            return self._reader.execute(query, values).fetchall()

    def annotators(self) -> list[str]:
        """Their names, by code points."""
        return sorted(name for (name,) in self._rows("SELECT name FROM annotators"))

    def add(self, names: Sequence[str]) -> list[str]:
        """A token for each new annotator, all or none. Raises InputInvalid for a name that is none or there already."""
        refuse_names(names)
        with self._transaction() as db:
            for name in names:
                if db.execute("SELECT 1 FROM annotators WHERE name = ?", (name,)).fetchone():
                    raise InputInvalid(
                        f"{self.path}: annotator {name} is there already; expected new names; "
                        f"`excam annotate link {self.path} {name}` makes a link"
                    )
                db.execute("INSERT INTO annotators VALUES (?, ?)", (name, now()))
            return [_new_link(db, name) for name in names]

    def link(self, name: str) -> str:
        """Another token for an annotator, beside those given before. Raises InputInvalid for an unknown name."""
        self._refuse_unknown([name])
        with self._transaction() as db:
            return _new_link(db, name)

    def renew(self, name: str) -> str:
        """The only token of an annotator: those given before are worthless. Raises InputInvalid as `link` does."""
        self._refuse_unknown([name])
        with self._transaction() as db:
            db.execute("DELETE FROM links WHERE annotator = ?", (name,))
            return _new_link(db, name)

    def annotator(self, token: str) -> str | None:
        """Whose token it is. It is looked up by its hash, so the time taken tells nothing of the tokens there are."""
        wanted = _digest(token)
        found = self._rows("SELECT digest, annotator FROM links WHERE digest = ?", wanted)
        return next((name for digest, name in found if hmac.compare_digest(digest, wanted)), None)

    def latest(self, annotator: str) -> list[Saved]:
        """The answers of one annotator as they stand, in no order. Raises InputInvalid for an unknown name."""
        self._refuse_unknown([annotator])
        return [history.saved(*row) for row in self._rows(history.OF_ONE, annotator)]

    def answers(self) -> list[Answer]:
        """All answers as they stand, in no order."""
        return [history.saved(*row).answer for row in self._rows(history.OF_ALL)]

    def events(self, annotator: str, task: str) -> list[Event]:
        """All that ever came in from an annotator about a task, in that order."""
        return [history.event(*row) for row in self._rows(history.EVENTS, annotator, task)]

    def save(self, base: int, answer: Answer) -> Saved | Conflict:
        """Take an answer that was edited from revision `base` (0: from none), unless there is a later one.

        What is the latest already is not saved again: a reply was lost. Where there is none, any base will do: the
        store is an older backup. Raises InputInvalid for an unknown task or annotator, Unwritable, ArtifactBroken.
        """
        self._refuse_unknown([answer.annotator], [answer.task])
        with self._transaction() as db:
            return history.take(db, base, answer)

    def merge(self, answers: Iterable[Answer]) -> Counter[str]:
        """Take the answers of a file, all or none; of two about one task the one saved later stands, on a tie ours.

        Counts `new`, `newer`, `older` (kept in the history) and `same`. Raises as `save` does.
        """
        given = list(answers)
        self._refuse_unknown([answer.annotator for answer in given], [answer.task for answer in given])
        with self._transaction() as db:
            return Counter(history.merge(db, answer) for answer in given)

    def _refuse_unknown(self, annotators: Sequence[str], tasks: Sequence[str] = ()) -> None:
        if not self._names.issuperset(annotators):
            self._names = set(self.annotators())
        if strange := [name for name in annotators if name not in self._names]:
            known = ", ".join(sorted(self._names)[:10])
            raise InputInvalid(
                f"{self.path}: no annotator {strange[0][:60]!r}; expected one of {known}; `excam annotate create` adds "
                "more"
            )
        if unknown := [task for task in tasks if task not in self._tasks]:
            raise InputInvalid(f"task {unknown[0]} is not in campaign {self.campaign.id}; expected one of its tasks")


def refuse_names(names: Sequence[str]) -> None:
    """Raises InputInvalid where a name cannot be an annotator's, or is there twice."""
    if wrong := [name for name in names if not PATTERNS["annotator"].fullmatch(name)]:
        raise InputInvalid(
            f"annotator {wrong[0][:60]!r}; expected letters, digits and . _ -, at most 40, no . _ - first"
        )
    if len(set(names)) < len(names):
        raise InputInvalid(f"annotators {', '.join(names)[:100]}: one is there twice; expected each once")


def _new_link(db: sqlite3.Connection, name: str) -> str:
    token = secrets.token_urlsafe(24)  # 192 bits: not to be guessed, so nothing has to count the attempts
    db.execute("INSERT INTO links VALUES (?, ?, ?)", (_digest(token), name, now()))
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()

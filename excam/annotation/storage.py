"""The SQLite file of a store: its tables, and how it is opened and checked.

Write-ahead log and `synchronous=FULL`: committed data survive a kill and a power cut. The file needs a local disk,
because SQLite's locks do not work on every shared one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from excam.annotation import campaign
from excam.annotation.answers import utc_text
from excam.annotation.campaign import Campaign
from excam.core.exceptions import ArtifactBroken, ExcamError, InputInvalid

APPLICATION = 0x45784341  # "ExCA", in the file's header
LAYOUT = 2
PATIENCE = 10  # seconds that another program may hold the file
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
UNWRITABLE = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
)
SCHEMA = (
    "CREATE TABLE campaign (content TEXT NOT NULL) STRICT",
    "CREATE TABLE annotators (name TEXT PRIMARY KEY, added TEXT NOT NULL) STRICT, WITHOUT ROWID",
    # Only the hash of a link's token: who gets hold of the file or of a backup cannot answer in anybody's name.
    """CREATE TABLE links (
        digest TEXT PRIMARY KEY, annotator TEXT NOT NULL REFERENCES annotators, added TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE history (
        number INTEGER PRIMARY KEY,
        annotator TEXT NOT NULL REFERENCES annotators,
        task TEXT NOT NULL,
        revision INTEGER,
        kind TEXT NOT NULL,
        answer TEXT NOT NULL,
        received TEXT NOT NULL,
        seal TEXT NOT NULL,
        UNIQUE (annotator, task, revision),
        CHECK (CASE WHEN kind IN ('saved', 'imported') THEN revision > 0
            ELSE kind = 'older' AND revision IS NULL END)
    ) STRICT""",
    "CREATE TRIGGER never_changed BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'append only'); END",
    "CREATE TRIGGER never_deleted BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'append only'); END",
)
SEALED = ("annotator", "task", "revision", "kind", "answer", "received")


class Unwritable(ExcamError):
    """The store cannot be written now: the disk is full, it is read-only, or another program holds it."""


def utc_now() -> str:
    """Return the current time in UTC, in the format of answers."""
    return utc_text(datetime.now(UTC))


def row_checksum(values: Sequence[object]) -> str:
    """Return a checksum of the `SEALED` values of a history row. SQLite has none, and a flipped bit could change a
    vote.
    """
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()[:16]


@contextmanager
def explain_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite errors in the block into Unwritable, InputInvalid (not a store) or ArtifactBroken, in one line."""
    try:
        yield
    except sqlite3.Error as problem:
        code = (getattr(problem, "sqlite_errorcode", None) or sqlite3.SQLITE_INTERNAL) & 0xFF  # without its details
        if code in BUSY:
            raise Unwritable(f"{path}: held by another program for {PATIENCE} s; try again when it has ended") from None
        if code in UNWRITABLE:
            raise Unwritable(
                f"{path}: cannot be written ({problem}); expected room on the disk, and a file and a folder that may "
                "be written; nothing that was saved is lost"
            ) from None
        if code == sqlite3.SQLITE_NOTADB:
            raise InputInvalid(f"{path}: no store; expected what `excam annotate create` makes") from None
        raise ArtifactBroken(_damaged_message(path, str(problem))) from None
    except UnicodeDecodeError:  # SQLite's complaint quotes the bytes that it cannot read
        raise ArtifactBroken(_damaged_message(path, "its layout is no UTF-8")) from None


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to an existing file, usable from any thread.

    Raises as `explain_sqlite_errors` does, and InputInvalid if there is no file.
    """
    if not path.is_file():
        raise InputInvalid(
            f"{path}: no such file; expected a store; `excam annotate create {path} CAMPAIGN ada` makes one"
        )
    with explain_sqlite_errors(path):
        db = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw", PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        for setting in ("synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            db.execute(f"PRAGMA {setting}")
    return db


def create(path: Path, drawn: Campaign) -> None:
    """Create a store that only its owner can read; it is complete or absent.

    Raises InputInvalid if something is there.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as problem:
        raise InputInvalid(f"{path}: {problem.strerror}; expected a new file in a folder that is there") from None
    with closing(connect(path)) as db, explain_sqlite_errors(path), transaction(db):
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise InputInvalid(f"{path}: is there already; expected a new file")
        for statement in SCHEMA:
            db.execute(statement)
        db.execute("INSERT INTO campaign VALUES (?)", (json.dumps(drawn.content),))
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {LAYOUT}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit everything in the block at its end, or nothing. No other connection writes meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def open_store(path: Path) -> tuple[sqlite3.Connection, Campaign]:
    """Return a connection that can write, and the campaign.

    Raises as `verified_campaign` and `explain_sqlite_errors` do.
    """
    db = connect(path)
    try:
        verified = verified_campaign(db, path)
        with explain_sqlite_errors(path):
            db.execute("PRAGMA journal_mode = WAL")
            with transaction(db):
                pass  # a file that may only be read says so here, not at the first answer
    except ExcamError:
        db.close()
        raise
    return db, verified


def verified_campaign(db: sqlite3.Connection, path: Path) -> Campaign:
    """Check all of the store and return its campaign: SQLite's structures, every row of the history, the campaign's id.

    Raises InputInvalid if it is not a store or has another layout, ArtifactBroken if it is damaged.
    """
    with explain_sqlite_errors(path):
        application, layout = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise InputInvalid(f"{path}: no store; expected what `excam annotate create` makes")
        if layout != LAYOUT:
            raise InputInvalid(
                f"{path}: a store of layout {layout}; expected {LAYOUT}; open it with the ExCAM that made it, export "
                "its answers there and import them into a new store"
            )
        problems = [line for (line,) in db.execute("PRAGMA integrity_check(1)") if line != "ok"]
        problems += ["a link or an answer without an annotator" for _ in db.execute("PRAGMA foreign_key_check")][:1]
        if problems:
            raise ArtifactBroken(_damaged_message(path, problems[0]))
        for number, sealed, *values in db.execute(f"SELECT number, seal, {', '.join(SEALED)} FROM history"):  # noqa: S608
            if row_checksum(values) != sealed:
                raise ArtifactBroken(_damaged_message(path, f"line {number} of the history is not what was written"))
        (content,) = db.execute("SELECT content FROM campaign").fetchone()
    try:
        return campaign.parse_campaign(content, str(path))
    except InputInvalid as problem:
        raise ArtifactBroken(_damaged_message(path, str(problem))) from None


def _damaged_message(path: Path, detail: str) -> str:
    line = " ".join(detail.split())[:200]
    return f"{path}: damaged ({line}); expected a complete store; put a backup in its place, keep this file"

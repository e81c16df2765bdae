"""Files of results, one JSON line each: read, and written batch by batch. Parquet tables of them are read too.

A file grows under a hidden name, so that a killed run can continue, and gets its own name when it is complete. While it
grows, a second file has the digest of each line, so that a changed byte is detected.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Protocol

from excam.core.command_input import refuse_device
from excam.core.exceptions import InputInvalid
from excam.core.provenance import NO_LOCKS, is_same_file, open_plain, say
from excam.scoring import scored_table
from excam.scoring.scored import Scored
from excam.scoring.scored_json import from_dict, is_row


class Item(Protocol):
    """A row to score: a pair, or a row with the columns of a metric."""

    @property
    def id(self) -> str: ...

    @property
    def texts(self) -> Mapping[str, str]: ...


def read(path: Path) -> Iterator[Scored]:
    """Yield the results of a file that `excam score --to` or the workflow wrote (`scored_table`).

    Raises InputInvalid naming an invalid line.
    """
    if path.suffix == scored_table.SUFFIX:
        yield from scored_table.read(path)
        return
    try:
        refuse_device(path)
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                yield from_dict(row, f"{path}:{number}")  # pyright: ignore[reportArgumentType]  # it raises InputInvalid
    except (OSError, UnicodeDecodeError) as problem:
        detail = str(getattr(problem, "strerror", None) or "not UTF-8").lower()
        raise InputInvalid(f"{path}: {detail}; expected what `excam score --to` wrote") from None


def is_scored(path: Path) -> bool:
    """Return whether the first line of a file, or the columns of a table, are those that `excam score` writes."""
    if path.suffix == scored_table.SUFFIX:
        return scored_table.is_scored(path)
    try:
        with path.open(encoding="utf-8") as stream:
            row = json.loads(stream.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and (
        {"score", "report", "signature"} <= set(row) or ("signature" in row and is_row(row))
    )


_GROWS = os.O_RDWR | os.O_APPEND | os.O_CREAT


def _seal(line: bytes) -> bytes:
    """Return the digest of a line, as a line."""
    return hashlib.sha256(line).hexdigest()[:16].encode("ascii") + b"\n"


def part_of(path: Path) -> Path:
    """Return the hidden name of a file of results that is not complete."""
    return path.with_name(f".{path.name}.part")


class Growing:
    """A file of results that one run writes under a hidden name; a context manager.

    Each batch is on disk when `add` returns. On exit, results stay for the next run, and an empty file is removed.
    """

    def __init__(self, path: Path, signature: str) -> None:
        self.path, self.signature = path, signature
        self.part = part_of(path)
        self.seals = path.with_name(f".{path.name}.seals")

    def __enter__(self) -> Growing:
        """Raise InputInvalid if another run writes it, or if a hidden name is a link or not a plain file."""
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._locked()
        while not is_same_file(self._file, self.part):  # the other run completed and renamed it
            os.close(self._file)
            self._file = self._locked()
        try:
            self._sealed = open_plain(self.seals, _GROWS)
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if is_same_file(self._file, self.part) and not os.fstat(self._file).st_size:
            self.drop()
        os.close(self._sealed)
        os.close(self._file)

    def _locked(self) -> int:
        file = open_plain(self.part, _GROWS)
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(file)
            line = "another run writes it; expected a file of its own for each; wait for that, or name another"
            raise InputInvalid(f"{self.path}: {line}") from None
        except OSError as problem:
            if problem.errno not in NO_LOCKS:
                os.close(file)
                raise
        return file

    def done(self, items: Iterable[Item]) -> int:
        """Truncate the file after the leading results that match `items` and the signature; return their number.

        A line that was changed since it was written ends them; its item and later ones are scored again.
        """
        count = end = sealed = 0
        with self.part.open("rb") as stream, self.seals.open("rb") as seals:
            for line, seal, item in zip(stream, seals, items, strict=False):
                if line.endswith(b"\n") and seal != _seal(line):
                    say(f"{self.part}: line {count + 1} is not as it was written; judged again from there")
                    break
                if not line.endswith(b"\n") or not self._is_of(line, item):
                    break
                count, end, sealed = count + 1, end + len(line), sealed + len(seal)
        os.ftruncate(self._file, end)
        os.ftruncate(self._sealed, sealed)
        return count

    def _is_of(self, line: bytes, item: Item) -> bool:
        try:
            found = from_dict(json.loads(line))
        except (ValueError, InputInvalid):
            return False
        return (found.id, found.texts, found.signature) == (item.id, item.texts, self.signature)

    def add(self, results: Iterable[Scored]) -> None:
        """Append results. If it raises (disk full), the file is unchanged."""
        lines = [f"{json.dumps(one.to_dict())}\n".encode("ascii") for one in results]
        before = [(file, os.fstat(file).st_size) for file in (self._file, self._sealed)]
        try:
            _append(
                self._sealed, b"".join(map(_seal, lines))
            )  # first, because a line without its digest is judged again
            _append(self._file, b"".join(lines))
        except OSError as problem:
            for file, size in before:
                os.ftruncate(file, size)
            raise OSError(problem.errno, problem.strerror, str(self.path)) from None

    def finish(self) -> None:
        """Rename the hidden file to its final name and delete the file of digests."""
        self.part.replace(self.path)
        self.seals.unlink(missing_ok=True)

    def drop(self) -> None:
        """Delete the file."""
        self.part.unlink()
        self.seals.unlink(missing_ok=True)


def _append(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)

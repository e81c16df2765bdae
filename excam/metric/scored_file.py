"""Files of scored pairs, a line each: read, and grown batch by batch.

A file grows under a hidden name beside its own, so that a run that was killed goes on where it stood; under its own
name it is whole. The digest of each of its lines is in a second file while it grows, so that a byte that changed
meanwhile does not pass for what was judged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from excam.exceptions import InputInvalid
from excam.metric.pairs import Pair
from excam.metric.scored import Scored, from_dict
from excam.provenance import NO_LOCKS, is_at, open_plain, say
from excam.reading import refuse_device


def read(path: Path) -> Iterator[Scored]:
    """The results of a file that `excam score --to` wrote. Raises InputInvalid naming the line that is none."""
    try:
        refuse_device(path)
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                yield from_dict(row, f"{path}:{number}")  # pyright: ignore[reportArgumentType]  # said there
    except (OSError, UnicodeDecodeError) as problem:
        detail = str(getattr(problem, "strerror", None) or "not UTF-8").lower()
        raise InputInvalid(f"{path}: {detail}; expected what `excam score --to` wrote") from None


def is_scored(path: Path) -> bool:
    """Whether the first line of a file is a scored pair, as `excam score` writes them."""
    try:
        with path.open(encoding="utf-8") as stream:
            row = json.loads(stream.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"score", "report", "signature"} <= set(row)


_GROWS = os.O_RDWR | os.O_APPEND | os.O_CREAT


def _seal(line: bytes) -> bytes:
    """The digest of a line, as a line."""
    return hashlib.sha256(line).hexdigest()[:16].encode("ascii") + b"\n"


class Growing:
    """A file of results while it grows, under a hidden name and for one run alone; a context manager.

    Each batch is on disk when `add` returns. On leaving, what is there stays for the next run, and an empty file goes.
    """

    def __init__(self, path: Path, signature: str) -> None:
        self.path, self.signature = path, signature
        self.part = path.with_name(f".{path.name}.part")
        self.seals = path.with_name(f".{path.name}.seals")

    def __enter__(self) -> Growing:
        """Raises InputInvalid where another run writes it, or one of the hidden names is a link or no plain file."""
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._locked()
        while not is_at(self._file, self.part):  # the run that had it gave it its name meanwhile
            os.close(self._file)
            self._file = self._locked()
        try:
            self._sealed = open_plain(self.seals, _GROWS)
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if is_at(self._file, self.part) and not os.fstat(self._file).st_size:
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

    def done(self, pairs: Iterable[Pair]) -> int:
        """How many of the first pairs are there already, judged in the same way; what is behind them is cut off.

        So is a line that is not as it was written, with all behind it: those pairs are judged again.
        """
        count = end = sealed = 0
        with self.part.open("rb") as stream, self.seals.open("rb") as seals:
            for line, seal, pair in zip(stream, seals, pairs, strict=False):
                if line.endswith(b"\n") and seal != _seal(line):
                    say(f"{self.part}: line {count + 1} is not as it was written; judged again from there")
                    break
                if not line.endswith(b"\n") or not self._is_of(line, pair):
                    break
                count, end, sealed = count + 1, end + len(line), sealed + len(seal)
        os.ftruncate(self._file, end)
        os.ftruncate(self._sealed, sealed)
        return count

    def _is_of(self, line: bytes, pair: Pair) -> bool:
        try:
            row = json.loads(line)
            told = (row["id"], row["instruction"], row["output"], row["signature"])
        except (ValueError, KeyError, TypeError):
            return False
        return told == (pair.id, pair.instruction, pair.output, self.signature)

    def add(self, results: Iterable[Scored]) -> None:
        """Append results. When it raises (disk full), the file is what it was before."""
        lines = [f"{json.dumps(one.to_dict())}\n".encode("ascii") for one in results]
        before = [(file, os.fstat(file).st_size) for file in (self._file, self._sealed)]
        try:
            _append(self._sealed, b"".join(map(_seal, lines)))  # first: a line without its seal is judged again
            _append(self._file, b"".join(lines))
        except OSError as problem:
            for file, size in before:
                os.ftruncate(file, size)
            raise OSError(problem.errno, problem.strerror, str(self.path)) from None

    def finish(self) -> None:
        """Give it its name."""
        self.part.replace(self.path)
        self.seals.unlink(missing_ok=True)

    def drop(self) -> None:
        """Delete it: what it held is elsewhere."""
        self.part.unlink()
        self.seals.unlink(missing_ok=True)


def _append(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)

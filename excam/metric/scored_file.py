"""Files of scored pairs, a line each: read, and grown batch by batch.

A file grows under a hidden name beside its own, so that a run that was killed goes on where it stood; under its own
name it is whole.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import BinaryIO

from excam.exceptions import InputInvalid
from excam.metric.pairs import Pair
from excam.metric.scored import Scored, from_dict
from excam.provenance import is_at


def read(path: Path) -> Iterator[Scored]:
    """The results of a file that `excam score --to` wrote. Raises InputInvalid naming the line that is none."""
    try:
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


NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}  # a file system without locks: nobody can be kept away


class Growing:
    """A file of results while it grows, under a hidden name and for one run alone; a context manager.

    Each batch is on disk when `add` returns. On leaving, what is there stays for the next run, and an empty file goes.
    """

    def __init__(self, path: Path, signature: str) -> None:
        self.path, self.signature = path, signature
        self.part = path.with_name(f".{path.name}.part")

    def __enter__(self) -> Growing:
        """Raises InputInvalid where another run writes it."""
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._locked()
        while not is_at(self._stream.fileno(), self.part):  # the run that had it gave it its name meanwhile
            self._stream.close()
            self._stream = self._locked()
        return self

    def __exit__(self, *_: object) -> None:
        if is_at(self._stream.fileno(), self.part) and not self.part.stat().st_size:
            self.part.unlink()
        self._stream.close()

    def _locked(self) -> BinaryIO:
        stream = self.part.open("ab")
        try:
            flock(stream, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            stream.close()
            line = "another run writes it; expected a file of its own for each; wait for that, or name another"
            raise InputInvalid(f"{self.path}: {line}") from None
        except OSError as problem:
            if problem.errno not in NO_LOCKS:
                stream.close()
                raise
        return stream

    def done(self, pairs: Iterable[Pair]) -> int:
        """How many of the first pairs are there already, judged in the same way; what is behind them is cut off."""
        count = end = 0
        with self.part.open("rb") as stream:
            for line, pair in zip(stream, pairs, strict=False):
                if not line.endswith(b"\n") or not self._is_of(line, pair):
                    break
                count, end = count + 1, end + len(line)
        os.truncate(self.part, end)
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
        data = "".join(json.dumps(one.to_dict()) + "\n" for one in results).encode("ascii")
        descriptor = self._stream.fileno()
        before = os.fstat(descriptor).st_size
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        except OSError as problem:
            os.ftruncate(descriptor, before)
            raise OSError(problem.errno, problem.strerror, str(self.path)) from None

    def finish(self) -> None:
        """Give it its name."""
        self.part.replace(self.path)

    def drop(self) -> None:
        """Delete it: what it held is elsewhere."""
        self.part.unlink()

"""The journal: every answer of a model, on disk as soon as its batch is done, found again by what was asked.

Append-only JSON Lines, one `{"key", "completion"}` each. A job that was killed, or that is stale in one row, asks only
for what is not in here; a job whose rows are all here needs no model at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from excam.exceptions import ArtifactBroken, ModelInvalid
from excam.inference import Backend, Completion, Generate, Sampling, completion_from_row
from excam.provenance import Progress


def key(identity: str, request: Generate, sampling: Sampling) -> str:
    """sha256 (hex) of who is asked, what, and how the answer is sampled."""
    return hashlib.sha256(_line([identity, asdict(request), asdict(sampling)])).hexdigest()


def seed(request: Generate, sampling: Sampling) -> int:
    """31 bits from the experiment's seed and the request: a row's chance depends neither on its batch nor its shard."""
    return int(key("seed", request, sampling)[:8], 16) & 0x7FFFFFFF


def _line(value: Any) -> bytes:
    # ASCII only, so that lone surrogates (a model's or a data set's) survive as escapes
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")


class Journal:
    """Answers by key. Several processes may append to one file; each sees what was there when it opened it."""

    def __init__(self, path: Path) -> None:
        """Load what is there; a last line torn by a kill is cut off. Raises ArtifactBroken for other damage."""
        self.path = path
        self._completions: dict[str, Completion] = {}
        if not path.exists():
            return
        with _locked(path) as file:
            _cut_torn_line(file)
            lines = path.read_bytes().splitlines()
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                self._completions.setdefault(row["key"], completion_from_row(row["completion"]))
            except (ValueError, TypeError, KeyError):
                raise ArtifactBroken(
                    f"{path}: line {number} is no journal entry; expected a key and a completion; delete that line "
                    "(its row is asked again)"
                ) from None

    def __len__(self) -> int:
        return len(self._completions)

    def __contains__(self, key: str) -> bool:
        return key in self._completions

    def __getitem__(self, key: str) -> Completion:
        return self._completions[key]

    def add(self, batch: Mapping[str, Completion]) -> None:
        """Append a batch; when this returns it is on disk, and when it raises (disk full) nothing of it is."""
        data = b"".join(_line({"key": k, "completion": asdict(c)}) + b"\n" for k, c in batch.items())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path) as file:
            _cut_torn_line(file)
            before = os.fstat(file).st_size
            try:
                written = 0
                while written < len(data):  # one write as a rule; the system may take less of a very large one
                    written += os.write(file, data[written:])
                os.fsync(file)
            except OSError:
                os.ftruncate(file, before)
                raise
        for k, completion in batch.items():
            self._completions.setdefault(k, completion)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)  # given back by close, also when the process is killed
        yield file
    finally:
        os.close(file)


def _cut_torn_line(file: int) -> None:
    """Truncate to the last line feed. Under the lock nobody is writing, so an unfinished line belongs to the dead."""
    size = end = os.fstat(file).st_size
    while end:
        start = max(0, end - 65536)
        at = os.pread(file, end - start, start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)


def ask(
    backend: Backend,
    sampling: Sampling,
    journal: Journal,
    requests: Sequence[Generate],
    progress: Progress | None = None,
) -> list[Completion]:
    """Completions in the order of `requests`; the backend is asked once for each distinct request not in the journal.

    Each batch is on disk before the next is started. Raises ModelInvalid when the backend leaves requests unanswered.
    """
    keys = [key(backend.identity, request, sampling) for request in requests]
    missing = {k: request for k, request in zip(keys, requests, strict=True) if k not in journal}
    rows = Counter(keys)
    if progress:
        progress.skip(sum(rows[k] for k in rows if k not in missing))
    asked = list(missing)
    if asked:
        for batch in backend.complete(list(missing.values()), sampling):
            journal.add({asked[index]: completion for index, completion in batch})
            if progress:
                progress.advance(sum(rows[asked[index]] for index, _ in batch))
    if lost := sum(k not in journal for k in asked):
        raise ModelInvalid(
            f"{backend.identity}: {lost} of {len(asked)} requests unanswered; run again: only those are asked"
        )
    return [journal[k] for k in keys]

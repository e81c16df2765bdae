"""The journal: a response cache on disk, as an append-only log. Each batch of answers is saved when it is complete.

A line is a JSON object with an answer, its cache key, the model that gave it, and a checksum. A job that was killed, or
whose input changed in one row, requests only the missing answers; a job with only cached answers needs no model.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from excam.config import Price
from excam.core.exceptions import AnswersMissing, ArtifactBroken
from excam.core.provenance import Progress, is_same_file, open_plain
from excam.inference import (
    Answer,
    Backend,
    Choose,
    Completion,
    Generate,
    Missing,
    Request,
    Sampling,
    answer_from_row,
    answer_to_row,
)
from excam.inference.answer_text import reasoning_and_answer
from excam.inference.cache_keys import cache_key, canonical_json


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line with an answer. `by` is the digest of the model's identity, which has a line of its own (`Identity`)."""

    key: str
    by: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Identity:
    """A line that maps a digest to an identity, written before the first answer of that model."""

    by: str
    identity: str


def line_bytes(line: JournalEntry | Identity) -> bytes:
    """Return a line as canonical JSON; the parts of an entry are put together by hand, since its answer is long."""
    if isinstance(line, Identity):
        return canonical_json(asdict(line)) + b"\n"
    key, by, answer = map(canonical_json, (line.key, line.by, answer_to_row(line.answer)))
    return b'{"answer":%b,"by":%b,"check":"%b","key":%b}\n' % (answer, by, _check(key, by, answer).encode(), key)


def _check(*parts: bytes) -> str:
    """Return the checksum of key, model and answer as canonical JSON."""
    return hashlib.sha256(b"[%b]" % b",".join(parts)).hexdigest()[:16]


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _parse_line(line: bytes) -> JournalEntry | Identity:
    """Return the parsed line. Raise ValueError, TypeError or KeyError for anything else, including a wrong checksum."""
    row = json.loads(line)
    if row.keys() == {"by", "identity"}:
        if row["by"] != _digest(row["identity"]):
            raise ValueError("not the digest of this identity")
        return Identity(**row)
    if row.keys() != {"key", "by", "answer", "check"} or row["check"] != _check(
        *map(canonical_json, (row["key"], row["by"], row["answer"]))
    ):
        raise ValueError("not what was written")
    return JournalEntry(row["key"], row["by"], answer_from_row(row["answer"]))


def read(path: Path) -> Iterator[tuple[int, JournalEntry | Identity | ValueError]]:
    """Yield (line number, parsed line) of every complete line, with a ValueError for a damaged one."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return  # a writer has not finished it, or was killed
            try:
                yield number, _parse_line(line)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
                yield number, ValueError(str(problem))


class Journal:
    """Cached answers by key. Several processes may append to one file; a process does not see what others add later.

    Without a path they are in memory alone. A journal that `forgets` has in memory only the answers that are still to
    be used: for files of any length.
    """

    def __init__(self, path: Path | None = None, *, forgets: bool = False) -> None:
        """Load the file if it exists; remove a partial last line left by a killed writer.

        Raise ArtifactBroken for other damage, or a file that is not a journal; InputInvalid for a link or a device.
        """
        self.path, self._forgets = path, forgets
        self._answers: dict[str, Answer] = {}
        self._known: set[str] = set()
        self._used: set[str] = set()
        if not path or not path.exists():
            return
        with locked(path) as file:
            _cut_partial_line(file, path)
        for number, line in read(path):
            if isinstance(line, JournalEntry):
                self._answers.setdefault(line.key, line.answer)
            elif isinstance(line, Identity):
                self._known.add(line.by)
            else:
                raise ArtifactBroken(
                    f"{path}: line {number} is not a journal entry; expected an answer as it was written; "
                    "delete the line, and its row is asked again"
                )

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> Answer:
        if self._forgets:
            self._used.add(key)
        return self._answers[key]

    def add(self, identity: str, batch: Mapping[str, Answer]) -> None:
        """Append a batch: it is on disk on return, and not at all if an exception (disk full) is raised."""
        if self.path:
            by = _digest(identity)
            lines = [] if by in self._known else [line_bytes(Identity(by, identity))]
            lines += [line_bytes(JournalEntry(key, by, answer)) for key, answer in batch.items()]
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path) as file:
                _cut_partial_line(file, self.path)
                append(file, b"".join(lines), self.path)
            self._known.add(by)
        for key, answer in batch.items():
            self._answers.setdefault(key, answer)

    def forget(self, keys: Iterable[str]) -> None:
        """Drop answers from memory, if this journal forgets; a file keeps them."""
        for key in list(keys) if self._forgets else ():
            self._answers.pop(key, None)
            self._used.discard(key)

    def forget_used(self) -> None:
        """Drop the answers that were used; those of an earlier run that come later stay."""
        self.forget(self._used)


InMemory = partial(Journal, forgets=True)  # for callers without a journal file


def append(file: int, data: bytes, path: Path) -> None:
    """Append complete lines. If not all of them fit, keep those that do, and raise OSError with the path."""
    before, written = os.fstat(file).st_size, 0
    try:
        while written < len(data):  # usually one write; the system may write only part of a very large one
            written += os.write(file, data[written:])
        os.fsync(file)
    except OSError as problem:
        os.ftruncate(file, before + data.rfind(b"\n", 0, written) + 1)
        raise OSError(problem.errno, problem.strerror, str(path)) from None


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Yield a descriptor of the file, open for appending and exclusively locked."""
    while True:
        file = open_plain(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # released by close, also if the process is killed
            if not is_same_file(file, path):  # another process dropped lines: the path was replaced
                continue
            yield file
            return
        finally:
            os.close(file)


def _cut_partial_line(file: int, path: Path) -> None:
    """Truncate the file after its last line feed. Under the lock, a partial line is left from a crashed writer.

    Raise ArtifactBroken if the file is not a journal, since truncating would damage a user's file.
    """
    size = end = os.fstat(file).st_size
    while end:
        start = max(0, end - 65536)
        at = os.pread(file, end - start, start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end == size:
        return
    if end:  # a line is whole
        is_own = any(isinstance(line, JournalEntry | Identity) for _, line in read(path))
    else:
        is_own = _ENTRY_START.startswith(os.pread(file, len(_ENTRY_START), 0))
    if not is_own:
        what = "holds no complete journal entry; expected a journal that excam wrote"
        raise ArtifactBroken(f"{path}: {what}; name another file for the journal")
    os.ftruncate(file, end)


_ENTRY_START = b'{"by":"'  # the beginning of every journal


def ask(
    backend: Backend,
    sampling: Sampling,
    journal: Journal,
    requests: Sequence[Request],
    progress: Progress | None = None,
) -> list[Answer]:
    """Return answers in the order of `requests`; send each distinct request that is not cached once.

    Each batch is saved before the next one starts. Raise AnswersMissing, with a reason each, if requests remain
    unanswered; received answers stay cached.

    Args:
        backend: the model
        sampling: of texts
        journal: of earlier answers; new ones are added
        requests: in any order; equal ones are sent once
        progress: that is told of each answer; None: nothing is printed
    """
    keys = [cache_key(backend.identity, request, sampling) for request in requests]
    missing = {k: request for k, request in zip(keys, requests, strict=True) if k not in journal}
    rows = Counter(keys)
    if progress:
        progress.skip_answers(sum(rows[k] for k in rows if k not in missing))
    reasons: dict[str, str] = {}
    for batch in _batches(backend, sampling, missing):
        answers = {k: answer for k, answer in batch if not isinstance(answer, Missing)}
        if answers:
            journal.add(backend.identity, answers)
        reasons |= {k: answer.reason for k, answer in batch if isinstance(answer, Missing)}
        if progress:
            progress.advance(sum(rows[k] for k, _ in batch))
    if any(k not in journal for k in missing):
        raise AnswersMissing({at: reasons.get(k, "no answer") for at, k in enumerate(keys) if k not in journal})
    return [journal[k] for k in keys]


def _batches(
    backend: Backend, sampling: Sampling, missing: Mapping[str, Request]
) -> Iterator[list[tuple[str, Answer | Missing]]]:
    """Yield batches of (key, answer or failure) for the missing requests, first texts, then choices."""
    for kind in (Generate, Choose):
        of_kind: dict[str, Any] = {k: request for k, request in missing.items() if isinstance(request, kind)}
        order, asked = list(of_kind), list(of_kind.values())
        if asked:
            for batch in backend.generate(asked, sampling) if kind is Generate else backend.choose(asked):
                yield [(order[at], answer) for at, answer in batch]


def totals(answers: Iterable[Answer], price: Price | None = None) -> dict[str, Any]:
    """Return counts of answers by `finish` ("choice" for a `Choice`) and of those with reasoning (`thinking`), counts
    of tokens, and the cost if `price` is given.
    """
    ends: Counter[str] = Counter()
    prompts = completions = thinking = 0
    for answer in answers:
        ends[getattr(answer, "finish", "choice")] += 1
        prompts += answer.prompt_tokens
        completions += getattr(answer, "completion_tokens", 0)
        thinking += isinstance(answer, Completion) and bool(reasoning_and_answer(answer)[0])
    return {
        "answers": dict(sorted(ends.items())),
        "thinking": thinking,
        "prompt_tokens": prompts,
        "completion_tokens": completions,
        "cost": price and price.cost(prompts, completions),
    }

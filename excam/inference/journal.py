"""The journal: every answer of a model, on disk as soon as its batch is done, found again by what was asked.

Append-only JSON Lines, one answer each, with the key it is found by, who gave it, and a checksum. A job that was
killed, or that is stale in one row, asks only for what is not in here; a job whose rows are all here needs no model.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from excam.config import Price
from excam.exceptions import AnswersMissing, ArtifactBroken
from excam.inference import Answer, Backend, Choose, Generate, Missing, Request, Sampling, answer_from_row
from excam.inference.keys import canonical, key
from excam.provenance import Progress, hidden, is_at, open_plain


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a journal. `by` is the digest of the identity that answered; a line of its own spells that out."""

    key: str
    by: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Identity:
    """The line that says who a digest is; written before the first answer of that model."""

    by: str
    identity: str


def _written(line: Entry | Identity) -> bytes:
    row = asdict(line)
    return canonical(row | {"check": _check(row)} if isinstance(line, Entry) else row) + b"\n"


def _check(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical([row["key"], row["by"], row["answer"]])).hexdigest()[:16]


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _parsed(line: bytes) -> Entry | Identity | None:
    """What a line says; None for an answer in the layout of an earlier release, whose key nobody asks for any more.

    Raises ValueError, TypeError or KeyError for anything else, a flipped byte included.
    """
    row = json.loads(line)
    if row.keys() == {"by", "identity"}:
        if row["by"] != _digest(row["identity"]):
            raise ValueError("not the digest of this identity")
        return Identity(**row)
    if row.keys() == {"key", "completion"}:
        return None
    if row.keys() != {"key", "by", "answer", "check"} or row["check"] != _check(row):
        raise ValueError("not what was written")
    return Entry(row["key"], row["by"], answer_from_row(row["answer"]))


def read(path: Path) -> Iterator[tuple[int, Entry | Identity | ValueError | None]]:
    """(number, what it says) of every whole line; a ValueError for a damaged one; see `_parsed`."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return  # somebody is writing it, or was killed while writing it
            try:
                yield number, _parsed(line)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
                yield number, ValueError(str(problem))


class Journal:
    """Answers by key. Several processes may append to one file; each sees what was there when it opened it."""

    def __init__(self, path: Path) -> None:
        """Load what is there; a last line torn by a kill is cut off.

        Raises ArtifactBroken for other damage, and for a file that is no journal; InputInvalid for a link or a device.
        """
        self.path = path
        self._answers: dict[str, Answer] = {}
        self._known: set[str] = set()
        if not path.exists():
            return
        with _locked(path) as file:
            _cut_torn_line(file, path)
        for number, found in read(path):
            if isinstance(found, Entry):
                self._answers.setdefault(found.key, found.answer)
            elif isinstance(found, Identity):
                self._known.add(found.by)
            elif isinstance(found, ValueError):
                raise ArtifactBroken(
                    f"{path}: line {number} is no journal entry; expected an answer as it was written; "
                    f"`excam journal compact {path}` puts it aside and its row is asked again"
                )

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> Answer:
        return self._answers[key]

    def add(self, identity: str, batch: Mapping[str, Answer]) -> None:
        """Append a batch; when this returns it is on disk, and when it raises (disk full) nothing of it is."""
        by = _digest(identity)
        lines = [] if by in self._known else [_written(Identity(by, identity))]
        lines += [_written(Entry(one, by, answer)) for one, answer in batch.items()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path) as file:
            _cut_torn_line(file, self.path)
            _append(file, b"".join(lines), self.path)
        self._known.add(by)
        for one, answer in batch.items():
            self._answers.setdefault(one, answer)


def _append(file: int, data: bytes, path: Path) -> None:
    before = os.fstat(file).st_size
    try:
        written = 0
        while written < len(data):  # one write as a rule; the system may take less of a very large one
            written += os.write(file, data[written:])
        os.fsync(file)
    except OSError as problem:
        os.ftruncate(file, before)
        raise OSError(problem.errno, problem.strerror, str(path)) from None


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, open for appending, while no other process writes to it."""
    while True:
        file = open_plain(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back by close, also when the process is killed
            if not is_at(file, path):  # compacted by another process while we waited: that file is nobody's now
                continue
            yield file
            return
        finally:
            os.close(file)


def _cut_torn_line(file: int, path: Path) -> None:
    """Truncate to the last line feed. Under the lock nobody is writing, so an unfinished line belongs to the dead.

    Raises ArtifactBroken where that would cut somebody's own text: nothing in the file is an entry, nor begins as one.
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
    begun = os.pread(file, len(_FIRST), 0)
    if is_other(path) if end else not _FIRST.startswith(begun):
        raise ArtifactBroken(f"{path}: {NO_JOURNAL}; name another file for the journal")
    os.ftruncate(file, end)


NO_JOURNAL = "holds no whole journal entry; expected a journal that excam wrote"
_FIRST = b'{"by":"'  # how a journal begins: with who answers


def is_other(path: Path) -> bool:
    """Whether a file that is not empty has no whole entry: it is no journal, or nothing of it could be kept."""
    return path.stat().st_size > 0 and not any(isinstance(found, Entry | Identity) for _, found in read(path))


def ask(
    backend: Backend,
    sampling: Sampling,
    journal: Journal,
    requests: Sequence[Request],
    progress: Progress | None = None,
) -> list[Answer]:
    """Answers in the order of `requests`; the backend is asked once for each distinct request not in the journal.

    Each batch is on disk before the next is started. Raises AnswersMissing when requests stay unanswered, with the
    reason of each; what was answered is kept.
    """
    keys = [key(backend.identity, request, sampling) for request in requests]
    missing = {k: request for k, request in zip(keys, requests, strict=True) if k not in journal}
    rows = Counter(keys)
    if progress:
        progress.skip(sum(rows[k] for k in rows if k not in missing))
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
    """What comes back for the missing requests, by key, first the texts, then the choices."""
    texts = {k: request for k, request in missing.items() if isinstance(request, Generate)}
    choices = {k: request for k, request in missing.items() if isinstance(request, Choose)}
    asked = [*texts, *choices]
    asking = chain(
        ((0, batch) for batch in (backend.generate(list(texts.values()), sampling) if texts else ())),
        ((len(texts), batch) for batch in (backend.choose(list(choices.values())) if choices else ())),
    )
    for first, batch in asking:
        yield [(asked[first + index], answer) for index, answer in batch]


def totals(answers: Iterable[Answer], price: Price | None = None) -> dict[str, Any]:
    """What answers cost: how many ended how (`finish`; a `Choice` as "choice"), tokens, and money where `price` is."""
    ends: Counter[str] = Counter()
    prompts = completions = 0
    for answer in answers:
        ends[getattr(answer, "finish", "choice")] += 1
        prompts += answer.prompt_tokens
        completions += getattr(answer, "completion_tokens", 0)
    return {
        "answers": dict(sorted(ends.items())),
        "prompt_tokens": prompts,
        "completion_tokens": completions,
        "cost": price and price.cost(prompts, completions),
    }


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal holds."""

    answers: Mapping[str, tuple[Answer, ...]]  # by the identity that gave them
    twice: int  # lines whose key was there before
    outdated: int  # lines in the layout of an earlier release
    damaged: tuple[int, ...]  # line numbers
    torn: bool  # the last line is not whole


def contents(path: Path) -> Contents:
    """Read a journal without changing it. Raises ArtifactBroken when there is none."""
    _refuse_absent(path)
    names: dict[str, str] = {}
    seen: set[str] = set()
    answers: defaultdict[str, list[Answer]] = defaultdict(list)
    twice = outdated = 0
    damaged: list[int] = []
    for number, found in read(path):
        if isinstance(found, Identity):
            names[found.by] = found.identity
        elif isinstance(found, ValueError):
            damaged.append(number)
        elif found is None:
            outdated += 1
        elif found.key in seen:
            twice += 1
        else:
            seen.add(found.key)
            answers[found.by].append(found.answer)
    named = {names.get(by, by): tuple(given) for by, given in answers.items()}
    return Contents(named, twice, outdated, tuple(damaged), _is_torn(path))


def _refuse_absent(path: Path) -> None:
    if not path.is_file():
        raise ArtifactBroken(f"{path}: no such journal; expected a .jsonl file below results/journal")


def _is_torn(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 1))
        return stream.read(1) not in (b"", b"\n")


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many lines a journal lost; the damaged and torn ones among them are in the file `aside`."""

    dropped: int
    damaged: int
    aside: Path


def compact(path: Path) -> Compacted:
    """Rewrite a journal without what nobody will find: lines that are damaged, torn, outdated or there twice.

    Lines that cannot be read are kept, in a file beside it. Other processes may write meanwhile: they wait, and go on
    in the new file. Raises ArtifactBroken when there is no journal: also where a file holds something else.
    """
    _refuse_absent(path)
    temporary, aside = hidden(path), path.with_name(f"{path.name}.damaged")
    with _locked(path):
        if is_other(path):
            raise ArtifactBroken(f"{path}: {NO_JOURNAL}; left as it was")
        try:
            with path.open("rb") as stream:
                before = sum(1 for _ in stream)
            kept = _kept(found for _, found in read(path))
            with temporary.open("wb") as stream:
                after = sum(bool(stream.write(line)) for line in kept)
                stream.flush()
                os.fsync(stream.fileno())
            damaged = _put_aside(path, aside)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return Compacted(before - after, damaged, aside)


def _put_aside(path: Path, aside: Path) -> int:
    """Append the lines that cannot be read to a file of their own, which is on disk before they go; how many."""
    bad = {number for number, found in read(path) if isinstance(found, ValueError)}
    with path.open("rb") as stream:
        lines = [line for number, line in enumerate(stream, 1) if number in bad or not line.endswith(b"\n")]
    if lines:
        file = open_plain(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            _append(file, b"".join(line.removesuffix(b"\n") + b"\n" for line in lines), aside)
        finally:
            os.close(file)
    return len(lines)


def _kept(lines: Iterable[Entry | Identity | ValueError | None]) -> Iterator[bytes]:
    seen: set[str] = set()
    for found in lines:
        if isinstance(found, Identity) and found.by not in seen:
            seen.add(found.by)
            yield _written(found)
        elif isinstance(found, Entry) and found.key not in seen:
            seen.add(found.key)
            yield _written(found)

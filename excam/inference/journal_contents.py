"""What a journal holds, by model; and compaction, which drops the lines that no run will read."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from excam.core.exceptions import ArtifactBroken
from excam.core.provenance import open_plain, temporary_path
from excam.inference import Answer
from excam.inference.journal import (
    NOT_A_JOURNAL,
    Entry,
    Identity,
    append,
    is_not_a_journal,
    line_bytes,
    locked,
    read,
)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a journal."""

    answers: Mapping[str, tuple[Answer, ...]]  # by the identity of the model
    duplicates: int  # lines with a key that an earlier line has
    damaged: tuple[int, ...]  # line numbers
    partial: bool  # whether the last line is incomplete


def contents(path: Path) -> Contents:
    """Read a journal without changing it. Raise ArtifactBroken if there is no file."""
    _require_file(path)
    names: dict[str, str] = {}
    seen: set[str] = set()
    answers: defaultdict[str, list[Answer]] = defaultdict(list)
    duplicates = 0
    damaged: list[int] = []
    for number, line in read(path):
        if isinstance(line, Identity):
            names[line.by] = line.identity
        elif isinstance(line, ValueError):
            damaged.append(number)
        elif line.key in seen:
            duplicates += 1
        else:
            seen.add(line.key)
            answers[line.by].append(line.answer)
    named = {names.get(by, by): tuple(model_answers) for by, model_answers in answers.items()}
    return Contents(named, duplicates, tuple(damaged), _ends_in_partial_line(path))


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise ArtifactBroken(f"{path}: no such journal; expected a .jsonl file below results/journal")


def _ends_in_partial_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 1))
        return stream.read(1) not in (b"", b"\n")


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many lines were dropped, and how many of these were damaged or partial and saved in the file `aside`."""

    dropped: int
    damaged: int
    aside: Path


def compact(path: Path) -> Compacted:
    """Compact a journal: drop unreachable lines, that is damaged, partial and duplicate ones.

    Damaged lines are saved in a separate file. Other processes may write meanwhile: they wait for the lock and continue
    in the new file. Raise ArtifactBroken if the file is missing or not a journal.
    """
    _require_file(path)
    temporary, aside = temporary_path(path), path.with_name(f"{path.name}.damaged")
    with locked(path):
        if is_not_a_journal(path):
            raise ArtifactBroken(f"{path}: {NOT_A_JOURNAL}; left as it was")
        try:
            with path.open("rb") as stream:
                before = sum(1 for _ in stream)
            unique = _unique_lines(line for _, line in read(path))
            with temporary.open("wb") as stream:
                after = sum(bool(stream.write(line)) for line in unique)
                stream.flush()
                os.fsync(stream.fileno())
            damaged = _save_damaged_lines(path, aside)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return Compacted(before - after, damaged, aside)


def _save_damaged_lines(path: Path, aside: Path) -> int:
    """Append damaged and partial lines to the file `aside`, flush it to disk, and return their number."""
    bad = {number for number, line in read(path) if isinstance(line, ValueError)}
    with path.open("rb") as stream:
        lines = [line for number, line in enumerate(stream, 1) if number in bad or not line.endswith(b"\n")]
    if lines:
        file = open_plain(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            append(file, b"".join(line.removesuffix(b"\n") + b"\n" for line in lines), aside)
        finally:
            os.close(file)
    return len(lines)


def _unique_lines(lines: Iterable[Entry | Identity | ValueError]) -> Iterator[bytes]:
    seen: set[str] = set()
    for line in lines:
        if isinstance(line, Identity) and line.by not in seen:
            seen.add(line.by)
            yield line_bytes(line)
        elif isinstance(line, Entry) and line.key not in seen:
            seen.add(line.key)
            yield line_bytes(line)

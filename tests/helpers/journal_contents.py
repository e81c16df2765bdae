"""What a journal holds, by model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from excam.core.exceptions import ArtifactBroken
from excam.inference import Answer
from excam.inference.journal import Identity, read


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

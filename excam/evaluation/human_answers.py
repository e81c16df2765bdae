"""Annotators' answers under pseudonyms, counted, and beside their tasks (spec 67-72).

Nothing is guessed about what is missing: a skipped task and a step that is not answered yet have no vote, and are
counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from excam.annotation.answers import COMMENTS, FIELDS, FLAGS, Answer, read
from excam.annotation.campaign import Campaign, Task
from excam.annotation.exchange import ordered

SCHEMA: dict[str, Any] = {
    name: pl.Boolean if name in FLAGS else pl.Int64 if name == "seconds" else pl.String for name in FIELDS
}


@dataclass(frozen=True, slots=True)
class Item:
    """A task and the answers about it; one that is skipped or unfinished has no votes where it ends."""

    task: Task
    answers: tuple[Answer, ...]


def pseudonyms(found: Campaign, answers: Iterable[Answer]) -> dict[str, str]:
    """a1, a2, … for annotators, in an order that only hangs on the campaign and their names."""
    names = {answer.annotator for answer in answers}
    order = sorted(names, key=lambda name: hashlib.sha256(f"{found.id}/{name}".encode()).digest())
    return {name: f"a{number}" for number, name in enumerate(order, 1)}


def renamed(answers: Iterable[Answer], names: Mapping[str, str]) -> list[Answer]:
    """The answers under their annotators' pseudonyms; comments stay as they were written."""
    return [replace(answer, annotator=names[answer.annotator]) for answer in answers]


def counts(found: Campaign, answers: Sequence[Answer]) -> dict[str, Any]:
    """How much is there: of the campaign, and by annotator."""
    each: dict[str, list[Answer]] = {}
    for answer in answers:
        each.setdefault(answer.annotator, []).append(answer)
    return {
        "campaign": found.id,
        "tasks": len(found.tasks),
        "wanted": sum(task.annotators for task in found.tasks),
        **_counted(answers),
        "annotators": {name: _counted(each[name]) for name in sorted(each, key=lambda name: (len(name), name))},
    }


def _counted(answers: Sequence[Answer]) -> dict[str, int]:
    skipped, done = sum(answer.skipped for answer in answers), sum(answer.done for answer in answers)
    return {
        "answers": len(answers),
        "finished": done - skipped,
        "unfinished": len(answers) - done,
        "skipped": skipped,
        "comments": sum(bool(getattr(answer, name)) for answer in answers for name in COMMENTS),
        "seconds": sum(answer.seconds for answer in answers),
    }


def to_frame(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row per answer, with the columns of `SCHEMA`."""
    return pl.DataFrame([asdict(answer) for answer in answers], schema=SCHEMA, orient="row")


def items(found: Campaign, frame: pl.DataFrame) -> list[Item]:
    """Every task of the campaign, in its order, with the answers of a frame (`to_frame`).

    Raises InputInvalid for a row that is no answer, an unknown task, and two answers of one annotator about one task.
    """
    answers = ordered(found, [read(row) for row in frame.iter_rows(named=True)])
    kept: dict[str, list[Answer]] = {task.id: [] for task in found.tasks}
    for answer in answers:
        kept[answer.task].append(answer)
    return [Item(task, tuple(kept[task.id])) for task in found.tasks]

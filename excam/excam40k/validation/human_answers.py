"""Annotators' answers under pseudonyms, counted, and joined with their tasks.

Nothing is inferred about missing answers: a skipped task and an unanswered step have no vote, and are counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from excam.annotation.answers import COMMENTS, FIELDS, FLAGS, Answer, read
from excam.annotation.campaign import Campaign, Task
from excam.annotation.exchange import in_campaign_order

SCHEMA: dict[str, Any] = {
    name: pl.Boolean if name in FLAGS else pl.Int64 if name == "seconds" else pl.String for name in FIELDS
}


@dataclass(frozen=True, slots=True)
class Item:
    """A task and the answers about it; a skipped or unfinished answer has no votes for its unanswered steps."""

    task: Task
    answers: tuple[Answer, ...]


def pseudonyms(found: Campaign, answers: Iterable[Answer]) -> dict[str, str]:
    """Return a1, a2, … for annotators, in an order that depends only on the campaign and their names."""
    names = {answer.annotator for answer in answers}
    order = sorted(names, key=lambda name: hashlib.sha256(f"{found.id}/{name}".encode()).digest())
    return {name: f"a{number}" for number, name in enumerate(order, 1)}


def with_pseudonyms(answers: Iterable[Answer], names: Mapping[str, str]) -> list[Answer]:
    """Return the answers with their annotators' pseudonyms; comments stay unchanged."""
    return [replace(answer, annotator=names[answer.annotator]) for answer in answers]


def counts(found: Campaign, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the numbers of answers, of the campaign and by annotator."""
    each: dict[str, list[Answer]] = {}
    for answer in answers:
        each.setdefault(answer.annotator, []).append(answer)
    return {
        "campaign": found.id,
        "tasks": len(found.tasks),
        "wanted": sum(task.annotators for task in found.tasks),
        **_count_answers(answers),
        "annotators": {name: _count_answers(each[name]) for name in sorted(each, key=lambda name: (len(name), name))},
    }


def _count_answers(answers: Sequence[Answer]) -> dict[str, int]:
    """Return the numbers of answers: all, finished, unfinished, skipped; of comments; and the seconds."""
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
    """Return one row per answer, with the columns of `SCHEMA`."""
    return pl.DataFrame([asdict(answer) for answer in answers], schema=SCHEMA, orient="row")


def items(found: Campaign, frame: pl.DataFrame) -> list[Item]:
    """Return every task of the campaign, in its order, with the answers of a frame (`to_frame`).

    Raises InputInvalid for an invalid row, an unknown task, and two answers of one annotator about one task.
    """
    answers = in_campaign_order(found, [read(row) for row in frame.iter_rows(named=True)])
    kept: dict[str, list[Answer]] = {task.id: [] for task in found.tasks}
    for answer in answers:
        kept[answer.task].append(answer)
    return [Item(task, tuple(kept[task.id])) for task in found.tasks]

"""Annotators' answers under pseudonyms, counted, and joined with their tasks.

Nothing is inferred about missing answers: a skipped task and an unanswered step have no vote, and are counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from excam.annotation import exchange
from excam.annotation.answers import Answer, columns, is_done, read, steps_answered
from excam.annotation.campaign import Campaign, Task
from excam.annotation.exchange import in_campaign_order
from excam.annotation.form import Form
from excam.annotation.form_parts import Kind

TYPES: dict[Kind, Any] = {"flags": pl.Boolean, "number": pl.Int64}


@dataclass(frozen=True, slots=True)
class AnsweredTask:
    """A task and the answers about it; a skipped or unfinished answer has no votes for its unanswered steps."""

    task: Task
    answers: tuple[Answer, ...]
    form: Form

    def answered(self, step: int) -> list[Answer]:
        """Return the answers that have this step, 1 to 3, and those before it."""
        return [answer for answer in self.answers if steps_answered(self.form, answer.values) >= step]


def pseudonyms(campaign: Campaign, answers: Iterable[Answer]) -> dict[str, str]:
    """Return a1, a2, … for annotators, in an order that depends only on the campaign and their names."""
    names = {answer.annotator for answer in answers}
    order = sorted(names, key=lambda name: hashlib.sha256(f"{campaign.id}/{name}".encode()).digest())
    return {name: f"a{number}" for number, name in enumerate(order, 1)}


def with_pseudonyms(answers: Iterable[Answer], names: Mapping[str, str]) -> list[Answer]:
    """Return the answers with their annotators' pseudonyms; comments stay unchanged."""
    return [replace(answer, annotator=names[answer.annotator]) for answer in answers]


def counts(campaign: Campaign, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the numbers of answers, of the campaign and by annotator."""
    each: dict[str, list[Answer]] = {}
    for answer in answers:
        each.setdefault(answer.annotator, []).append(answer)
    return {
        "campaign": campaign.id,
        "tasks": len(campaign.tasks),
        "wanted": sum(task.annotators for task in campaign.tasks),
        **_count_answers(campaign.form, answers),
        "annotators": {
            name: _count_answers(campaign.form, each[name]) for name in sorted(each, key=lambda name: (len(name), name))
        },
    }


def systems(campaign: Campaign) -> list[str]:
    """Return the systems behind the explanations, sorted."""
    return sorted({system for task in campaign.tasks for system in task.hidden.values()})


def _count_answers(form: Form, answers: Sequence[Answer]) -> dict[str, int]:
    """Return the numbers of answers: all, finished, unfinished, skipped; of comments; and the seconds."""
    skipped = sum(answer[form.skip] for answer in answers)
    done = sum(is_done(form, answer.values) for answer in answers)
    texts = [question.field for question in form.questions if question.kind == "text"]
    return {
        "answers": len(answers),
        "finished": done - skipped,
        "unfinished": len(answers) - done,
        "skipped": skipped,
        "comments": sum(bool(answer[name]) for answer in answers for name in texts),
        "seconds": sum(answer.seconds for answer in answers),
    }


def to_frame(form: Form, answers: Iterable[Answer]) -> pl.DataFrame:
    """Return one row per answer, with the columns of an answer to the form."""
    kinds = exchange.kinds(form)
    schema = {name: TYPES.get(kinds[name], pl.String) for name in columns(form)}
    return pl.DataFrame([answer.row() for answer in answers], schema=schema, orient="row")


def items(campaign: Campaign, frame: pl.DataFrame) -> list[AnsweredTask]:
    """Return every task of the campaign, in its order, with the answers of a frame (`to_frame`).

    Raises InputInvalid for an invalid row, an unknown task, and two answers of one annotator about one task.
    """
    answers = in_campaign_order(campaign, [read(row, campaign) for row in frame.iter_rows(named=True)])
    by_task: dict[str, list[Answer]] = {task.id: [] for task in campaign.tasks}
    for answer in answers:
        by_task[answer.task].append(answer)
    return [AnsweredTask(task, tuple(by_task[task.id]), campaign.form) for task in campaign.tasks]

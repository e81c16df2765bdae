"""A campaign of the items on which raters differ, or of all, for another person who sees what each of them answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from excam.annotation import campaign as campaigns
from excam.annotation.agreement import study
from excam.annotation.answers import Answer, state
from excam.annotation.campaign import Campaign, Task
from excam.annotation.form import Form
from excam.annotation.form_parts import FormQuestion
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest

TITLE = "You decide"
DISAGREE = (
    "Others answered these tasks before and disagree. What each of them said stands above the questions: only the "
    "questions on which they differ, and their remarks."
)
ANSWERED = "Others answered these tasks before. What each of them said stands above the questions: refine it."
FINAL = "Answer every question as you find it right, also against all of them. Your answer is the final one."

Raters = Mapping[str, Iterable[str]]  # of a task: who answered, by column


def disagreements(campaign: Campaign, answers: Iterable[Answer]) -> Campaign:
    """Return the items with a difference as a campaign of their own, in the order of the first one.

    The form is the same, and shows above its steps what each rater answered where they differ, and their texts. Raters
    have numbers there; their names are hidden entries of the task. Raise InputInvalid if no item has a difference.
    """
    all_answers = list(answers)
    raters = {item.task: item.differing for item in study(campaign, all_answers, seed=0).items}
    if not raters:
        raise InputInvalid(f"campaign {campaign.id}: no item on which two raters differ; expected some to decide")
    return _again(campaign, all_answers, raters, "disagreements", DISAGREE)


def second_pass(campaign: Campaign, answers: Iterable[Answer]) -> Campaign:
    """Return all items with a finished answer as `disagreements` does, above their steps what each rater answered."""
    finished = [answer for answer in answers if state(campaign.form, answer.values) == "finished"]
    raters: dict[str, dict[str, list[str]]] = {}
    empty = campaign.form.empty()
    for answer in finished:
        for column in campaign.form.columns:
            if answer[column] != empty[column]:
                raters.setdefault(answer.task, {}).setdefault(column, []).append(answer.annotator)
    if not raters:
        raise InputInvalid(f"campaign {campaign.id}: no finished answer; expected some to refine")
    return _again(campaign, finished, raters, "second pass", ANSWERED)


def _again(
    campaign: Campaign, answers: Sequence[Answer], raters: Mapping[str, Raters], what: str, why: str
) -> Campaign:
    if "answers_1" in campaign.tasks[0].shown:
        raise InputInvalid(f"campaign {campaign.id}: shows answers already; expected the first one")
    by_key = {(answer.task, answer.annotator): answer for answer in answers}
    tasks = [_task(campaign, task, raters[task.id], by_key) for task in campaign.tasks if task.id in raters]
    most = max(sum(name.startswith("rater_") for name in task.hidden) for task in tasks)
    return campaigns.campaign(f"{campaign.title}: {what}", _form(campaign.form, most, why), tasks)


def _form(form: Form, most: int, why: str) -> Form:
    """Return the form with the answers of up to `most` raters above its steps, and no comparison after one's own."""
    numbers = range(1, most + 1)
    quotation = {"show": "quote", "optional": True, "of": [f"answers_{number}" for number in numbers]}
    quotation["labels"] = [f"Rater {number}" for number in numbers]
    content = form.model_dump(exclude_defaults=True)
    content["shows"] = [*content.get("shows", ()), quotation]
    content["instructions"] = [{"title": TITLE, "points": [why, FINAL]}, *content.get("instructions", ())]
    content["owner"] = [*form.owner, *(f"rater_{number}" for number in numbers)]
    return Form.model_validate({**content, "compare": None})


def _task(campaign: Campaign, task: Task, by_column: Raters, by_key: Mapping[tuple[str, str], Answer]) -> Task:
    raters = sorted({rater for names in by_column.values() for rater in names})
    texts = {
        f"answers_{number}": "\n".join(_lines(campaign.form, by_column, by_key[task.id, rater], task))
        for number, rater in enumerate(raters, 1)
    }
    return replace(
        task,
        id=digest(0, "annotation/adjudication", campaign.id, task.id)[:16],
        annotators=1,
        shown={**task.shown, **texts},
        hidden={**task.hidden, **{f"rater_{number}": rater for number, rater in enumerate(raters, 1)}},
        assigned=(),
    )


def _lines(form: Form, by_column: Raters, answer: Answer, task: Task) -> Iterator[str]:
    """Yield a rater's answers to the columns that differ, and to the text fields, in the words of the form."""
    for column, question in form.columns.items():
        value = answer[column]
        if column in by_column or (question.kind in ("text", "slots") and value):
            label = question.values[column] if question.kind == "flags" else question.label
            yield f"{label} → {in_words(question, value, task)}"


def in_words(question: FormQuestion, value: Any, task: Task) -> str:
    """Return an answer to a question in the words of the form, marks as the marked words."""
    if question.kind == "flags":
        return "yes" if value else "no"
    if value is None:
        return "no answer"
    if question.kind == "span":
        return _marked(question, value, task.shown[question.of]) or "nothing marked"
    if question.kind == "order":
        return " > ".join(question.values[entry] for entry in value)
    if question.kind == "slots":
        return "; ".join(f"{slot}: {text}" for slot, text in value.items())
    if question.kind == "scale":
        return f"{value} {question.values[str(value)]}"
    return question.values.get(value, value) or "no answer" if isinstance(value, str) else f"{value}"


def _marked(question: FormQuestion, marks: Sequence[Sequence[Any]], text: str) -> str:
    return "; ".join(f"“{text[start:end]}” {question.values[label]}" for start, end, label in marks)

"""Answers as files of Label Studio (JSON) and doccano (JSON Lines), and back.

Both count the characters of a text as code points, as we do. What a file cannot hold is counted, by what it is. Label
Studio holds choices, boxes, scales, numbers, texts and marks; a project of doccano holds one field: a choice, boxes, a
text or marks. An order and slots are in neither.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import quoteattr

from excam.annotation import answers as checked
from excam.annotation.answers import PATTERNS, Answer, open_points
from excam.annotation.campaign import Campaign, Task
from excam.annotation.exchange import in_campaign_order
from excam.annotation.form import SUBMITTED, Form
from excam.annotation.form_parts import Question, Show
from excam.annotation.storage import utc_now
from excam.core.exceptions import InputInvalid, in_a_line

Left = Counter[str]  # what was left out, by its kind


# --- Label Studio


def to_label_studio(campaign: Campaign, answers: Iterable[Answer]) -> tuple[str, Left]:
    """Return all tasks with the answers about them as Label Studio imports them, and what they cannot hold."""
    left, by_task = Left(), {task.id: [] for task in campaign.tasks}
    for answer in in_campaign_order(campaign, answers):
        by_task[answer.task].append(answer)
    tasks: list[dict[str, Any]] = []
    for task in campaign.tasks:
        texts = {name: value for name, value in task.shown.items() if isinstance(value, str)}
        left.update(f"shown {name} that is no text" for name in task.shown if name not in texts)
        annotations = [
            {
                "result": list(_results(campaign.form, task, answer, left)),
                **{"annotator": answer.annotator, "lead_time": answer.seconds, "created_at": answer.saved},
            }
            for answer in by_task[task.id]
        ]
        data = {**texts, "task": task.id, "row": task.row, "language": task.language, "culture": task.culture}
        tasks.append({"data": data, "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", left


def _about(form: Form, question: Question) -> str:
    """Return the shown entry that a field is attached to: its own, or the first text that the form shows."""
    shown = (name for part in form.parts() if isinstance(part, Show) for name in part.of)
    return question.of or next(shown, "text")


def _results(form: Form, task: Task, answer: Answer, left: Left) -> Iterator[dict[str, Any]]:
    for question in form.questions:
        for kind, value in _values(question, task, answer, left):
            yield {"from_name": question.field, "to_name": _about(form, question), "type": kind, "value": value}


def _values(question: Question, task: Task, answer: Answer, left: Left) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = question.kind
    if kind == "flags":
        if ticked := [column for column in question.columns if answer[column]]:
            yield "choices", {"choices": ticked}
        return
    value = answer[question.field]
    if value in (None, "", [], {}):
        return
    if kind == "choice":
        yield "choices", {"choices": [value]}
    elif kind == "span":
        text = task.shown[question.of]
        for start, end, label in value:
            yield "labels", {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    elif kind == "text":
        yield "textarea", {"text": [value]}
    elif kind in ("scale", "number"):
        yield "number", {"number": value}
    else:
        left[f"{question.field}, a field of kind {kind}"] += 1


def label_studio_config(form: Form) -> str:
    """Return the labelling interface whose controls have the names that `to_label_studio` writes."""
    lines = ["<View>"]
    shown = dict.fromkeys(_about(form, question) for question in form.questions)
    shown |= dict.fromkeys(name for part in form.parts() if isinstance(part, Show) for name in part.of)
    lines += [f"  <Text name={quoteattr(name)} value={quoteattr(f'${name}')}/>" for name in shown]
    for question in form.questions:
        names = f"name={quoteattr(question.field)} toName={quoteattr(_about(form, question))}"
        values = [quoteattr(value) for value in question.values]
        if question.kind in ("choice", "flags", "span"):
            tag, inner = ("Labels", "Label") if question.kind == "span" else ("Choices", "Choice")
            many = ' choice="multiple"' if question.kind == "flags" else ""
            inside = "".join(f"<{inner} value={value}/>" for value in values)
            lines += [f"  <Header value={quoteattr(question.label)}/>", f"  <{tag} {names}{many}>{inside}</{tag}>"]
        elif question.kind in ("scale", "number", "text"):
            levels = [int(value) for value in question.values]
            limits = f' min="{min(levels)}" max="{max(levels)}"' if levels else ""
            tag = "TextArea" if question.kind == "text" else "Number"
            lines += [f"  <Header value={quoteattr(question.label)}/>", f"  <{tag} {names}{limits}/>"]
    return "\n".join([*lines, "</View>"]) + "\n"


def from_label_studio(text: str, campaign: Campaign) -> tuple[list[Answer], Left]:
    """Return the answers of an export (JSON), and what was left out. A task is found by `task` or `row` in its data.

    Raise InputInvalid for a file of another kind, a task that is not in the campaign, and a value that does not fit.
    """
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputInvalid(
            f"not complete JSON ({str(problem)[:100]}); expected Label Studio's export as JSON"
        ) from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) and "data" in task for task in tasks):
        raise InputInvalid("no list of tasks with `data`; expected Label Studio's export as JSON, not JSON-MIN")
    left: Left = Left()
    answers: list[Answer] = []
    for number, raw in enumerate(tasks, 1):
        task = _task_of(campaign, raw["data"], number)
        for annotation in raw.get("annotations", []):
            if annotation.get("was_cancelled"):
                left["cancelled annotation"] += 1
                continue
            values = campaign.form.empty()
            for result in annotation.get("result", []):
                with _explained(f"task {number}"):
                    _take(campaign.form, task, values, result, left)
            saved = _utc(annotation.get("updated_at") or annotation.get("created_at"))
            seconds = round(annotation.get("lead_time") or 0)
            answers.append(_answer(campaign, task, _name_of(annotation), values, seconds, saved))
    return answers, +left


def _task_of(campaign: Campaign, data: Mapping[str, Any], number: int) -> Task:
    for task in campaign.tasks:
        if task.id == data.get("task") or ("task" not in data and task.row == str(data.get("row", data.get("id")))):
            return task
    raise InputInvalid(
        f"task {number}: neither `task` nor `row` is of campaign {campaign.id}; expected one of its tasks"
    )


def _name_of(annotation: Mapping[str, Any]) -> str:
    """Return who answered: our name, else the part of an e-mail address before its @, else user-NUMBER."""
    by = annotation.get("annotator") or annotation.get("completed_by")
    name = str(by.get("email") or f"user-{by.get('id')}") if isinstance(by, dict) else by
    name = f"user-{name}" if isinstance(name, int) else str(name).split("@")[0]
    if not PATTERNS["annotator"].fullmatch(name):
        raise InputInvalid(f"annotator {name[:60]!r}; expected letters, digits and . _ -, in `completed_by`")
    return name


def _take(form: Form, task: Task, values: dict[str, Any], result: Mapping[str, Any], left: Left) -> None:
    """Put a result of Label Studio into the values of an answer, or count it."""
    question = next((question for question in form.questions if question.field == result.get("from_name")), None)
    kind, value = result.get("type"), result.get("value", {})
    if question is None:
        left[f"result of {str(result.get('from_name'))[:40]}, which is no field of the form"] += 1
    elif question.kind == "flags" and kind == "choices":
        for chosen in value["choices"]:
            if chosen in question.values:
                values[chosen] = True
            else:
                left[f"{question.field}: {str(chosen)[:40]}, which is no value"] += 1
    elif question.kind == "choice" and kind == "choices":
        _choose(question, values, value["choices"], left)
    elif question.kind == "text" and kind == "textarea":
        values[question.field] = "\n".join(value["text"])
    elif question.kind in ("scale", "number") and kind in ("number", "rating", "choices"):
        number = value.get(kind)
        values[question.field] = _number(number[0] if isinstance(number, list) else number)
    elif question.kind == "span" and kind == "labels":
        _mark(question, task, values, value, left)
    else:
        left[f"{question.field}: a result of type {str(kind)[:40]}"] += 1


def _choose(question: Question, values: dict[str, Any], chosen: Sequence[Any], left: Left) -> None:
    """Put the first value into a choice; count further ones, and one that the form does not have."""
    left[f"{question.field}: a second value"] += max(0, len(chosen) - 1)
    for first in chosen[:1]:
        if first in question.values:
            values[question.field] = first
        else:
            left[f"{question.field}: {str(first)[:40]}, which is no value"] += 1


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Turn an error of a value of another shape into InputInvalid, in one line."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InputInvalid(
            f"{where}: a result of another shape ({in_a_line(problem)}); expected the tool's own export"
        ) from None


def _mark(question: Question, task: Task, values: dict[str, Any], value: Mapping[str, Any], left: Left) -> None:
    """Add a mark, unless the text that it covered was another one: then an offset is not ours."""
    start, end = value["start"], value["end"]
    if task.shown[question.of][start:end] != value.get("text", task.shown[question.of][start:end]):
        left[f"{question.field}: a mark of another text"] += 1
        return
    for label in value["labels"]:
        if label in question.values:
            values[question.field] = [*values[question.field], [start, end, label]]
        else:
            left[f"{question.field}: {str(label)[:40]}, which is no label"] += 1


def _number(value: Any) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value  # the check of the answer says what it expected
    return int(number) if number.is_integer() else number


def _utc(text: Any) -> str:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return utc_now()
    return checked.utc_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _answer(campaign: Campaign, task: Task, name: str, values: Mapping[str, Any], seconds: int, saved: str) -> Answer:
    """Return the checked answer, submitted if nothing is open. Raise InputInvalid for a value that does not fit."""
    answer = Answer(task.id, name, dict(values), seconds, saved)
    if campaign.form.submit:
        submitted = not open_points(campaign.form, task, values)
        answer = replace(answer, values={**values, SUBMITTED: submitted})
    try:
        return checked.read(answer.row(), campaign)
    except InputInvalid as problem:
        raise InputInvalid(f"{name} about {task.row}: {problem}") from None


# --- doccano


def to_doccano(campaign: Campaign, answers: Iterable[Answer], field: str) -> tuple[str, Left]:
    """Return a line for each answer with the `label` of one field, as doccano imports it, and what it cannot hold.

    Raise InputInvalid for a field that a project of doccano cannot have.
    """
    question = _doccano_field(campaign.form, field)
    lines: list[str] = []
    for answer in in_campaign_order(campaign, answers):
        task = campaign.by_id[answer.task]
        text = task.shown.get(_about(campaign.form, question))
        if question.kind == "flags":
            label = [column for column in question.columns if answer[column]]
        else:
            label = answer[field] if question.kind == "span" else [answer[field]] if answer[field] else []
        ids = {"task": task.id, "row": task.row, "annotator": answer.annotator}
        lines.append(
            json.dumps({"text": text if isinstance(text, str) else "", "label": label, **ids}, ensure_ascii=False)
        )
    others = Left(
        {f"{other.field}, another field": len(lines) for other in campaign.form.questions if other != question}
    )
    return "".join(f"{line}\n" for line in lines), others if lines else Left()


def _doccano_field(form: Form, field: str) -> Question:
    kinds = ("choice", "flags", "text", "span")
    possible = {question.field: question for question in form.questions if question.kind in kinds}
    if field not in possible:
        raise InputInvalid(f"field {field[:40]!r}: expected one that doccano can hold: {', '.join(possible) or 'none'}")
    return possible[field]


def from_doccano(text: str, campaign: Campaign, field: str, annotator: str) -> tuple[list[Answer], Left]:
    """Return the answers to one field of an export (JSON Lines) by one annotator, and what was left out.

    A line is about the task that its `task` or `row` names. Raise InputInvalid as `from_label_studio` does.
    """
    question, saved = _doccano_field(campaign.form, field), utc_now()
    left, answers = Left(), []
    for number, line in enumerate(filter(str.strip, text.split("\n")), 1):
        try:
            row = dict(json.loads(line))
        except (ValueError, TypeError):
            raise InputInvalid(f"line {number}: no JSON; expected doccano's export as JSONL") from None
        task = _task_of(campaign, row, number)
        labels: Sequence[Any] = row.get("label", row.get("labels", []))
        left.update(f"{name}, which the form does not have" for name in ("relations", "Comments") if row.get(name))
        values = campaign.form.empty()
        with _explained(f"line {number}"):
            _take_labels(question, task, values, row, labels, left)
        answers.append(_answer(campaign, task, annotator, values, 0, saved))
    return answers, +left


def _take_labels(
    question: Question, task: Task, values: dict[str, Any], row: Mapping[str, Any], labels: Sequence[Any], left: Left
) -> None:
    if question.kind == "span":
        for start, end, label in labels:
            value = {"start": start, "end": end, "labels": [label], "text": str(row.get("text", ""))[start:end]}
            _mark(question, task, values, value, left)
    elif question.kind == "flags":
        values |= {label: True for label in labels if label in question.values}
        left.update(f"{question.field}: {label}, which is no value" for label in labels if label not in question.values)
    elif question.kind == "choice":
        _choose(question, values, labels, left)
    else:
        values[question.field] = str(labels[0]) if labels else ""
        left[f"{question.field}: a second value"] += max(0, len(labels) - 1)

"""The answer of an annotator to one task, and its validation against the form (ExCAM App. G for that of soft errors).

The page, the store, the exported files and the tables use the same names and values. `read` refuses what is no answer
at all; `open_points` says what a submitted one still lacks or breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from types import MappingProxyType
from typing import Any, Literal

from excam.annotation import wording
from excam.annotation.campaign import Campaign, Task
from excam.annotation.form import SUBMITTED, Form
from excam.annotation.form_parts import ANY, Bound, FormQuestion, Rule
from excam.core.exceptions import InputInvalid

MAX_SECONDS = 10**7
SLOT_LONGEST = 500  # characters
SPACE = " \t\r\n\u00a0\u3000"  # what is nothing at the ends of a text, in the page's script too
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
PATTERNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "task": re.compile(r"[0-9a-f]{16}"),
        "annotator": re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}"),
        "saved": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII),
    }
)
IN_WORDS = {  # the patterns, for people
    "task": "16 hexadecimal digits",
    "annotator": "letters, digits and . _ -, at most 40, no . _ - first",
    "saved": "a time in UTC, such as 2026-04-01T12:00:00.000Z",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's answers about one task: a value for each column of the form, and `submitted` if it has that."""

    task: str
    annotator: str
    values: Mapping[str, Any]
    seconds: int = 0  # the task was on the screen of a visible page
    saved: str = ""  # when, in UTC, as "2026-04-01T12:00:00.000Z"

    def __getitem__(self, column: str) -> Any:
        return self.values[column]

    def row(self) -> dict[str, Any]:
        """Return it as one flat dictionary, as files and requests have it."""
        ends = {"seconds": self.seconds, "saved": self.saved}
        return {"task": self.task, "annotator": self.annotator, **self.values, **ends}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Answer:
        """Return the answer of a flat dictionary, unchecked: the inverse of `row`."""
        values = {name: value for name, value in row.items() if name not in ("task", "annotator", "seconds", "saved")}
        return cls(row["task"], row["annotator"], values, row["seconds"], row["saved"])


def utc_text(moment: datetime) -> str:
    """Return an aware time in UTC, as `saved` has it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def columns(form: Form) -> tuple[str, ...]:
    """Return the names of an answer's flat dictionary, in order."""
    return ("task", "annotator", *form.empty(), "seconds", "saved")


def read(raw: Mapping[str, Any], campaign: Campaign) -> Answer:
    """Return the answer in a dictionary that has exactly the columns of the campaign's form, with values that fit.

    Raises InputInvalid with what was found and what is expected. An answer may be unfinished, but a step that is
    revealed is answered only after those before it, a skipped task has nothing but optional texts, and a submitted one
    no open points.
    """
    form, names = campaign.form, columns(campaign.form)
    if unlike := sorted(set(names) ^ set(raw)):
        raise InputInvalid(f"answer: {unlike[0]} is {'missing' if unlike[0] in names else 'unknown'}")
    for name in PATTERNS:
        _check_name(name, raw[name])
    _check_seconds(raw["seconds"])
    task = campaign.by_id.get(raw["task"])
    if task is None:
        raise InputInvalid(f"task {raw['task']} is not in campaign {campaign.id}; take the file that was drawn with it")
    if task.assigned and raw["annotator"] not in task.assigned:
        raise InputInvalid(f"answer: task {task.id} is not {raw['annotator']}'s; expected one that is assigned to them")
    for name, question in form.columns.items():
        for problem in _value_problems(name, question, raw[name], task):
            raise InputInvalid(f"answer: {problem}")
    answer = Answer.from_row({name: raw[name] for name in names})
    if form.skip and answer[form.skip] and any(not _is_empty(answer[required.field]) for required in _required(form)):
        raise InputInvalid(f"answer: task {task.id} is skipped and answered; expected one of the two")
    if late := _answered_too_early(form, answer.values):
        raise InputInvalid(f"answer: {late} of task {task.id} is answered before the step in front of it")
    if form.submit:
        _check_submitted(form, task, answer)
    return answer


def steps_answered(form: Form, values: Mapping[str, Any]) -> int:
    """Return the number of answered steps; a step counts only if all before it are answered."""
    for at, step in enumerate(form.steps):
        if any(question.required and not _is_answered(question, values) for question in step.questions):
            return at
    return len(form.steps)


def is_skipped(form: Form, values: Mapping[str, Any]) -> bool:
    """Return whether the form's skip flag is ticked."""
    return bool(form.skip and values[form.skip])


def is_done(form: Form, values: Mapping[str, Any]) -> bool:
    """Return whether nothing more is asked: it is submitted, or skipped, or every step is answered."""
    if form.submit:
        return bool(values[SUBMITTED])
    return is_skipped(form, values) or steps_answered(form, values) == len(form.steps)


def state(form: Form, values: Mapping[str, Any]) -> Literal["finished", "skipped", "unfinished"]:
    """Return how far an answer is; a skipped one is not finished."""
    if is_skipped(form, values):
        return "skipped"
    return "finished" if is_done(form, values) else "unfinished"


def open_points(form: Form, task: Task, values: Mapping[str, Any]) -> list[str]:
    """Return what keeps an answer from being submitted, a line each: what is unanswered, lengths, broken rules.

    Of a skipped task only rules about the flag that skips it hold.
    """
    if is_skipped(form, values):
        return [rule.say for rule in form.rules if form.skip in rule.when and _is_broken(rule, task, values)]
    missing = [f"Not answered: {question.label}" for question in _required(form) if not _is_answered(question, values)]
    worded = [problem for question in form.questions for problem in _length_problems(question, values)]
    return missing + worded + [rule.say for rule in form.rules if _is_broken(rule, task, values)]


def _length_problems(question: FormQuestion, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for a text that has not as many sentences as its field asks for."""
    if question.sentences is None or _is_blank(values[question.field]):
        return
    low, high = question.sentences
    count = wording.sentences(values[question.field])
    if not low <= count <= high:
        expected = f"{low}" if low == high else f"{low} to {high}"
        yield f"{question.label}: sentences found {count}; expected {expected}"


def is_compared(form: Form, task: Task) -> bool:
    """Return whether others' answers to a task are shown after one's own."""
    return form.compare is not None and all(task.facet(name) in values for name, values in form.compare.when.items())


def _check_submitted(form: Form, task: Task, answer: Answer) -> None:
    _check_type(SUBMITTED, answer[SUBMITTED], bool)
    if answer[SUBMITTED] and (points := open_points(form, task, answer.values)):
        more = f" ({len(points)} points)" if len(points) > 1 else ""
        raise InputInvalid(f"answer: task {task.id} is submitted, but: {points[0]}{more}; expected none open")


def _required(form: Form) -> Iterator[FormQuestion]:
    return (question for question in form.questions if question.required)


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict):
        return not any(text.strip(SPACE) for text in value.values())
    return _is_empty(value.strip(SPACE) if isinstance(value, str) else value)


def _is_answered(question: FormQuestion, values: Mapping[str, Any]) -> bool:
    value = values[question.field]
    if question.kind == "slots":
        return bool(value) and all(text.strip(SPACE) for text in value.values())
    return not _is_blank(value)


def _answered_too_early(form: Form, values: Mapping[str, Any]) -> str | None:
    """Return a column of a revealed step that has an answer though the step before is not answered; optional texts may
    have one, since they stay when an earlier answer is taken back.
    """
    done = steps_answered(form, values)
    for step in form.steps[done + 1 :]:
        if not step.reveal:
            continue
        for question in step.questions:
            for column in question.columns:
                if not (question.kind == "text" and question.optional) and not _is_empty(values[column]):
                    return column
    return None


# --- rules


def _is_broken(rule: Rule, task: Task, values: Mapping[str, Any]) -> bool:
    if not all(_holds(allowed, _condition_value(name, task, values)) for name, allowed in rule.when.items()):
        return False
    return not all(
        _fulfilled(bound, values[name], values) and _is_among(bound, values[name], task)
        for name, bound in rule.then.items()
    )


def _condition_value(name: str, task: Task, values: Mapping[str, Any]) -> Any:
    return task.facet(name.removeprefix("task.")) if name.startswith("task.") else values[name]


def _holds(allowed: Sequence[bool | int | str], value: Any) -> bool:
    if isinstance(value, bool):
        return any(option is value for option in allowed)
    empty = _is_blank(value)
    return any(
        empty if option == "" else not empty if option == ANY else str(option) == str(value) for option in allowed
    )


def _fulfilled(bound: Bound, value: Any, values: Mapping[str, Any]) -> bool:
    if _is_blank(value):
        return not bound.needed
    if isinstance(value, str | dict):
        return _texts_fulfil(bound, list(value.values()) if isinstance(value, dict) else [value], values)
    if (bound.most is not None and value > bound.most) or (bound.least is not None and value < bound.least):
        return False
    middle = weighted_mean(bound.near, values) if bound.near else None
    return middle is None or abs(value - middle) <= bound.by


def _texts_fulfil(bound: Bound, texts: Sequence[str], values: Mapping[str, Any]) -> bool:
    filled = [text.strip(SPACE).lower() for text in texts if text.strip(SPACE)]
    if bound.distinct and len(set(filled)) < len(filled):
        return False
    if bound.names and not wording.names(texts[0], values[bound.names]):
        return False
    return (not bound.one_of or texts[0] in bound.one_of) and not any(
        sign in text for sign in bound.without for text in texts
    )


def _is_among(bound: Bound, value: Any, task: Task) -> bool:
    """Return whether every slot that is filled holds one of the values that the task lists for it, if it lists some."""
    allowed = task.shown.get(bound.among, {}) if bound.among else {}
    filled = {slot: text.strip(SPACE) for slot, text in value.items()} if allowed else {}
    return all(not text or text in allowed[slot].split("\n") for slot, text in filled.items() if slot in allowed)


def weighted_mean(weights: Mapping[str, float], values: Mapping[str, Any]) -> int | None:
    """Return the weighted mean of columns, rounded half up; None unless all have a value."""
    if any(values[name] is None for name in weights):
        return None
    total = sum(weight * values[name] for name, weight in weights.items())
    return floor(total / sum(weights.values()) + 0.5 + 1e-9)


# --- values


def _check_type(name: str, value: Any, kind: type) -> None:
    if type(value) is not kind:
        raise InputInvalid(f"answer: {name} is a {type(value).__name__}; expected {kind.__name__}")


def _check_name(name: str, value: Any) -> None:
    """Raise InputInvalid if the task, the annotator or the time of an answer cannot be one."""
    _check_type(name, value, str)
    if not PATTERNS[name].fullmatch(value):
        raise InputInvalid(f"answer: {name} is {value[:40]!r}; expected {IN_WORDS[name]}")
    if name == "saved" and not _is_time(value):
        raise InputInvalid(f"answer: saved is {value!r}; expected a time that is on the calendar and the clock")


def _check_seconds(value: Any) -> None:
    _check_type("seconds", value, int)
    if not 0 <= value <= MAX_SECONDS:
        raise InputInvalid(f"answer: seconds is {value}; expected 0 to {MAX_SECONDS}")


def _value_problems(name: str, question: FormQuestion, value: Any, task: Task) -> Iterator[str]:
    """Yield why a column of a field cannot have this value."""
    kind = question.kind
    if kind in ("scale", "number") and value is None:
        return
    expected = {"choice": str, "scale": int, "flags": bool, "text": str, "span": list, "order": list, "slots": dict}
    types = (int, float) if kind == "number" else (expected[kind],)
    if type(value) not in types:
        yield f"{name} is a {type(value).__name__}; expected {types[0].__name__}"
    elif kind == "choice" and value and value not in question.values:
        yield f"{name} is {value[:40]!r}; expected {', '.join(question.values)}"
    elif kind == "scale" and str(value) not in question.values:
        yield f"{name} is {value}; expected {', '.join(question.values)}"
    elif kind == "text":
        yield from _text_problems(name, value, question.longest)
    elif kind == "number":
        yield from _number_problems(name, question, value)
    elif kind == "span":
        yield from _span_problems(name, question, value, task.shown[question.of])
    elif kind == "order" and value and not _is_order(value, question):
        yield f"{name} is {str(value)[:60]}; expected each of {', '.join(question.values)} once"
    elif kind == "slots":
        yield from _slot_problems(name, value, task.shown[question.of])


def _is_order(value: Sequence[Any], question: FormQuestion) -> bool:
    return all(type(entry) is str for entry in value) and sorted(value) == sorted(question.values)


def _text_problems(name: str, value: str, longest: int) -> Iterator[str]:
    if len(value) > longest:
        yield f"{name} has {len(value)} characters; expected at most {longest}"
    elif UNWRITABLE.search(value):
        yield f"{name} holds characters that a file cannot"


def _number_problems(name: str, question: FormQuestion, value: float) -> Iterator[str]:
    if not question.low <= value <= question.high:  # false for NaN too
        yield f"{name} is {value}; expected {question.low:g} to {question.high:g}"
    elif value != round(value, question.decimals) or (isinstance(value, float) and value.is_integer()):
        yield f"{name} is {value!r}; expected at most {question.decimals} decimals, a whole number without a point"


def _span_problems(name: str, question: FormQuestion, value: Sequence[Any], text: str) -> Iterator[str]:
    if len(value) > question.marks:
        yield f"{name} has {len(value)} marks; expected at most {question.marks}"
    for mark in value:
        if not (isinstance(mark, list) and len(mark) == 3 and type(mark[0]) is int and type(mark[1]) is int):
            yield f"{name} holds {str(mark)[:40]}; expected [start, end, label]"
        elif not 0 <= mark[0] < mark[1] <= len(text):
            yield f"{name} marks {mark[0]} to {mark[1]} of {len(text)} characters"
        elif type(mark[2]) is not str or mark[2] not in question.values:
            yield f"{name} has the label {str(mark[2])[:40]!r}; expected {', '.join(question.values)}"
    if all(isinstance(mark, list) for mark in value) and len({str(mark) for mark in value}) < len(value):
        yield f"{name} has one mark twice"


def _slot_problems(name: str, value: Mapping[str, Any], slots: Mapping[str, str]) -> Iterator[str]:
    if value and set(value) != set(slots):
        yield f"{name} fills {', '.join(value)[:60]}; expected {', '.join(slots)}"
    for slot, text in value.items():
        if type(text) is not str:
            yield f"{name}: {slot[:40]} is a {type(text).__name__}; expected str"
        else:
            yield from _text_problems(f"{name}: {slot[:40]}", text, SLOT_LONGEST)


def _is_time(text: str) -> bool:
    """Return whether a text with the pattern of `saved` is a valid time: no February 30th, no hour 25."""
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return False
    return True

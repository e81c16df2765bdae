"""What is wrong with the rules of a form: those that its fields cannot fulfil."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from excam.annotation.form_errors import one_of
from excam.annotation.form_parts import ANY, Bound, Question, Rule, are_weights


def rule_problems(rule: Rule, columns: Mapping[str, Question]) -> Iterator[str]:
    where = f"rule {rule.say[:60]!r}"
    for name, values in rule.when.items():
        if name.startswith("task."):
            continue
        if name not in columns:
            yield f"{where}: {name!r} is no field; expected {one_of(columns)}"
        elif not values or not any(_possible(columns[name], value) for value in values):
            listed = ", ".join(map(repr, values))[:80]
            yield f"{where} never holds: {name} is never one of {listed}; expected {_expected(columns[name])}"
        elif wrong := [value for value in values if not _possible(columns[name], value)]:
            yield f"{where}: {name} is never {wrong[0]!r}; expected {_expected(columns[name])}"
    if not rule.then:
        yield f"{where}: says nothing in `then`"
    for name, bound in rule.then.items():
        if strange := [field for field in (name, *bound.near) if field not in columns]:
            yield f"{where}: {strange[0]!r} is no field; expected {one_of(columns)}"
            continue
        yield from (f"{where}: {name}: {problem}" for problem in _bound_problems(bound, name, columns))


def _bound_problems(bound: Bound, name: str, columns: Mapping[str, Question]) -> Iterator[str]:
    question = columns[name]
    numeric = all(columns[field].kind in ("scale", "number") for field in (name, *bound.near))
    limited = bound.most is not None or bound.least is not None
    if bound.near and not are_weights(bound.near.values()):
        yield "near: expected weights from 0 on, some above it"
    if "" in bound.without:
        yield "without: an empty text is in every text"
    if (limited or bound.near) and not numeric:
        yield "limits are for scales and numbers"
    elif bound.one_of and (question.kind != "choice" or not set(bound.one_of) <= set(question.values)):
        yield f"one_of is for choices; expected some of {', '.join(question.values)[:80]}"
    elif ((bound.distinct or bound.among) and question.kind != "slots") or (
        bound.without and question.kind not in ("text", "slots")
    ):
        yield "distinct and among are for slots, without for texts and slots"
    elif bound.names and not all(name in columns and columns[name].kind == "text" for name in (name, bound.names)):
        yield "names is for a text, and names another one"
    elif not limited and not any(
        (bound.needed, bound.near, bound.one_of, bound.distinct, bound.without, bound.among, bound.names)
    ):
        yield "asks nothing; expected most, least, near, one_of, distinct, without, among, names or needed"
    elif limited and not any(_within(bound, value) for value in _range(question, bound)):
        yield "no value fulfils it"
    elif (
        limited and not (bound.needed or bound.near) and all(_within(bound, value) for value in _range(question, bound))
    ):
        yield "every value fulfils it: the rule never holds anything back"


def _possible(question: Question, value: bool | int | str) -> bool:
    """Return whether a column of this field can have the value, as a condition names it."""
    if value in ("", ANY):
        return question.kind != "flags"
    if question.kind == "flags":
        return isinstance(value, bool)
    return str(value) in question.values and question.kind in ("choice", "scale")


def _expected(question: Question) -> str:
    """Return, for a message, the values that a condition can name."""
    if question.kind == "flags":
        return "true or false"
    values = question.values if question.kind in ("choice", "scale") else {}
    return one_of([*values, '""', f'"{ANY}"'])


def _range(question: Question, bound: Bound) -> tuple[float, ...]:
    """Return values that tell whether a bound holds for some, and for all: those of a scale; ends and limits
    of numbers."""
    if question.kind == "scale":
        return tuple(map(float, question.values))
    limits = (
        limit for limit in (bound.most, bound.least) if limit is not None and question.low <= limit <= question.high
    )
    return (question.low, question.high, *limits)


def _within(bound: Bound, value: float) -> bool:
    return (bound.most is None or value <= bound.most) and (bound.least is None or value >= bound.least)

"""What is wrong with the rules of a form: those that its fields cannot fulfil."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from excam.annotation.form_errors import one_of
from excam.annotation.form_parts import ANY, Bound, FormQuestion, Rule, are_weights


def rule_problems(rule: Rule, columns: Mapping[str, FormQuestion]) -> Iterator[str]:
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


def _bound_problems(bound: Bound, name: str, columns: Mapping[str, FormQuestion]) -> Iterator[str]:
    question = columns[name]
    kinds = {columns[field].kind for field in (name, *bound.near)}
    texts = {column for column, field in columns.items() if field.kind == "text"}
    is_limited = (bound.most, bound.least) != (None, None)
    within = [_within(bound, value) for value in _range(question, bound)]
    is_choice = question.kind == "choice" and {*bound.one_of} <= {*question.values}
    problems = (
        (bound.near and not are_weights(bound.near.values()), "near: expected weights from 0 on, some above it"),
        ("" in bound.without, "without: an empty text is in every text"),
        ((is_limited or bound.near) and not kinds <= {"scale", "number"}, "limits are for scales and numbers"),
        (bound.one_of and not is_choice, f"one_of is for choices; expected some of {', '.join(question.values)[:80]}"),
        (
            ((bound.distinct or bound.among) and question.kind != "slots")
            or (bound.without and question.kind not in ("text", "slots")),
            "distinct and among are for slots, without for texts and slots",
        ),
        (bound.names and not {name, bound.names} <= texts, "names is for a text, and names another one"),
        (
            bound == Bound(by=bound.by),
            "asks nothing; expected most, least, near, one_of, distinct, without, among, names or needed",
        ),
        (is_limited and not any(within), "no value fulfils it"),
        (
            is_limited and not (bound.needed or bound.near) and all(within),
            "every value fulfils it: the rule never holds anything back",
        ),
    )
    yield from (problem for is_there, problem in problems if is_there)


def _possible(question: FormQuestion, value: bool | int | str) -> bool:
    """Return whether a column of this field can have the value, as a condition names it."""
    if value in ("", ANY):
        return question.kind != "flags"
    if question.kind == "flags":
        return isinstance(value, bool)
    return str(value) in question.values and question.kind in ("choice", "scale")


def _expected(question: FormQuestion) -> str:
    """Return, for a message, the values that a condition can name."""
    if question.kind == "flags":
        return "true or false"
    values = question.values if question.kind in ("choice", "scale") else {}
    return one_of([*values, '""', f'"{ANY}"'])


def _range(question: FormQuestion, bound: Bound) -> tuple[float, ...]:
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

"""Agreement of the raters of a campaign, for any form: of each field, of each rater, and the items that divide them.

Only finished answers count, and of these no skipped ones. An empty optional field is no rating; a text without marks
and a box that is not ticked are ratings. Texts and slots are not compared. Intervals: 95 %, over items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import mean
from typing import Any

import numpy as np

from excam.annotation.answers import Answer, state
from excam.annotation.campaign import Campaign, Task
from excam.annotation.exchange import in_campaign_order
from excam.annotation.form import Form
from excam.annotation.form_parts import FormQuestion
from excam.stats import agreement, bootstrap
from excam.stats.icc import icc11, icc21

COMPARED = ("choice", "scale", "flags", "number", "span", "order")
FEW_RATERS = "fewer than two raters"
NOT_COMPARED = "texts are not compared"

Ratings = Mapping[Task, Mapping[str, Any]]  # of a column: each item's values by rater


@dataclass(frozen=True, slots=True)
class _FieldMeasure:
    """A number about a column of the form; None, with a note, where there is none. `items`: those that count in it."""

    field: str
    kind: str
    measure: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    items: int = 0
    ratings: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rater:
    """How alike a rater's answers are to others', from 0 to 1, over all fields that both answered of an item."""

    rater: str
    finished: int
    skipped: int
    unfinished: int
    value: float | None
    low: float | None
    high: float | None
    items: int
    comparisons: int


@dataclass(frozen=True, slots=True)
class RatedItem:
    """An item with two or more raters: how alike their answers are, and those to the columns that differ, by rater."""

    row: str
    task: str
    value: float
    raters: int
    text: str
    differing: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AgreementStudy:
    """`items`: those with a difference, least alike first; `compared` counts all that two or more rated."""

    tasks: int
    answers: int
    finished: int
    skipped: int
    compared: int
    measures: tuple[_FieldMeasure, ...]
    raters: tuple[Rater, ...]
    items: tuple[RatedItem, ...]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield everything as dictionaries, with what each is about as `about`."""
        counts = {name: getattr(self, name) for name in ("tasks", "answers", "finished", "skipped", "compared")}
        yield {"about": "campaign", **counts}
        for about, group in (("field", self.measures), ("rater", self.raters), ("item", self.items)):
            yield from ({"about": about, **asdict(entry)} for entry in group)


def study(campaign: Campaign, answers: Iterable[Answer], seed: int) -> AgreementStudy:
    """Return the agreement of all raters. Raise InputInvalid for answers that are not of the campaign."""
    form, in_order = campaign.form, in_campaign_order(campaign, answers)
    rated = [answer for answer in in_order if state(form, answer.values) == "finished"]
    columns: dict[str, Ratings] = {}
    measures: list[_FieldMeasure] = []
    for name, question in form.columns.items():
        if name != form.skip and question.kind not in COMPARED:
            measures.append(_FieldMeasure(name, question.kind, note=NOT_COMPARED))
        elif name != form.skip:
            columns[name] = _ratings(name, question, campaign.by_id, rated)
            measures += _measures(name, question, columns[name], seed)
    alike = _likenesses(form, columns)
    return AgreementStudy(
        tasks=len(campaign.tasks),
        answers=len(in_order),
        finished=len(rated),
        skipped=sum(state(form, answer.values) == "skipped" for answer in in_order),
        compared=len(alike),
        measures=tuple(measures),
        raters=tuple(_raters(form, in_order, alike, seed)),
        items=tuple(_items(form, columns, alike)),
    )


def _ratings(name: str, question: FormQuestion, tasks: Mapping[str, Task], answers: Sequence[Answer]) -> Ratings:
    """Return what raters answered in a column, of the items that two or more of them answered."""
    ratings: dict[Task, dict[str, Any]] = {}
    for answer in answers:
        value = answer[name]
        if question.kind in ("flags", "span") or value not in (None, "", []):
            ratings.setdefault(tasks[answer.task], {})[answer.annotator] = value
    return {task: by_rater for task, by_rater in ratings.items() if len(by_rater) > 1}


# --- fields


def _measures(name: str, question: FormQuestion, ratings: Ratings, seed: int) -> Iterator[_FieldMeasure]:
    kind, total = question.kind, sum(map(len, ratings.values()))

    def measure(label: str, value: float | None, low: float | None, high: float | None, *sizes: int) -> _FieldMeasure:
        note = "undefined: no variation" if value is None else ""
        return _FieldMeasure(name, kind, label, value, low, high, *(sizes or (len(ratings), total)), note=note)

    if not ratings:
        yield _FieldMeasure(name, kind, note=FEW_RATERS)
        return
    groups = [list(by_rater.values()) for by_rater in ratings.values()]
    same = [mean(first == second for first, second in combinations(group, 2)) for group in groups]
    yield measure("same answer", *_mean_with_interval(same, [1.0] * len(same), seed))
    if kind == "span":
        yield measure("F1 of characters", *_span_f1(groups, seed))
    elif kind == "order":
        pairs = [mean(_likeness(question, 1, *pair) for pair in combinations(group, 2)) for group in groups]
        yield measure("entries in the same order", *_mean_with_interval(pairs, [1.0] * len(pairs), seed))
    elif kind == "number":
        alpha = agreement.alpha_of_numbers(groups, seed)
        yield measure("alpha (interval)", alpha.value, alpha.low, alpha.high)
    else:
        values = ["False", "True"] if kind == "flags" else list(question.values)
        words = [list(map(str, group)) for group in groups]
        scale = "ordinal" if kind == "scale" else "nominal"
        alpha = agreement.alpha(words, values, scale, seed)
        yield measure(f"alpha ({scale})", alpha.value, alpha.low, alpha.high)
        label, kappa = _kappa(ratings, values, seed)
        yield measure(label, kappa.value, kappa.low, kappa.high, kappa.n, kappa.ratings)
    if kind in ("scale", "number"):
        yield measure(*_icc(ratings, seed))


def _mean_with_interval(numerators: Sequence[float], denominators: Sequence[float], seed: int) -> tuple[Any, Any, Any]:
    estimate = bootstrap.share(numerators, range(len(numerators)), seed, denominators)
    return estimate["value"], estimate["low"], estimate["high"]


def _kappa(ratings: Ratings, values: Sequence[str], seed: int) -> tuple[str, agreement.Agreement]:
    """Return Cohen's kappa where there are two raters in all, else Fleiss' of items with the most usual number."""
    raters = sorted({rater for by_rater in ratings.values() for rater in by_rater})
    if len(raters) == 2:
        pairs = [(str(by_rater[raters[0]]), str(by_rater[raters[1]])) for by_rater in ratings.values()]
        return "kappa (Cohen)", agreement.cohens_kappa(pairs, seed)
    sizes = [len(by_rater) for by_rater in ratings.values()]
    usual = max(set(sizes), key=lambda size: (sizes.count(size), size))
    words = [list(map(str, by_rater.values())) for by_rater in ratings.values()]
    return f"kappa (Fleiss, {usual} raters)", agreement.kappa(words, values, usual, seed)


def _icc(ratings: Ratings, seed: int) -> tuple[Any, ...]:
    """Return label, value and interval: ICC(2,1) where all items have the same raters, else ICC(1,1)."""
    raters = sorted({rater for by_rater in ratings.values() for rater in by_rater})
    if any(len(by_rater) < len(raters) for by_rater in ratings.values()):
        icc = icc11([list(by_rater.values()) for by_rater in ratings.values()], seed)
        return "ICC(1,1)", icc.value, icc.low, icc.high
    cells = np.array([[by_rater[rater] for rater in raters] for by_rater in ratings.values()], dtype=np.float64)
    icc = icc21(cells)
    return "ICC(2,1)", icc.value, icc.low, icc.high


def _characters(marks: Sequence[Sequence[Any]]) -> set[tuple[int, str]]:
    return {(at, label) for start, end, label in marks for at in range(start, end)}


def _span_f1(groups: Sequence[Sequence[Any]], seed: int) -> tuple[Any, Any, Any]:
    """Return F1 of the characters that two raters marked with the same label, over all pairs of raters of all items."""
    both, either = [], []
    for group in groups:
        pairs = list(combinations(map(_characters, group), 2))
        both.append(2.0 * sum(len(first & second) for first, second in pairs))
        either.append(float(sum(len(first) + len(second) for first, second in pairs)))
    return _mean_with_interval(both, either, seed)


# --- raters and items


def _likeness(question: FormQuestion, reach: float, first: Any, second: Any) -> float:
    """Return from 0 to 1 how alike two answers are: by distance on a scale of this `reach`, by overlap of marks."""
    if question.kind in ("scale", "number"):
        return 1 - abs(first - second) / reach if reach else 1.0
    if question.kind == "span":
        marked, also = _characters(first), _characters(second)
        return 2 * len(marked & also) / (len(marked) + len(also)) if marked or also else 1.0
    if question.kind == "order" and len(first) > 1:
        return mean((second.index(a) < second.index(b)) for a, b in combinations(first, 2))
    return float(first == second)


def _reach(question: FormQuestion, ratings: Ratings) -> float:
    """Return the largest difference of a scale, and of numbers the largest one that was answered."""
    if question.kind == "scale":
        levels = list(map(int, question.values))
        return max(levels) - min(levels)
    numbers = [value for by_rater in ratings.values() for value in by_rater.values()]
    return max(numbers) - min(numbers) if question.kind == "number" and numbers else 1


def _likenesses(form: Form, columns: Mapping[str, Ratings]) -> dict[Task, list[tuple[str, str, float]]]:
    """Return for each item every comparison of two raters in a column: the two, and how alike they answered."""
    alike: dict[Task, list[tuple[str, str, float]]] = {}
    for name, ratings in columns.items():
        question, reach = form.columns[name], _reach(form.columns[name], ratings)
        for task, by_rater in ratings.items():
            compared = [
                (first, second, _likeness(question, reach, by_rater[first], by_rater[second]))
                for first, second in combinations(by_rater, 2)
            ]
            alike.setdefault(task, []).extend(compared)
    return alike


def _raters(
    form: Form, answers: Sequence[Answer], alike: Mapping[Task, Sequence[tuple[str, str, float]]], seed: int
) -> Iterator[Rater]:
    states = {answer.annotator: Counter[str]() for answer in answers}
    for answer in answers:
        states[answer.annotator][state(form, answer.values)] += 1
    with_others: dict[str, dict[Task, list[float]]] = {rater: {} for rater in states}
    for task, compared in alike.items():
        for *pair, value in compared:
            for rater in pair:
                with_others[rater].setdefault(task, []).append(value)
    for rater in sorted(states):
        by_item = list(with_others[rater].values())
        sums = [sum(values) for values in by_item], [float(len(values)) for values in by_item]
        estimate = _mean_with_interval(*sums, seed) if by_item else (None, None, None)
        finished, skipped, unfinished = (states[rater][name] for name in ("finished", "skipped", "unfinished"))
        yield Rater(rater, finished, skipped, unfinished, *estimate, len(by_item), sum(map(len, by_item)))


def _items(
    form: Form, columns: Mapping[str, Ratings], alike: Mapping[Task, Sequence[tuple[str, str, float]]]
) -> list[RatedItem]:
    """Return the items with a difference, least alike first."""
    items: list[RatedItem] = []
    for task, compared in alike.items():
        rated = {name: ratings[task] for name, ratings in columns.items() if task in ratings}
        differ = {
            name: values
            for name, values in rated.items()
            if any(first != second for first, second in combinations(values.values(), 2))
        }
        if differ:
            value = mean(value for *_, value in compared)
            raters = {rater for *pair, _ in compared for rater in pair}
            items.append(RatedItem(task.row, task.id, value, len(raters), excerpt(form, task), differ))
    return sorted(items, key=lambda item: item.value)


def excerpt(form: Form, task: Task, longest: int = 80) -> str:
    """Return the beginning of the text that the task is about: that of a span field, else the first that is shown."""
    names = [question.of for question in form.questions if question.kind == "span"]
    names += [name for part in form.parts() if not isinstance(part, FormQuestion) for name in part.of]
    for value in (task.shown.get(name) for name in names):
        pieces = [value] if isinstance(value, str) else [piece for piece, _ in value] if isinstance(value, list) else []
        if text := " ".join("".join(pieces).split()):
            return text if len(text) <= longest else text[: longest - 1] + "…"
    return ""

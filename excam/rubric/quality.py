"""Quality control of ratings: reliability, disagreements, fatigue, what rules changed, and means by condition.

Functions take ratings of one version of the rubric (`same_rubric`) in which each rater rated a response once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.rubric import wording
from excam.rubric.manual import SCALE, SCORES, ScoringRubric, Timing
from excam.rubric.ratings import Rating, by_rater, draft_of
from excam.rubric.responses import CONDITIONS, Response
from excam.rubric.rules import settle
from excam.stats import agreement, bootstrap
from excam.stats.icc import Icc, icc21, icc21_bootstrap, icc_of_mean

TRIVIAL = ("always 3", "length")
FEW = 30  # items: with fewer, tables mark a number
Table = NDArray[np.float64]


def same_rubric(ratings: Iterable[Rating]) -> None:
    """Raise InputInvalid if ratings were given by more than one version of the rubric."""
    if len(versions := sorted({rating.rubric for rating in ratings})) > 1:
        raise InputInvalid(
            f"ratings: found rubrics {', '.join(versions)}; expected one version: their scores mean different things; "
            "rate again, or see --across-versions"
        )


@dataclass(frozen=True, slots=True)
class Reliability:
    """Agreement of some raters on one score, over the `n` responses that all of them rated.

    `icc` is ICC(2,1), of a single rater; `low` and `high` are its 95 % interval by F, `boot_low` and `boot_high` that
    over responses. `mean_icc` is ICC(2,k), of the mean of these `k` raters. `partial` counts responses
    that only some of them rated.
    """

    phase: str
    raters: str
    score: str
    icc: float | None
    low: float | None
    high: float | None
    boot_low: float | None
    boot_high: float | None
    mean_icc: float | None
    mean_low: float | None
    mean_high: float | None
    k: int
    n: int
    partial: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    target: str  # met, not met, undecided or undefined


def reliability(ratings: Sequence[Rating], rubric: ScoringRubric, seed: int) -> list[Reliability]:
    """Return the agreement of all people, and of the evaluator with each other rater, by phase and score."""
    reliabilities = []
    for phase in sorted({rating.phase for rating in ratings}, reverse=True):
        scored = [rating for rating in ratings if rating.phase == phase and rating.scores is not None]
        for name, raters in groups(scored).items():
            rows = [rating for rating in scored if rating.rater in raters]
            for score in SCORES:
                numbers = _numbers(table(rows, raters, score), rubric, seed)
                reliabilities.append(Reliability(phase, name, score, *numbers))
    return reliabilities


def groups(ratings: Iterable[Rating]) -> dict[str, list[str]]:
    """Return which raters are compared, by a name for them; none with a single rater."""
    roles = {rating.rater: rating.role for rating in ratings}
    people = sorted(name for name, role in roles.items() if role != "model")
    firsts = [name for name in people if roles[name] == "evaluator"] or people[:1]
    pairs = [
        (first, other)
        for first in firsts
        for other in sorted(roles, key=lambda name: (name in TRIVIAL, roles[name] == "model", name))
        if first != other and not (other in firsts and other < first)
    ]
    whole = {"all people": people} if len(people) > 2 else {}
    return whole | {f"{first} and {other}": [first, other] for first, other in pairs}


def table(ratings: Iterable[Rating], raters: Sequence[str], score: str) -> Table:
    """Return a score as items by raters, NaN where a rater did not rate an item; items in order of their ids."""
    scores = {(rating.task_id, rating.rater): rating.scores[score] for rating in ratings if rating.scores}
    items = sorted({task for task, _ in scores})
    cells = [[scores.get((item, rater), np.nan) for rater in raters] for item in items]
    return np.array(cells, dtype=np.float64).reshape(len(items), len(raters))


def _numbers(cells: Table, rubric: ScoringRubric, seed: int) -> tuple[Any, ...]:
    """Return the fields of `Reliability` after phase, raters and score."""
    holes = np.isnan(cells).any(axis=1)
    whole = cells[~holes]
    icc, drawn = icc21(whole), icc21_bootstrap(whole, seed)
    item_values = [[f"{value:.0f}" for value in row[~np.isnan(row)]] for row in cells]
    alpha = agreement.alpha(item_values, [str(value) for value in SCALE], "ordinal", seed)
    of_all = icc_of_mean(icc, cells.shape[1])
    return (
        *(icc.value, icc.low, icc.high),
        *(drawn or (None, None)),
        *(of_all.value, of_all.low, of_all.high),
        *(cells.shape[1], icc.n, int(holes.sum())),
        *(alpha.value, alpha.low, alpha.high),
        _against(rubric.manual.reliability.icc, icc),
    )


def _against(target: float, icc: Icc) -> str:
    if icc.value is None:
        return "undefined"
    if icc.low is None or icc.high is None:
        return "undecided"
    return "met" if icc.low >= target else "not met" if icc.high < target else "undecided"


def disagreements(ratings: Sequence[Rating], rubric: ScoringRubric) -> list[dict[str, Any]]:
    """Return each pair of people whose Overall of a response differs by what the manual wants reviewed."""
    by_item: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.scores and rating.role != "model":
            by_item[rating.task_id, rating.phase].append(rating)
    lines = []
    for (task, phase), item_ratings in sorted(by_item.items()):
        for rating_a, rating_b in combinations(sorted(item_ratings, key=lambda rating: rating.rater), 2):
            first, second = (rating.scores["overall"] for rating in (rating_a, rating_b) if rating.scores)
            if abs(first - second) >= rubric.manual.reliability.difference:
                lines.append(
                    {
                        **{"task_id": task, "phase": phase, "rater_a": rating_a.rater, "rater_b": rating_b.rater},
                        **{"overall_a": first, "overall_b": second, "difference": abs(first - second)},
                        **{"apart_on": ", ".join(_apart(rating_a, rating_b, rubric.manual.reliability.difference))},
                        **{"why_a": _why(rating_a), "why_b": _why(rating_b)},
                    }
                )
    return sorted(lines, key=lambda line: -line["difference"])


def _apart(rating: Rating, other: Rating, difference: int) -> Iterable[str]:
    assert rating.scores, "chosen by its scores"
    assert other.scores, "chosen by its scores"
    return [name for name in SCORES[:-1] if abs(rating.scores[name] - other.scores[name]) >= difference]


def _why(rating: Rating) -> str:
    return " ".join(f"{name}: {text}" for name, text in rating.rationales.items() if text)


def fatigue(ratings: Iterable[Rating], timing: Timing) -> list[dict[str, Any]]:
    """Return one line per person: how much was rated without a rest, and when the manual wanted one first.

    Saved times closer than `rest_hours` belong to one stretch. Mean minutes and the sample standard deviation of
    Overall are of the last `window` ratings of a stretch, and unknown before there are so many.
    """
    people = [
        rating
        for rating in ratings
        if rating.role != "model" and rating.scores and rating.saved and rating.seconds is not None
    ]
    lines = []
    for rater, rater_ratings in sorted(by_rater(people).items()):
        ordered = sorted(rater_ratings, key=lambda rating: (rating.saved, rating.task_id))
        states = list(_states(ordered, timing))
        rests = [(rating.task_id, state) for rating, state in zip(ordered, states, strict=True) if state["rest"]]
        windows = [state for state in states if state["minutes"] is not None]
        lines.append(
            {
                "rater": rater,
                "ratings": len(ordered),
                "longest_stretch": max(state["stretch"] for state in states),
                "mean_minutes": sum(rating.seconds or 0 for rating in ordered) / 60 / len(ordered),
                "worst_minutes": max((state["minutes"] for state in windows), default=None),
                "worst_sd": max((state["sd"] for state in windows), default=None),
                "rest_due_after": rests[0][0] if rests else "",
                "why": rests[0][1]["rest"] if rests else "",
            }
        )
    return lines


def _states(ordered: Sequence[Rating], timing: Timing) -> Iterable[dict[str, Any]]:
    """Yield after each rating: its place in the stretch, mean minutes and deviation of the window, and why to rest."""
    stretch: list[Rating] = []
    for current in ordered:
        last = stretch[-1].saved if stretch else None
        if last and current.saved and current.saved - last >= timedelta(hours=timing.rest_hours):
            stretch = []
        stretch.append(current)
        window = stretch[-timing.window :]
        minutes = deviation = None
        if len(window) == timing.window:
            minutes = float(np.mean([rating.seconds for rating in window if rating.seconds is not None])) / 60
            deviation = float(np.std([rating.scores["overall"] for rating in window if rating.scores], ddof=1))
        reasons = {
            f"{len(stretch)} ratings without a rest": len(stretch) >= timing.items,
            f"{minutes or 0:.1f} minutes a rating": minutes is not None and minutes > timing.minutes,
            f"SD of Overall {deviation or 0:.2f}": deviation is not None and deviation > timing.sd,
        }
        why = next((reason for reason, due in reasons.items() if due), "")
        yield {"stretch": len(stretch), "minutes": minutes, "sd": deviation, "rest": why}


def conditions(ratings: Sequence[Rating], responses: Sequence[Response], seed: int) -> list[dict[str, Any]]:
    """Return the mean of each score by condition, of all people and of each model, with its interval over responses."""
    tasks = {response.task_id: response for response in responses}
    scored = [rating for rating in ratings if rating.scores and rating.phase == "main" and rating.task_id in tasks]
    by_group: dict[tuple[str, str, str], list[Rating]] = defaultdict(list)
    for rating in scored:
        who = rating.rater if rating.role == "model" else "people"
        by_group["all", "all", who].append(rating)
        for name in CONDITIONS:
            by_group[name, getattr(tasks[rating.task_id], name) or "unknown", who].append(rating)
    order = {name: place for place, name in enumerate(("all", *CONDITIONS))}
    lines = []
    for (name, value, who), group_ratings in sorted(
        by_group.items(), key=lambda group: (order[group[0][0]], group[0][1], group[0][2] != "people", group[0][2])
    ):
        items = [rating.task_id for rating in group_ratings]
        for score in SCORES:
            sums = [rating.scores[score] for rating in group_ratings if rating.scores]
            estimated = bootstrap.estimate([sums, [1] * len(sums)], bootstrap.ratio, items, seed)
            line = {"condition": name, "value": value, "raters": who, "score": score}
            lines.append(
                line
                | bootstrap.with_ends("mean", estimated)
                | {"items": len(set(items)), "ratings": len(group_ratings)}
            )
    return lines


def rule_counts(
    ratings: Iterable[Rating], responses: Sequence[Response], rubrics: Sequence[ScoringRubric]
) -> list[dict[str, Any]]:
    """Return for each rater how often each rule changed a score, could not be decided, and how many ratings changed.

    `unworded` counts a model's ratings whose words are not as the manual asks (see `wording`).
    """
    tasks = {response.task_id: response for response in responses}
    versions = {rubric.signature: rubric for rubric in rubrics}
    lines = []
    for rater, rater_ratings in sorted(by_rater(ratings).items()):
        changed: Counter[str] = Counter()
        undecided: Counter[str] = Counter()
        for rating in rater_ratings:
            changed.update({cap.rule for cap in rating.caps})
            if rating.scores:
                task = tasks.get(rating.task_id) or Response(rating.task_id, "", "")
                undecided.update(settle(draft_of(rating), rating.findings, task, versions[rating.rubric]).undecidable)
        counted = {"rater": rater, "role": rater_ratings[0].role, "ratings": len(rater_ratings)}
        counted |= {"failures": sum(rating.scores is None for rating in rater_ratings)}
        of_model = rater_ratings[0].role == "model"  # people are refused what is counted here
        counted |= {"corrected": sum(rating.corrected for rating in rater_ratings) if of_model else None}
        unworded = sum(any(_unworded(rating, versions[rating.rubric])) for rating in rater_ratings)
        counted |= {"unworded": unworded if of_model else None}
        lines.append(
            counted
            | {"rule": "all", "changed": sum(bool(rating.caps) for rating in rater_ratings), "undecidable": None}
        )
        for rule in sorted(changed.keys() | undecided.keys()):
            lines.append(counted | {"rule": rule, "changed": changed[rule], "undecidable": undecided[rule]})
    return lines


def _unworded(rating: Rating, rubric: ScoringRubric) -> Iterator[str]:
    texts = {f"rationale_{name}": words for name, words in rating.rationales.items()}
    return wording.breaches(texts, rating.findings, rubric)  # a model's notes are those of its parser


def trivial_raters(responses: Sequence[Response], like: Sequence[Rating]) -> list[Rating]:
    """Return ratings of `TRIVIAL` raters, which read nothing: always 3, and the fifth that the response's length is in.

    They show what agreement is worth nothing. They rate the responses, of those known, that `like` rates.
    """
    rated = {(rating.task_id, rating.phase) for rating in like}
    sizes = {response.task_id: len(response.response) for response in responses}
    ranked = sorted({task for task, _ in rated} & sizes.keys(), key=lambda task: (sizes[task], task))
    scores = {TRIVIAL[0]: dict.fromkeys(ranked, 3)}
    scores[TRIVIAL[1]] = {task: 1 + 5 * place // len(ranked) for place, task in enumerate(ranked)}
    return [
        Rating(task, name, "model", like[0].rubric, phase, dict.fromkeys(SCORES, by_task[task]), {})
        for name, by_task in scores.items()
        for task, phase in sorted(rated)
        if task in by_task
    ]

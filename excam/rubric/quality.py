"""Quality control of ratings: reliability, disagreements, fatigue, what rules changed, and means by condition.

Functions take ratings of one version of the rubric (`same_rubric`) in which each rater rated a response once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.rubric.manual import SCALE, SCORES, Rubric, Timing
from excam.rubric.ratings import Rating, by_rater, draft_of
from excam.rubric.responses import CONDITIONS, Response
from excam.rubric.rules import settle
from excam.stats import agreement, bootstrap
from excam.stats.icc import Icc, icc21, icc21_bootstrap, icc21_mixed

Missing = Literal["complete", "mixed"]
TRIVIAL = ("always 3", "length")
FEW = 30  # items: with fewer, tables mark a number
Table = NDArray[np.float64]


def same_rubric(ratings: Iterable[Rating]) -> None:
    """Raise InputInvalid if ratings were given by more than one version of the rubric."""
    if len(versions := sorted({one.rubric for one in ratings})) > 1:
        raise InputInvalid(
            f"ratings: found rubrics {', '.join(versions)}; expected one version: their scores mean different things; "
            "rate again, or see --across-versions"
        )


@dataclass(frozen=True, slots=True)
class Reliability:
    """Agreement of some raters on one score, over the `n` responses that all of them rated (mixed: that any did).

    `low` and `high` are the 95 % interval by F, `boot_low` and `boot_high` that by a bootstrap of responses. `partial`
    counts responses that only some of them rated, which complete cases leave out.
    """

    phase: str
    raters: str
    score: str
    icc: float | None
    low: float | None
    high: float | None
    boot_low: float | None
    boot_high: float | None
    n: int
    partial: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    target: str  # met, not met, undecided or undefined


def reliability(ratings: Sequence[Rating], rubric: Rubric, missing: Missing, seed: int) -> list[Reliability]:
    """Return the agreement of all people, and of the evaluator with each other rater, by phase and score."""
    found = []
    for phase in sorted({one.phase for one in ratings}, reverse=True):
        scored = [one for one in ratings if one.phase == phase and one.scores is not None]
        for name, raters in groups(scored).items():
            rows = [one for one in scored if one.rater in raters]
            for score in SCORES:
                found.append(_reliability(phase, name, score, table(rows, raters, score), rubric, missing, seed))
    return found


def groups(ratings: Iterable[Rating]) -> dict[str, list[str]]:
    """Return which raters are compared, by a name for them; none with a single rater."""
    roles = {one.rater: one.role for one in ratings}
    people = sorted(name for name, role in roles.items() if role != "model")
    firsts = [name for name in people if roles[name] == "evaluator"] or people[:1]
    pairs = [
        (one, other)
        for one in firsts
        for other in sorted(roles, key=lambda name: (name in TRIVIAL, roles[name] == "model", name))
        if one != other and not (other in firsts and other < one)
    ]
    whole = {"all people": people} if len(people) > 2 else {}
    return whole | {f"{one} and {other}": [one, other] for one, other in pairs}


def table(ratings: Iterable[Rating], raters: Sequence[str], score: str) -> Table:
    """Return a score as items by raters, NaN where a rater did not rate an item; items in order of their ids."""
    given = {(one.task_id, one.rater): one.scores[score] for one in ratings if one.scores}
    items = sorted({task for task, _ in given})
    cells = [[given.get((item, rater), np.nan) for rater in raters] for item in items]
    return np.array(cells, dtype=np.float64).reshape(len(items), len(raters))


def _reliability(
    phase: str, raters: str, score: str, cells: Table, rubric: Rubric, missing: Missing, seed: int
) -> Reliability:
    holes = np.isnan(cells).any(axis=1)
    whole = cells[~holes]
    if missing == "complete":
        found, drawn = icc21(whole), icc21_bootstrap(whole, seed)
    else:
        found, drawn = icc21_mixed(cells), None
    given = [[f"{one:.0f}" for one in row[~np.isnan(row)]] for row in cells]
    alpha = agreement.alpha(given, [str(one) for one in SCALE], "ordinal", seed)
    target = _against(rubric.manual.reliability.icc, found)
    three = alpha.value, alpha.low, alpha.high
    return Reliability(
        phase,
        raters,
        score,
        found.value,
        found.low,
        found.high,
        *(drawn or (None, None)),
        found.n,
        int(holes.sum()),
        *three,
        target,
    )


def _against(target: float, found: Icc) -> str:
    if found.value is None:
        return "undefined"
    if found.low is None or found.high is None:
        return "undecided"
    return "met" if found.low >= target else "not met" if found.high < target else "undecided"


def disagreements(ratings: Sequence[Rating], rubric: Rubric) -> list[dict[str, Any]]:
    """Return each pair of people whose Overall of a response differs by what the manual wants reviewed."""
    by_item: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for one in ratings:
        if one.scores and one.role != "model":
            by_item[one.task_id, one.phase].append(one)
    found = []
    for (task, phase), given in sorted(by_item.items()):
        for one, other in combinations(sorted(given, key=lambda rating: rating.rater), 2):
            first, second = (rating.scores["overall"] for rating in (one, other) if rating.scores)
            if abs(first - second) >= rubric.manual.reliability.difference:
                found.append(
                    {
                        **{"task_id": task, "phase": phase, "rater_a": one.rater, "rater_b": other.rater},
                        **{"overall_a": first, "overall_b": second, "difference": abs(first - second)},
                        **{"apart_on": ", ".join(_apart(one, other, rubric.manual.reliability.difference))},
                        **{"why_a": _why(one), "why_b": _why(other)},
                    }
                )
    return sorted(found, key=lambda line: -line["difference"])


def _apart(one: Rating, other: Rating, difference: int) -> Iterable[str]:
    assert one.scores, "chosen by its scores"
    assert other.scores, "chosen by its scores"
    return [name for name in SCORES[:-1] if abs(one.scores[name] - other.scores[name]) >= difference]


def _why(one: Rating) -> str:
    return " ".join(f"{name}: {text}" for name, text in one.rationales.items() if text)


def fatigue(ratings: Iterable[Rating], timing: Timing) -> list[dict[str, Any]]:
    """Return one line per person: how much was rated without a rest, and when the manual wanted one first.

    Saved times closer than `rest_hours` belong to one stretch. Mean minutes and the sample standard deviation of
    Overall are of the last `window` ratings of a stretch, and unknown before there are so many.
    """
    people = [one for one in ratings if one.role != "model" and one.scores and one.saved and one.seconds is not None]
    found = []
    for rater, given in sorted(by_rater(people).items()):
        ordered = sorted(given, key=lambda one: (one.saved, one.task_id))
        states = list(_states(ordered, timing))
        rests = [(one.task_id, state) for one, state in zip(ordered, states, strict=True) if state["rest"]]
        windows = [state for state in states if state["minutes"] is not None]
        found.append(
            {
                "rater": rater,
                "ratings": len(ordered),
                "longest_stretch": max(state["stretch"] for state in states),
                "mean_minutes": sum(one.seconds or 0 for one in ordered) / 60 / len(ordered),
                "worst_minutes": max((state["minutes"] for state in windows), default=None),
                "worst_sd": max((state["sd"] for state in windows), default=None),
                "rest_due_after": rests[0][0] if rests else "",
                "why": rests[0][1]["rest"] if rests else "",
            }
        )
    return found


def _states(ordered: Sequence[Rating], timing: Timing) -> Iterable[dict[str, Any]]:
    """Yield after each rating: its place in the stretch, mean minutes and deviation of the window, and why to rest."""
    stretch: list[Rating] = []
    for one in ordered:
        last = stretch[-1].saved if stretch else None
        if last and one.saved and one.saved - last >= timedelta(hours=timing.rest_hours):
            stretch = []
        stretch.append(one)
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


def conditions(ratings: Sequence[Rating], known: Sequence[Response], seed: int) -> list[dict[str, Any]]:
    """Return the mean of each score by condition, of all people and of each model, with its interval over responses."""
    tasks = {one.task_id: one for one in known}
    scored = [one for one in ratings if one.scores and one.phase == "main" and one.task_id in tasks]
    by_group: dict[tuple[str, str, str], list[Rating]] = defaultdict(list)
    for one in scored:
        who = one.rater if one.role == "model" else "people"
        by_group["all", "all", who].append(one)
        for name in CONDITIONS:
            by_group[name, getattr(tasks[one.task_id], name) or "unknown", who].append(one)
    order = {name: place for place, name in enumerate(("all", *CONDITIONS))}
    found = []
    for (name, value, who), given in sorted(
        by_group.items(), key=lambda one: (order[one[0][0]], one[0][1], one[0][2] != "people", one[0][2])
    ):
        items = [one.task_id for one in given]
        for score in SCORES:
            sums = [one.scores[score] for one in given if one.scores]
            estimated = bootstrap.estimate([sums, [1] * len(sums)], bootstrap.ratio, items, seed)
            line = {"condition": name, "value": value, "raters": who, "score": score, "mean": estimated["value"]}
            line |= {"low": estimated["low"], "high": estimated["high"]}
            found.append(line | {"items": len(set(items)), "ratings": len(given)})
    return found


def rule_counts(
    ratings: Iterable[Rating], known: Sequence[Response], rubrics: Sequence[Rubric]
) -> list[dict[str, Any]]:
    """Return for each rater how often each rule changed a score, could not be decided, and how many ratings changed."""
    tasks, versions = {one.task_id: one for one in known}, {one.signature: one for one in rubrics}
    found = []
    for rater, given in sorted(by_rater(ratings).items()):
        changed: Counter[str] = Counter()
        undecided: Counter[str] = Counter()
        for one in given:
            changed.update({cap.rule for cap in one.caps})
            if one.scores:
                task = tasks.get(one.task_id) or Response(one.task_id, "", "")
                undecided.update(settle(draft_of(one), one.findings, task, versions[one.rubric]).undecidable)
        counted = {"rater": rater, "role": given[0].role, "ratings": len(given)}
        counted |= {"failures": sum(one.scores is None for one in given)}
        counted |= {"corrected": sum(one.corrected for one in given) if given[0].role == "model" else None}
        found.append(counted | {"rule": "all", "changed": sum(bool(one.caps) for one in given), "undecidable": None})
        for rule in sorted(changed.keys() | undecided.keys()):
            found.append(counted | {"rule": rule, "changed": changed[rule], "undecidable": undecided[rule]})
    return found


def trivial_raters(known: Sequence[Response], like: Sequence[Rating]) -> list[Rating]:
    """Return ratings of `TRIVIAL` raters, which read nothing: always 3, and the fifth that the response's length is in.

    They show what agreement is worth nothing. They rate the responses, of those known, that `like` rates.
    """
    rated = {(one.task_id, one.phase) for one in like}
    sizes = {one.task_id: len(one.response) for one in known}
    ranked = sorted({task for task, _ in rated} & sizes.keys(), key=lambda task: (sizes[task], task))
    scores = {TRIVIAL[0]: dict.fromkeys(ranked, 3)}
    scores[TRIVIAL[1]] = {task: 1 + 5 * place // len(ranked) for place, task in enumerate(ranked)}
    return [
        Rating(task, name, "model", like[0].rubric, phase, dict.fromkeys(SCORES, given[task]), {})
        for name, given in scores.items()
        for task, phase in sorted(rated)
        if task in given
    ]

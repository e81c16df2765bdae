"""Does a form that a metric has filled in beforehand anchor raters? The second arm of a campaign, and its analysis.

Every response that a metric found an error in is rated in both arms: by some raters with its words in the field, by the
others with an empty one. Each rater has both arms in turn, so that neither a severe rater nor a hard response decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from excam.annotation.campaign import Campaign
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.rubric.ratings import Rating
from excam.scoring import result_files
from excam.stats import bootstrap

Arm = Literal["prefilled", "open"]
ARMS: tuple[Arm, ...] = ("prefilled", "open")
FIELDS = ("stereotype_phrase", "false_claim")  # that words of a metric can stand in
SCORES = ("sensitivity", "accuracy", "overall")
KEY = "words_of_metric_"  # of a task: the entries with the words, by field
MEASURES = (*(f"{name}: {what}" for name in FIELDS for what in ("given", "the metric's words")), *SCORES)
COLUMNS = ("measure", "prefilled", "open", "difference", "low", "high", "responses", "ratings")


def words_of(path: Path) -> dict[str, dict[str, str]]:
    """Return by row id and field the first words that a metric marked in a response, of a file of `excam score`.

    Words marked as a stereotype or an overgeneralisation go into `stereotype_phrase`, all others into `false_claim`.
    """
    words: dict[str, dict[str, str]] = {}
    for result in result_files.read(path):
        for error in result.errors:
            if error.where in ("output", "response") and error.start >= 0:
                kind = error.type.casefold()
                field = FIELDS[0] if "stereotyp" in kind or "generali" in kind else FIELDS[1]
                words.setdefault(result.id, {}).setdefault(field, error.span)
    return words


def arms(task_id: str, raters: Sequence[str], seed: int) -> dict[Arm, tuple[str, ...]]:
    """Return who rates a response in which arm: every second rater, from the first or the second by hash."""
    first = int(digest(seed, "anchoring", task_id)[:8], 16) % 2
    by_arm: dict[Arm, list[str]] = {"prefilled": [], "open": []}
    for at, rater in enumerate(raters):
        by_arm["prefilled" if (at + first) % 2 else "open"].append(rater)
    return {arm: tuple(names) for arm, names in by_arm.items()}


@dataclass(frozen=True, slots=True)
class _Rated:
    rating: Rating
    arm: Arm
    words: Mapping[str, str]  # of the metric, by field


def analyse(drawn: Campaign, ratings: Iterable[Rating], seed: int) -> list[dict[str, Any]]:
    """Return one line of `COLUMNS` for each measure: means over responses in both arms, and their difference.

    Only responses that were rated in both arms count. `given` is the share of ratings with words in the field, `the
    metric's words` that of ratings with exactly these. Intervals are 95 %, over responses. Raise InputInvalid for a
    campaign without a second arm, or without a response that was rated in both.
    """
    by_response = _by_response(drawn, ratings)
    both = [rated for rated in by_response.values() if len({rating.arm for rating in rated}) == 2]
    if not both:
        raise InputInvalid(
            f"campaign {drawn.id}: 0 responses rated in both arms, of {len(by_response)} with words of a metric; "
            "expected some; several raters must rate the same responses"
        )
    return [_line(measure, both, seed) for measure in MEASURES]


def _by_response(drawn: Campaign, ratings: Iterable[Rating]) -> dict[str, list[_Rated]]:
    """Return the ratings of each response that a metric marked words in. Raise InputInvalid if there is none."""
    of: dict[tuple[str, str], tuple[Arm, Mapping[str, str]]] = {}
    for task in drawn.tasks:
        words = {name: task.hidden[KEY + name] for name in FIELDS if KEY + name in task.hidden}
        arm = task.hidden.get("arm")
        if words and (arm == "prefilled" or arm == "open"):
            of |= {(task.row, rater): (arm, words) for rater in task.assigned}
    if not of:
        raise InputInvalid(
            f"campaign {drawn.id}: no second arm; expected one drawn with `excam rubric draw --words-of`"
        )
    by_response: dict[str, list[_Rated]] = defaultdict(list)
    for rating in ratings:
        if rating.scores and rating.phase == "main" and (place := of.get((rating.task_id, rating.rater))):
            by_response[rating.task_id].append(_Rated(rating, *place))
    return by_response


def _line(measure: str, both: Sequence[Sequence[_Rated]], seed: int) -> dict[str, Any]:
    pairs = []
    rated = 0
    for ratings in both:
        values = {
            arm: [value for rating in ratings if rating.arm == arm for value in _values(measure, rating)]
            for arm in ARMS
        }
        if all(values.values()):
            pairs.append([fmean(values[arm]) for arm in ARMS])
            rated += sum(map(len, values.values()))
    if not pairs:
        return {"measure": measure, **dict.fromkeys(COLUMNS[1:6]), "responses": 0, "ratings": 0}
    prefilled, empty = (list(column) for column in zip(*pairs, strict=True))
    steps = np.subtract(prefilled, empty)
    low, high = bootstrap.ratio_interval(steps, np.ones(len(steps)), seed=seed) or (None, None)
    means = {"prefilled": fmean(prefilled), "open": fmean(empty), "difference": float(steps.mean())}
    return {"measure": measure, **means, "low": low, "high": high, "responses": len(pairs), "ratings": rated}


def _values(measure: str, rated: _Rated) -> Iterator[float]:
    """Yield the value of a rating; nothing where the metric has no words for the field."""
    field, _, what = measure.partition(": ")
    if not what:
        assert rated.rating.scores is not None, "only ratings with scores are kept"
        yield float(rated.rating.scores[field])
    elif field in rated.words:
        words = getattr(rated.rating.findings, field)
        yield float(bool(words) if what == "given" else words == rated.words[field].strip())

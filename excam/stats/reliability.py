"""Calibration and abstention from a judge's sequence confidence p(R) (ExCAM Eq. 1). These analyses are ours.

The input is the signed certainty of each item: +p(R) if an error was found, -p(R) if not, so that -1 is a certain "no
error" and +1 a certain error. An item without it (None: a parse failure, or a backend without probabilities) is left
out of calibration and counted; in the abstention curve it comes last. Outcomes are the gold verdict "has a cultural
error".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.accuracy import Booleans, Predictions, is_correct
from excam.stats.correlation import Scores

Binning = Literal["equal-width", "equal-mass"]
Row = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability curve. Its means are None if it is empty."""

    low: float
    high: float
    n: int
    probability: float | None  # mean predicted probability
    observed: float | None  # share of true outcomes


@dataclass(frozen=True, slots=True)
class Reliability:
    """Predicted probabilities and observed shares. Errors are 0 to 1, lower is better, None without items."""

    expected_error: float | None  # ECE: mean of |probability - observed| over bins, weighted by their n
    brier: float | None  # mean squared difference of probability and outcome; needs no bins
    bins: tuple[Bin, ...]
    binning: Binning
    n: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Abstention:
    """Risk (share of wrong verdicts) by coverage (share of answered items), most certain answers first."""

    coverage: tuple[float, ...]  # after each group of equally certain items
    risk: tuple[float, ...]
    area: float | None  # AURC: mean risk over all n coverages; None if no item has a certainty
    n: int
    unscored: int


def signed_certainty(predicted: Predictions, certainty: Scores) -> list[float | None]:
    """Return +p(R) if an error was found, -p(R) if not, None for a failure or an unknown p(R).

    Raise InputInvalid for unequal lengths or a p(R) outside 0 to 1.
    """
    if len(predicted) != len(certainty):
        raise InputInvalid(f"got {len(predicted)} verdicts and {len(certainty)} certainties, expected equally many")
    present_scores(certainty, 0.0, 1.0)
    pairs = zip(predicted, certainty, strict=True)
    return [None if verdict is None or p is None else float(p if verdict else -p) for verdict, p in pairs]


def reliability(
    outcomes: Booleans, probabilities: Scores, bins: int = 10, binning: Binning = "equal-width"
) -> Reliability:
    """Return expected calibration error, Brier score and reliability curve (Guo et al. 2017).

    Outcomes and probabilities may be "has an error" and its calibrated probability, or "the verdict is right" and p(R).
    `equal-width`: bins (k/m, (k+1)/m], with 0 in the first; empty ones are included. `equal-mass`: item i of n in order
    is in bin floor(m i / n), with equal probabilities in one bin; bounds are the smallest and largest value; no empty
    bins. Raise InputInvalid for unequal lengths, outcomes that are not booleans, a probability outside 0 to 1, no bins,
    or another binning.

    Args:
        outcomes: whether it happened, of each row
        probabilities: of that, from 0 to 1; None: left out
        bins: their number
        binning: equal widths, or equal numbers of rows
    """
    if bins < 1 or binning not in ("equal-width", "equal-mass"):
        raise InputInvalid(f"got {bins} bins, {binning!r}; expected 1 or more, equal-width or equal-mass")
    true, places, values = outcomes_and_scores(outcomes, probabilities, 0.0, 1.0)
    read = true[places]
    made = _equal_width(read, values, bins) if binning == "equal-width" else _equal_mass(read, values, bins)
    gaps = [b.n * abs(b.probability - b.observed) for b in made if b.probability is not None and b.observed is not None]
    return Reliability(
        expected_error=sum(gaps) / len(places) if len(places) else None,
        brier=float(np.mean((values - read) ** 2)) if len(places) else None,
        bins=made,
        binning=binning,
        n=len(places),
        unscored=len(true) - len(places),
    )


def abstention(gold: Booleans, predicted: Predictions, certainty: Scores) -> Abstention:
    """Return the risk-coverage curve of a judge that answers only its most certain items (El-Yaniv and Wiener 2010).

    Equally certain items are answered together; within such a group the area is the mean over all orders. Items without
    a certainty and failures come last, as one group: a failure is wrong, so the curve ends at 1 - accuracy.
    Raise InputInvalid as `accuracy.is_correct` and `signed_certainty` do.
    """
    wrong = ~is_correct(gold, predicted)
    sure = [None if p is None else abs(p) for p in signed_certainty(predicted, certainty)]
    places, values = present_scores(sure)
    n = len(wrong)
    if not len(places):
        return Abstention((), (), None, n, n)
    levels = np.full(n, -1.0)
    levels[places] = values
    group = np.unique(-levels, return_inverse=True)[1]
    size, missed = np.bincount(group), np.bincount(group, weights=wrong)
    ends = np.cumsum(size)
    before = np.repeat(np.cumsum(missed) - missed, size)
    inside = np.arange(1, n + 1) - np.repeat(ends - size, size)
    expected = before + inside * np.repeat(missed / size, size)
    area = float(np.mean(expected / np.arange(1, n + 1)))
    risk = np.cumsum(missed) / ends
    return Abstention(tuple((ends / n).tolist()), tuple(risk.tolist()), area, n, n - len(places))


def _equal_width(true: NDArray[np.bool_], values: Row, bins: int) -> tuple[Bin, ...]:
    edges = np.arange(bins + 1) / bins  # k / m, the nearest number to it; `linspace` may be one off
    number = np.searchsorted(edges[1:-1], values, side="left")
    return tuple(_make_bin(true, values, number == k, float(edges[k]), float(edges[k + 1])) for k in range(bins))


def _equal_mass(true: NDArray[np.bool_], values: Row, bins: int) -> tuple[Bin, ...]:
    before = np.searchsorted(np.sort(values), values, side="left")  # items below: alike for equal probabilities
    number = before * bins // max(len(values), 1)
    inside = [number == k for k in np.unique(number)]
    return tuple(
        _make_bin(true, values, these, float(values[these].min()), float(values[these].max())) for these in inside
    )


def _make_bin(true: NDArray[np.bool_], values: Row, inside: NDArray[np.bool_], low: float, high: float) -> Bin:
    n = int(inside.sum())
    if not n:
        return Bin(low, high, 0, None, None)
    return Bin(low, high, n, float(values[inside].mean()), float(true[inside].mean()))


def outcomes_and_scores(
    outcomes: Booleans, scores: Scores, *bounds: float
) -> tuple[NDArray[np.bool_], NDArray[np.intp], Row]:
    """Return all outcomes, the indices of items with a score, in ascending order of scores, and these scores.

    So the order of items decides no digit of what is computed from them.
    Raise InputInvalid for unequal lengths, outcomes that are not booleans, and scores outside `bounds` (low, high).
    """
    if len(outcomes) != len(scores):
        raise InputInvalid(f"got {len(outcomes)} outcomes and {len(scores)} numbers, expected equally many")
    places, values = present_scores(scores, *bounds)
    for position, outcome in enumerate(outcomes):
        if not isinstance(outcome, bool | np.bool_):
            raise InputInvalid(f"outcome {position} is {outcome!r}, expected True or False")
    true = np.asarray(outcomes, dtype=bool)
    order = np.lexsort((true[places], values))
    return true, places[order], values[order]


def present_scores(scores: Scores, low: float = -np.inf, high: float = np.inf) -> tuple[NDArray[np.intp], Row]:
    """Return the indices of items with a score, and the scores. Raise InputInvalid unless all are in [low, high]."""
    places = np.array([position for position, value in enumerate(scores) if value is not None], dtype=np.intp)
    try:
        values = np.array([scores[position] for position in places], dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputInvalid(f"scores are not numbers ({problem}); use None for a missing one") from problem
    if not (np.isfinite(values) & (values >= low) & (values <= high)).all():
        raise InputInvalid(f"got a score that is not finite or not within {low} to {high}; use None for a missing one")
    return places, values

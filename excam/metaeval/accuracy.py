"""Scaled accuracy of the verdict "has a cultural error", with its interval and its failures (ExCAM §4; spec 38, 51).

A prediction is True (an error was found), False (none), or None (a failure: the answer could not be read). A failure is
wrong in every number here but one, which says so in its name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.exceptions import InputInvalid
from excam.metaeval import bootstrap

Booleans = Sequence[bool] | NDArray[np.bool_]
Predictions = Sequence[bool | None] | NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """2 * accuracy - 1 of one judge on n items, failures among them; low and high bound `scaled`."""

    n: int
    failures: int
    scaled: float  # failures are wrong
    low: float
    high: float
    scaled_excluding_failures: float | None  # over n - failures items; None where every item failed


def scaled_accuracy(gold: Booleans, predicted: Predictions) -> float:
    """2 * accuracy - 1: 0 is what a constant judge gets on balanced data, 1 is best (spec 51).

    Raises InputInvalid for unequal lengths, no items, or values that are no booleans.
    """
    return 2 * float(np.mean(correct(gold, predicted))) - 1


def correct(gold: Booleans, predicted: Predictions) -> NDArray[np.bool_]:
    """Which items the judge got right; a failure (None) is wrong. Raises InputInvalid as `scaled_accuracy` does."""
    if len(gold) != len(predicted) or len(gold) == 0:
        raise InputInvalid(f"got {len(gold)} gold values and {len(predicted)} predictions, expected equally many, >= 1")
    found = np.fromiter((value is not None and bool(value) for value in _checked(predicted, (None,))), bool)
    read = np.fromiter((value is not None for value in predicted), bool)
    return (found == np.fromiter(_checked(gold, ()), bool)) & read


def _checked(values: Predictions, also: tuple[None, ...]) -> Predictions:
    """The values, when each is a boolean or one of `also`. An error count or a score must not pass for a verdict."""
    for position, value in enumerate(values):
        if not isinstance(value, bool | np.bool_) and value not in also:
            expected = "True, False or None (a failure)" if also else "True or False"
            raise InputInvalid(f"item {position} is {value!r}, expected {expected}")
    return values


def interval(
    gold: Booleans,
    predicted: Predictions,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval of scaled accuracy, drawing whole clusters.

    A cluster is a base sample, whose twins are not independent. Without `clusters` every item is its own.
    Raises InputInvalid as `scaled_accuracy` does, and for a level outside 0 to 1 or fewer than one draw.
    """
    right = correct(gold, predicted)
    drawn = bootstrap.interval([right, np.ones(len(right))], _scaled, clusters, level, draws, seed)
    strict = 2 * float(np.mean(right)) - 1
    return drawn or (strict, strict)  # every draw is the same: all clusters are alike


def _scaled(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """From right answers and items, shape (2, draws)."""
    return 2 * sums[0] / sums[1] - 1


def summarise(
    gold: Booleans,
    predicted: Predictions,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Accuracy:
    """Both accuracies, the failures between them, the interval of the strict one. Raises InputInvalid as its parts."""
    low, high = interval(gold, predicted, clusters, level, draws, seed)
    read = [position for position, value in enumerate(predicted) if value is not None]
    excluding = scaled_accuracy([gold[i] for i in read], [predicted[i] for i in read]) if read else None
    strict = scaled_accuracy(gold, predicted)
    return Accuracy(len(predicted), len(predicted) - len(read), strict, low, high, excluding)

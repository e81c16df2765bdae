"""Scaled accuracy of binary verdicts, with confidence interval and parse failures (ExCAM §4).

A prediction is True (an error was found), False (no error), or None (a parse failure). A failure counts as wrong in
every number except those with "excluding_failures" in their name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap

Booleans = Sequence[bool] | NDArray[np.bool_]
Predictions = Sequence[bool | None] | NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """2 * accuracy - 1 of one judge on n items including failures; `low` and `high` are the interval of `scaled`."""

    n: int
    failures: int
    scaled: float  # failures count as wrong
    low: float
    high: float
    scaled_excluding_failures: float | None  # over n - failures items; None if every item failed


def scaled_accuracy(gold: Booleans, predicted: Predictions) -> float:
    """Return 2 * accuracy - 1: 0 for a constant judge on balanced data, 1 at best.

    Raise InputInvalid for unequal lengths, no items, or values that are not booleans.
    """
    return 2 * float(np.mean(is_correct(gold, predicted))) - 1


def is_correct(gold: Booleans, predicted: Predictions) -> NDArray[np.bool_]:
    """Return whether each prediction is correct; a failure (None) is wrong. Raise InputInvalid as `scaled_accuracy`."""
    if len(gold) != len(predicted) or len(gold) == 0:
        raise InputInvalid(f"got {len(gold)} gold values and {len(predicted)} predictions, expected equally many, >= 1")
    if isinstance(gold, np.ndarray) and isinstance(predicted, np.ndarray) and gold.dtype == predicted.dtype == bool:
        return np.equal(gold, predicted)  # nothing to check one by one
    positive = np.fromiter((value is not None and bool(value) for value in _checked(predicted, (None,))), bool)
    read = np.fromiter((value is not None for value in predicted), bool)
    return (positive == np.fromiter(_checked(gold, ()), bool)) & read


def _checked(values: Predictions, also: tuple[None, ...]) -> Predictions:
    """Validate and return unchanged. Raise InputInvalid unless each is a boolean or in `also`."""
    for position, value in enumerate(values):
        if not isinstance(value, bool | np.bool_) and value not in also:
            expected = "True, False or None (a failure)" if also else "True or False"
            raise InputInvalid(f"item {position} is {value!r}, expected {expected}")
    return values


def accuracy_interval(
    gold: Booleans, predicted: Predictions, clusters: Sequence[Hashable] | None = None, draws: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the interval of scaled accuracy over whole clusters, that of `bootstrap.share_interval`.

    Raise InputInvalid as `scaled_accuracy` does, and for fewer than one draw.

    Args:
        gold: what is right, of each item
        predicted: what a judge says; None for a failure
        clusters: the base sample of each item, since the two versions of a pair are not independent; without it, each
            item is one
        draws: as in `bootstrap.interval`
        seed: of these
    """
    right = is_correct(gold, predicted)
    low, high = bootstrap.share_interval(right, None, clusters, draws, seed) or (0.0, 1.0)
    return 2 * low - 1, 2 * high - 1


def summarise_accuracy(
    gold: Booleans, predicted: Predictions, clusters: Sequence[Hashable] | None = None, draws: int = 2000, seed: int = 0
) -> Accuracy:
    """Return accuracy with and without failures, and its interval; the arguments are those of `accuracy_interval`.

    Args:
        gold: the right label of each row
        predicted: the label that was given; None for a failure
        clusters: of each row, drawn together; None: rows are apart
        draws: of the interval
        seed: of the draws
    """
    low, high = accuracy_interval(gold, predicted, clusters, draws, seed)
    read = [position for position, value in enumerate(predicted) if value is not None]
    excluding = scaled_accuracy([gold[i] for i in read], [predicted[i] for i in read]) if read else None
    strict = scaled_accuracy(gold, predicted)
    return Accuracy(len(predicted), len(predicted) - len(read), strict, low, high, excluding)

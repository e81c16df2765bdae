"""A calibrated probability that an item has a cultural error, fitted on dev and applied to test.

The input is the signed certainty of `reliability.signed_certainty`. Two maps to a probability are available:
`isotonic`, the best non-decreasing one (non-parametric, needs many items), and `platt`, a logistic curve with Platt's
smoothed targets (two parameters; does not diverge if dev is separable).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from excam.core.exceptions import InputInvalid
from excam.stats.accuracy import Booleans
from excam.stats.correlation import Scores
from excam.stats.reliability import Row, outcomes_and_scores, present_scores

Method = Literal["isotonic", "platt"]
NEWTON_STEPS = 100  # far more than are needed
RIDGE = 1e-12  # as Lin, Lin and Weng (2007) add to the curvature; also the relative step that counts as none


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted map. `isotonic` has knots, `platt` slope and intercept; the other fields are empty."""

    method: Method
    n: int  # dev items it was fitted on
    unscored: int  # dev items without a signed certainty
    errors: int  # of the n, how many are erroneous
    certainty: tuple[float, ...] = ()
    probability: tuple[float, ...] = ()
    slope: float | None = None
    intercept: float | None = None


def fit_calibration(gold: Booleans, signed: Scores, method: Method) -> Calibration | None:
    """Fit a map from signed certainty to the probability of an error, on dev.

    Return None if there is nothing to fit: no item with a certainty, only one class, or only one certainty. Raise
    InputInvalid for another method, unequal lengths, gold values that are not booleans, a certainty outside -1 to 1.
    """
    if method not in ("isotonic", "platt"):
        raise InputInvalid(f"got calibration method {method!r}, expected isotonic or platt")
    outcomes, places, values = outcomes_and_scores(gold, signed, -1.0, 1.0)
    true = outcomes[places]
    if not len(places) or true.all() or not true.any() or np.ptp(values) == 0:
        return None
    counts = len(places), len(outcomes) - len(places), int(true.sum())
    if method == "isotonic":
        certainty, probability = _isotonic(values, true)
        return Calibration(method, *counts, tuple(certainty.tolist()), tuple(probability.tolist()))
    slope, intercept = _platt(values, true)
    return Calibration(method, *counts, slope=slope, intercept=intercept)


def _isotonic(values: Row, true: np.ndarray) -> tuple[Row, Row]:
    """Return the knots of the non-decreasing step function of least squares: the ends of its steps, and their heights.

    Equal values are one weighted item with the mean of their outcomes.
    """
    from scipy.optimize import isotonic_regression

    certainty, group, weights = np.unique(values, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=true) / weights
    heights = np.clip(isotonic_regression(means, weights=weights).x, 0.0, 1.0)
    is_step = heights[1:] != heights[:-1]
    is_end = np.concatenate(([True], is_step)) | np.concatenate((is_step, [True]))
    is_end[[0, -1]] = True
    return certainty[is_end], heights[is_end]


def _platt(values: Row, true: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of a logistic regression on the smoothed targets of Platt (1999).

    Targets are (N+ + 1) / (N+ + 2) for true and 1 / (N- + 2) for false outcomes.
    """
    from scipy.special import expit

    positive = int(true.sum())
    target = np.where(true, (positive + 1) / (positive + 2), 1 / (len(true) - positive + 2))
    centre, width = values.mean(), np.ptp(values)
    design = np.column_stack([(values - centre) / width, np.ones_like(values)])

    def loss(weights: Row) -> float:
        margins = design @ weights
        return float(np.sum(np.logaddexp(0.0, margins) - target * margins))

    weights = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        chance = expit(design @ weights)
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (chance - target))
        most = loss(weights) * (1 + RIDGE)
        while loss(weights - step) > most:
            step /= 2
        weights -= step
        if np.abs(step).max() <= RIDGE * max(1.0, np.abs(weights).max()):
            break
    slope = weights[0] / width
    return float(slope), float(weights[1] - slope * centre)


def error_probabilities(calibration: Calibration, signed: Scores) -> list[float | None]:
    """Return the calibrated probability of an error per item, 0 to 1; None for items without signed certainty.

    Isotonic: linear between knots, constant beyond them. Raise InputInvalid for a certainty outside -1 to 1.
    """
    places, values = present_scores(signed, -1.0, 1.0)
    if calibration.method == "isotonic":
        probabilities = np.interp(values, calibration.certainty, calibration.probability)
    else:
        from scipy.special import expit

        probabilities = expit(np.float64(calibration.slope) * values + np.float64(calibration.intercept))
    result: list[float | None] = [None] * len(signed)
    for position, value in zip(places.tolist(), probabilities.tolist(), strict=True):
        result[position] = value
    return result


def uncalibrated_probabilities(signed: Scores) -> list[float | None]:
    """Return (1 + signed certainty) / 2, the baseline for a fitted map: 1 for a certain error, 0 for certainly none."""
    present_scores(signed, -1.0, 1.0)
    return [None if value is None else (1 + value) / 2 for value in signed]

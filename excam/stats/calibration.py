"""A calibrated probability that an item has a cultural error: a logistic curve over the certainty (Platt 1999).

The input is the signed certainty of each item: +p(R) if an error was found, -p(R) if not. Smoothed targets keep the
curve finite where the items that it is fitted on are separable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from excam.stats.accuracy import Booleans
from excam.stats.correlation import Scores
from excam.stats.scored_items import Row, outcomes_and_scores, present_scores

NEWTON_STEPS = 100  # far more than are needed
RIDGE = 1e-12  # as Lin, Lin and Weng (2007) add to the curvature; also the relative step that counts as none


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted curve."""

    n: int  # items it was fitted on
    unscored: int  # items without a signed certainty
    errors: int  # of the n, how many are erroneous
    slope: float
    intercept: float
    method: Literal["platt"] = "platt"


def fit_calibration(gold: Booleans, signed: Scores) -> Calibration | None:
    """Fit a curve from signed certainty to the probability of an error.

    Return None if there is nothing to fit: no item with a certainty, only one class, or only one certainty. Raise
    InputInvalid for unequal lengths, gold values that are not booleans, a certainty outside -1 to 1.
    """
    outcomes, places, values = outcomes_and_scores(gold, signed, -1.0, 1.0)
    true = outcomes[places]
    if not len(places) or true.all() or not true.any() or np.ptp(values) == 0:
        return None
    slope, intercept = _platt(values, true)
    return Calibration(len(places), len(outcomes) - len(places), int(true.sum()), slope, intercept)


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

    Raise InputInvalid for a certainty outside -1 to 1.
    """
    from scipy.special import expit

    places, values = present_scores(signed, -1.0, 1.0)
    probabilities = expit(np.float64(calibration.slope) * values + np.float64(calibration.intercept))
    result: list[float | None] = [None] * len(signed)
    for position, value in zip(places.tolist(), probabilities.tolist(), strict=True):
        result[position] = value
    return result

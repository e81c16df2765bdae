"""Items with an outcome and a score that may be missing: None is a failure, left out and counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.accuracy import Booleans
from excam.stats.correlation import Scores

Row = NDArray[np.float64]


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

"""How a metric's scores go with a yes-or-no label: point-biserial, Spearman, AUC, Kendall's tau-b.

With a binary label all four follow from two histograms, the scores of the items labelled yes and of those labelled no.
An item without a score (None) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.stats import bootstrap
from excam.stats.accuracy import Booleans
from excam.stats.clusters import by_content, cluster_numbers
from excam.stats.correlation import Scores
from excam.stats.few_clusters import Interval
from excam.stats.scored_items import outcomes_and_scores

MEASURES = ("point_biserial", "spearman", "auc", "tau_b")
NOTHING = (0.0, 0.0, 0.5, 0.0)  # of scores that are all equal
Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; None where undefined: one class only, or scores that are all equal."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Association:
    """The four measures, -1 to 1, the AUC 0 to 1 (0.5 is chance), and what they are computed from."""

    point_biserial: Estimate
    spearman: Estimate
    auc: Estimate
    tau_b: Estimate
    n: int  # items with a score
    unscored: int
    positives: int  # of the n


def association(
    gold: Booleans, scores: Scores, clusters: Sequence[Hashable] | None = None, draws: int = 2000, seed: int = 0
) -> Association:
    """Return how scores go with the label; more is better for True.

    Intervals are over clusters (`bootstrap.intervals`), by default over items. A draw with one label only is left out;
    one with equal scores only has AUC .5 and no correlation, 0: left out, it would narrow the interval. Raise
    InputInvalid for unequal lengths, gold values that are not booleans, and NaN or infinity.

    Args:
        gold: whether each row is positive
        scores: of each row; None: left out
        clusters: of each row, drawn together; None: rows are apart
        draws: of the interval
        seed: of the draws
    """
    outcomes, places, values = outcomes_and_scores(gold, scores)
    gold_kept = outcomes[places]
    levels, level = np.unique(values, return_inverse=True) if len(places) else (np.zeros(1), np.zeros(0, np.intp))
    estimates = {name: Estimate(None, None, None) for name in MEASURES}
    if len(levels) > 1:
        observed = _measures(gold_kept, levels, level, np.ones(len(places)))
        scored = np.full(len(outcomes), -1)
        scored[places] = level
        number = by_content(cluster_numbers(clusters, len(outcomes)), outcomes, scored)
        of_kept, size = number[places], int(number.max()) + 1

        def correlations(times: NDArray[np.intp]) -> tuple[float, ...]:
            first, second, auc, tau = _measures(gold_kept, levels, level, times[of_kept].astype(np.float64))
            return first, second, 2 * auc - 1, tau

        bounds = bootstrap.intervals(correlations, size, draws=draws, seed=seed, scale="correlation")
        bounds[2] = bounds[2] and ((1 + bounds[2][0]) / 2, (1 + bounds[2][1]) / 2)
        estimates = {name: _estimate(value, ends) for name, value, ends in zip(MEASURES, observed, bounds, strict=True)}
    return Association(**estimates, n=len(places), unscored=len(outcomes) - len(places), positives=int(gold_kept.sum()))


def auroc(
    errors: Booleans, scores: Scores, clusters: Sequence[Hashable] | None = None, draws: int = 2000, seed: int = 0
) -> Estimate:
    """Return how well lower scores find errors: the AUC of `association`, and .5 of scores that are all equal.

    Args:
        errors: whether each row has an error
        scores: of each row; None: left out
        clusters: of each row, drawn together; None: rows are apart
        draws: of the interval
        seed: of the draws
    """
    outcomes, places, values = outcomes_and_scores(errors, scores)
    if len(places) and np.ptp(values) == 0 and 0 < outcomes[places].sum() < len(places):
        return Estimate(0.5, None, None)
    return association(~outcomes, scores, clusters, draws, seed).auc


def _measures(gold: NDArray[np.bool_], levels: Floats, level: NDArray[np.intp], weights: Floats) -> tuple[float, ...]:
    """Return the measures of items with weights, in the order of `MEASURES`; NaN for one label only."""
    yes = np.bincount(level, weights=weights * gold, minlength=len(levels))
    no = np.bincount(level, weights=weights * ~gold, minlength=len(levels))
    both, n_yes, n_no = yes + no, yes.sum(), no.sum()
    n = n_yes + n_no
    if n_yes == 0 or n_no == 0:
        return (np.nan,) * len(MEASURES)
    if np.count_nonzero(both) < 2:
        return NOTHING
    ranks = np.cumsum(both) - (both - 1) / 2  # mid-ranks
    auc = float((yes * (np.cumsum(no) - no / 2)).sum() / (n_yes * n_no))
    untied = (n**2 - (both**2).sum()) / 2  # pairs of different scores
    tau = (2 * auc - 1) * n_yes * n_no / np.sqrt(n_yes * n_no * untied)
    return _correlation(levels, yes, both), _correlation(ranks, yes, both), auc, float(tau)


def _correlation(values: NDArray[Any], yes: NDArray[Any], both: NDArray[Any]) -> float:
    """Return Pearson's correlation of values, one per level, with the label."""
    n, n_yes = both.sum(), yes.sum()
    centred = values - (both @ values) / n
    variance = both @ centred**2
    return float((yes @ centred) / np.sqrt(variance * n_yes * (n - n_yes) / n))


def _estimate(value: float, bounds: Interval | None) -> Estimate:
    return Estimate(None, None, None) if np.isnan(value) else Estimate(value, *(bounds or (None, None)))

"""AUROC: how well a metric's scores separate erroneous from correct items, over all thresholds.

This is not in the ExCAM paper, whose accuracies have one threshold: whether an error was reported. An item without a
score (None: a parse failure, or a backend without probabilities) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.stats.accuracy import Booleans
from excam.stats.clusters import cluster_numbers
from excam.stats.correlation import Scores
from excam.stats.reliability import outcomes_and_scores

BATCH = 50  # draws held in memory at once: 50 x 7,600 items in float64 are 3 MB


@dataclass(frozen=True, slots=True)
class Ranking:
    """AUROC: the probability that an erroneous item scores below a correct one; ties count half. None for one class."""

    auroc: float | None  # over pairs of items that have a score
    strict: float | None  # over all pairs; pairs with an unscored item count as lost
    n: int  # items with a score
    unscored: int
    errors: int  # of the n, how many are erroneous


def ranking(gold: Booleans, scores: Scores) -> Ranking:
    """Return the AUROC of scores (lower means more error) for the gold verdicts "has an error" (Mann-Whitney U).

    Raise InputInvalid for unequal lengths, gold values that are not booleans, and NaN or infinity.
    """
    outcomes, kept, values = outcomes_and_scores(gold, scores)
    errors, of_all = int(outcomes[kept].sum()), int(outcomes.sum())
    pairs, all_pairs = errors * (len(kept) - errors), of_all * (len(outcomes) - of_all)
    won = float(_pairs_won(values, outcomes[kept], np.ones((1, len(kept))))[0]) if len(kept) else 0.0
    return Ranking(
        auroc=won / pairs if pairs else None,
        strict=won / all_pairs if all_pairs else None,
        n=len(kept),
        unscored=len(outcomes) - len(kept),
        errors=errors,
    )


def ranking_interval(
    gold: Booleans,
    scores: Scores,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval of `auroc`, resampling whole clusters.

    A draw without both classes is left out; None if no draw has both, or all draws are equal. Raise InputInvalid as
    `ranking` and `cluster_numbers` do.
    """
    outcomes, kept, values = outcomes_and_scores(gold, scores)
    number = cluster_numbers(clusters, len(outcomes))
    if not len(kept):
        return None
    generator, size = np.random.default_rng(seed), int(number.max()) + 1
    batches: list[NDArray[np.float64]] = []
    for start in range(0, draws, BATCH):
        times = generator.multinomial(size, np.full(size, 1 / size), size=min(BATCH, draws - start))
        weights = times[:, number[kept]].astype(np.float64)
        errors = weights @ outcomes[kept]
        pairs = errors * (weights.sum(axis=1) - errors)
        both = pairs > 0
        batches.append(_pairs_won(values, outcomes[kept], weights[both]) / pairs[both])
    drawn = np.concatenate(batches)
    if not len(drawn) or np.ptp(drawn) == 0:
        return None
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _pairs_won(
    values: NDArray[np.float64], erroneous: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, per row of weights, the pairs with the erroneous item below the correct one; ties count half."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])  # of equal scores
    level_weights = [np.add.reduceat(weights[:, order] * of[order], starts, axis=1) for of in (erroneous, ~erroneous)]
    wrong, right = level_weights
    return (right * (np.cumsum(wrong, axis=1) - wrong / 2)).sum(axis=1)

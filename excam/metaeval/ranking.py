"""AUROC: how well a metric's scores put erroneous items below correct ones, whatever threshold is drawn between them.

Beyond ExCAM, whose accuracies have one threshold: an error was reported or not. An item without a number (None: the
answer was a failure, or the backend gave no probabilities) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.metaeval.accuracy import Booleans
from excam.metaeval.clusters import cluster_numbers
from excam.metaeval.correlation import Scores
from excam.metaeval.reliability import matched

BATCH = 50  # draws held in memory at once: 50 x 7,600 items in float64 are 3 MB


@dataclass(frozen=True, slots=True)
class Ranking:
    """AUROC: the chance that an erroneous item scores below a correct one; a tie counts half. None with one class."""

    auroc: float | None  # over pairs of items that have a score
    strict: float | None  # over all pairs: one with an unscored item is lost
    n: int  # items with a score
    unscored: int
    errors: int  # of the n, how many are erroneous


def ranking(gold: Booleans, scores: Scores) -> Ranking:
    """AUROC of a metric's scores, where less means more error, against the gold verdict (Mann-Whitney U).

    Raises InputInvalid for unequal lengths, gold values that are no booleans, and NaN or infinity.
    """
    outcomes, kept, values = matched(gold, scores)
    errors, of_all = int(outcomes[kept].sum()), int(outcomes.sum())
    pairs, all_pairs = errors * (len(kept) - errors), of_all * (len(outcomes) - of_all)
    won = float(_won(values, outcomes[kept], np.ones((1, len(kept))))[0]) if len(kept) else 0.0
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
    """Percentile bootstrap interval of `auroc`, drawing whole clusters: what shares content is not independent.

    A draw without both classes is left out; None where no draw has both, or all give the same. Raises InputInvalid as
    `ranking` and `cluster_numbers` do.
    """
    outcomes, kept, values = matched(gold, scores)
    number = cluster_numbers(clusters, len(outcomes))
    if not len(kept):
        return None
    generator, size = np.random.default_rng(seed), int(number.max()) + 1
    found: list[NDArray[np.float64]] = []
    for start in range(0, draws, BATCH):
        times = generator.multinomial(size, np.full(size, 1 / size), size=min(BATCH, draws - start))
        weights = times[:, number[kept]].astype(np.float64)
        errors = weights @ outcomes[kept]
        pairs = errors * (weights.sum(axis=1) - errors)
        both = pairs > 0
        found.append(_won(values, outcomes[kept], weights[both]) / pairs[both])
    drawn = np.concatenate(found)
    if not len(drawn) or np.ptp(drawn) == 0:
        return None
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _won(
    values: NDArray[np.float64], erroneous: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Pairs in which the erroneous item scores below the correct one, per row of weights; a tie is half a pair."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])  # of equal scores
    level_weights = [np.add.reduceat(weights[:, order] * of[order], starts, axis=1) for of in (erroneous, ~erroneous)]
    wrong, right = level_weights
    return (right * (np.cumsum(wrong, axis=1) - wrong / 2)).sum(axis=1)

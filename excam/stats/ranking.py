"""AUROC: how well a metric's scores separate erroneous from correct items, over all thresholds.

This is not in the ExCAM paper, whose accuracies have one threshold: whether an error was reported. An item without a
score (None: a parse failure, or a backend without probabilities) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from excam.stats.accuracy import Booleans
from excam.stats.binary_gold import association
from excam.stats.correlation import Scores
from excam.stats.few_clusters import Interval
from excam.stats.scored_items import outcomes_and_scores


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
    outcomes, places, values = outcomes_and_scores(gold, scores)
    errors, of_all = int(outcomes[places].sum()), int(outcomes.sum())
    pairs, all_pairs = errors * (len(places) - errors), of_all * (len(outcomes) - of_all)
    levels, level = np.unique(values, return_inverse=True)
    wrong, right = (np.bincount(level[of], minlength=len(levels)) for of in (outcomes[places], ~outcomes[places]))
    won = float(right @ (np.cumsum(wrong) - wrong / 2))
    return Ranking(
        auroc=won / pairs if pairs else None,
        strict=won / all_pairs if all_pairs else None,
        n=len(places),
        unscored=len(outcomes) - len(places),
        errors=errors,
    )


def ranking_interval(
    gold: Booleans,
    scores: Scores,
    clusters: Sequence[Hashable] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Return the 95 % interval of `auroc` over whole clusters, that of `binary_gold.association`.

    Raise InputInvalid as `ranking` and `cluster_numbers` do.

    Args:
        gold: whether each row is positive
        scores: of each row; None: left out
        clusters: of each row, drawn together; None: rows are apart
        draws: of the interval
        seed: of the draws
    """
    outcomes, _, _ = outcomes_and_scores(gold, scores)
    auc = association(~outcomes, scores, clusters, draws, seed).auc
    return None if auc.low is None or auc.high is None else (auc.low, auc.high)

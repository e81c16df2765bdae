"""Simulated cases in which the null hypothesis holds, to count how often a test rejects it or an interval misses.

Null cases: two judges, or two metrics, whose noise is drawn alike, on independent or clustered rows. Clusters are the
rows of one base sample; they share most of their noise, so the unit that is swapped is the base sample.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from excam.stats.accuracy import accuracy_interval
from excam.stats.permutation import paired_permutation
from excam.stats.permutation_correlation import correlation_permutation

ROWS, BASES = 2000, 500  # rows of an accuracy case; bases if they are clustered
UNITS, SCORED_TWINS = 40, 3  # base samples of a correlation case, and rows of each
DRAWS = 99  # (1 + hits) / 100 can be exactly .05


def judges(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Gold verdicts, two equally good judges, and the cluster of each row."""
    clusters = np.repeat(np.arange(BASES), ROWS // BASES)
    gold = rng.random(ROWS) < 0.5
    right = [rng.random(ROWS) < rng.beta(0.6, 0.3, clusters.max() + 1)[clusters] for _ in range(2)]
    return gold, *(np.where(mask, gold, ~gold) for mask in right), clusters.tolist()


def metrics(rng: np.random.Generator, twins: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Gold scores and two equally good metrics: severity sums, of twins ExCAM's (p(R) where no error was found)."""
    clusters = np.repeat(np.arange(UNITS), SCORED_TWINS if twins else 1)
    gold = rng.choice([0.0, -1, -2, -5, -10], len(clusters), p=[0.5, 0.1, 0.1, 0.25, 0.05])
    scores = []
    for _ in range(2):
        noise = rng.normal(0, 3, UNITS)[clusters] + rng.normal(0, 1, len(clusters))
        sums = np.minimum(np.round(gold + noise), 0.0)
        scores.append(np.where(sums < 0, sums, np.exp(-np.abs(noise) / 9)) if twins else sums)
    return gold, scores[0], scores[1], clusters.tolist()


def exact_twins(seed: int) -> float:
    gold, a, b, clusters = judges(np.random.default_rng(seed))
    return paired_permutation(gold, a, b, clusters=clusters).p_value


def correlated(measure: str, twins: bool, seed: int) -> float:
    gold, a, b, clusters = metrics(np.random.default_rng(seed), twins)
    more = {"clusters": clusters, "draws": DRAWS, "seed": seed}
    return correlation_permutation(gold, a, b, measure=measure, **more).p_value  # pyright: ignore


def uncovered(twins: bool, seed: int) -> float:
    """0 where the interval misses the true value .6, else 1."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(BASES), ROWS // BASES) if twins else np.arange(ROWS)
    ability = rng.beta(1.6, 0.4, clusters.max() + 1)[clusters]  # mean .8
    low, high = accuracy_interval(
        np.ones(ROWS, bool), rng.random(ROWS) < ability, clusters.tolist(), draws=1000, seed=seed
    )
    return float(low <= 0.6 <= high)


LINES: dict[str, Callable[[int], float]] = {
    "accuracy, exact, twins as one": exact_twins,
    "tau-b, draws, rows": partial(correlated, "kendall", False),
    "tau-b, draws, twins as one": partial(correlated, "kendall", True),
    "tie-calibrated, draws, rows": partial(correlated, "tie-calibrated", False),
    "tie-calibrated, draws, twins as one": partial(correlated, "tie-calibrated", True),
    "interval misses the truth, rows": partial(uncovered, False),
    "interval misses the truth, twins as one": partial(uncovered, True),
}

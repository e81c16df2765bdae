"""Simulated cases in which the null hypothesis holds, to count how often a test rejects it or an interval misses.

Null cases: two judges, or two metrics, whose noise is drawn alike, on independent or clustered rows. Clusters are the
rows of one base sample; they share most of their noise, so the unit that is swapped is the base sample. A line that
ignores it is there to show what that costs. `attainable` is the largest share of rejections that the p-values can give
at 5 % in these very cases: an exact test of whole counts has no p-value between two steps and stays below 5 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from late import stats

from excam.stats import accuracy_interval, correlation_permutation, paired_permutation

LEVEL = 0.05
ROWS, BASES = 2000, 500  # rows of an accuracy case; bases if they are clustered
UNITS, SCORED_TWINS = 40, 3  # base samples of a correlation case, and rows of each
DRAWS = 99  # (1 + hits) / 100 can be exactly .05

Case = Callable[[int], tuple[float, float]]  # seed -> p-value (or 1 - covered), attainable share


def judges(rng: np.random.Generator, twins: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Gold verdicts, two equally good judges, and the cluster of each row."""
    clusters = np.repeat(np.arange(BASES), ROWS // BASES) if twins else np.arange(ROWS)
    gold = rng.random(ROWS) < 0.5
    right = [rng.random(ROWS) < rng.beta(0.6, 0.3, clusters.max() + 1)[clusters] for _ in range(2)]
    return gold, *(np.where(mask, gold, ~gold) for mask in right), clusters.tolist()


def metrics(
    rng: np.random.Generator, twins: bool, certainty: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Gold scores and two equally good metrics: severity sums, or ExCAM's (p(R) where no error was found)."""
    clusters = np.repeat(np.arange(UNITS), SCORED_TWINS if twins else 1)
    gold = rng.choice([0.0, -1, -2, -5, -10], len(clusters), p=[0.5, 0.1, 0.1, 0.25, 0.05])
    scores = []
    for _ in range(2):
        noise = rng.normal(0, 3, UNITS)[clusters] + rng.normal(0, 1, len(clusters))
        sums = np.minimum(np.round(gold + noise), 0.0)
        scores.append(np.where(sums < 0, sums, np.exp(-np.abs(noise) / 9)) if certainty else sums)
    return gold, scores[0], scores[1], clusters.tolist()


def attainable(discordant: int) -> float:
    """P(p <= .05) of the exact row-level test given the count of discordant items: its true size, at most .05."""
    counts = np.arange(discordant + 1)
    chance = stats.binom.pmf(counts, discordant, 0.5)
    p_values = np.array([chance[np.abs(2 * counts - discordant) >= abs(2 * k - discordant)].sum() for k in counts])
    return float(chance[p_values <= LEVEL].sum())


def exact_rows(seed: int) -> tuple[float, float]:
    gold, a, b, _ = judges(np.random.default_rng(seed), twins=False)
    comparison = paired_permutation(gold, a, b)
    return comparison.p_value, attainable(comparison.discordant)


def exact_twins(seed: int) -> tuple[float, float]:
    gold, a, b, clusters = judges(np.random.default_rng(seed), twins=True)
    return paired_permutation(gold, a, b, clusters=clusters).p_value, np.nan


def exact_twins_ignored(seed: int) -> tuple[float, float]:
    gold, a, b, _ = judges(np.random.default_rng(seed), twins=True)
    return paired_permutation(gold, a, b).p_value, np.nan


def drawn(mode: str, twins: bool, seed: int) -> tuple[float, float]:
    gold, a, b, clusters = judges(np.random.default_rng(seed), twins)
    more = {"clusters": clusters, "draws": DRAWS, "seed": seed}
    return paired_permutation(gold, a, b, mode=mode, **more).p_value, np.nan  # pyright: ignore


def correlated(measure: str, mode: str, twins: bool, certainty: bool, seed: int) -> tuple[float, float]:
    gold, a, b, clusters = metrics(np.random.default_rng(seed), twins, certainty)
    more = {"clusters": clusters, "draws": DRAWS, "seed": seed}
    return correlation_permutation(gold, a, b, measure=measure, mode=mode, **more).p_value, np.nan  # pyright: ignore


def uncovered(twins: bool, seed: int) -> tuple[float, float]:
    """0 where the interval misses the true value .6, else 1."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(BASES), ROWS // BASES) if twins else np.arange(ROWS)
    ability = rng.beta(1.6, 0.4, clusters.max() + 1)[clusters]  # mean .8
    low, high = accuracy_interval(
        np.ones(ROWS, bool), rng.random(ROWS) < ability, clusters.tolist(), draws=1000, seed=seed
    )
    return float(low <= 0.6 <= high), np.nan


LINES: dict[str, tuple[Callable[..., tuple[float, float]], tuple, int]] = {
    "accuracy, exact, rows": (exact_rows, (), ROWS),
    "accuracy, exact, twins as one": (exact_twins, (), ROWS),
    "accuracy, draws, rows": (drawn, ("draws", False), ROWS),
    "accuracy, draws, twins as one": (drawn, ("draws", True), ROWS),
    "accuracy, paper mode, rows": (drawn, ("paper", False), ROWS),
    "accuracy, paper mode, twins as one": (drawn, ("paper", True), ROWS),
    "tau-b, draws, rows": (correlated, ("kendall", "draws", False, False), UNITS),
    "tau-b, draws, twins as one": (correlated, ("kendall", "draws", True, True), UNITS * SCORED_TWINS),
    "tau-b, paper mode, twins as one": (correlated, ("kendall", "paper", True, True), UNITS * SCORED_TWINS),
    "tie-calibrated, draws, rows": (correlated, ("tie-calibrated", "draws", False, False), UNITS),
    "tie-calibrated, draws, twins as one": (correlated, ("tie-calibrated", "draws", True, True), UNITS * SCORED_TWINS),
    "tie-calibrated, paper mode, twins as one": (
        *(correlated, ("tie-calibrated", "paper", True, True), UNITS * SCORED_TWINS),
    ),
    "accuracy, exact, twins ignored (wrong)": (exact_twins_ignored, (), ROWS),
    "interval misses the truth, rows": (uncovered, (False,), ROWS),
    "interval misses the truth, twins as one": (uncovered, (True,), ROWS),
}


def block(name: str, seeds: range) -> tuple[int, float]:
    """Rejections at 5 % among these cases, and the sum of what was attainable."""
    work, fixed, _ = LINES[name]
    outcomes = [work(*fixed, seed) for seed in seeds]
    return sum(p <= LEVEL for p, _ in outcomes), float(sum(share for _, share in outcomes))

"""Paired permutation tests for the difference in accuracy of two judges on the same items (ExCAM §4).

Under the null hypothesis the judges are interchangeable: swapping their answers within a cluster (all rows of a base
sample, or a single row without clusters) flips the sign of that cluster's difference in correct answers.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.accuracy import Booleans, Predictions, is_correct
from excam.stats.clusters import cluster_numbers

BATCH = 256  # swap masks held in memory at once


@dataclass(frozen=True, slots=True)
class PairedPermutation:
    """A p-value and the numbers behind it."""

    p_value: float
    difference: float  # accuracy of a minus accuracy of b, -1 to 1; twice as much in scaled accuracy
    n: int  # items
    clusters: int  # units that are swapped; n if the test is at row level
    discordant: int  # items that exactly one of the two got right
    draws: Literal["exact"] | int = "exact"  # over all swaps, or so many random ones
    sides: Literal["two-sided", "for the better"] = "two-sided"


def paired_permutation(
    gold: Booleans, a: Predictions, b: Predictions, *, clusters: Sequence[Hashable] | None = None
) -> PairedPermutation:
    """Test the difference in accuracy of judges a and b against every way of swapping them, two-sided.

    At row level this is the binomial test on the discordant items. A failure (None) is wrong. Raise InputInvalid as
    `scaled_accuracy` does.

    Args:
        gold: what is right, of each item
        a: what the first judge says
        b: what the second judge says
        clusters: the name of each item's cluster, which is swapped as a whole; without it, each item is one
    """
    step = is_correct(gold, a).astype(np.int64) - is_correct(gold, b)
    differences = np.bincount(cluster_numbers(clusters, len(step)), weights=step).astype(np.int64)
    return PairedPermutation(
        p_value=_exact_p_value(differences),
        difference=float(step.mean()),
        n=len(step),
        clusters=len(differences),
        discordant=int(np.count_nonzero(step)),
    )


def drawn_permutation(gold: Booleans, a: Predictions, b: Predictions, draws: int, seed: int) -> PairedPermutation:
    """Test, by random swaps of single items, whether the better of two judges is as much better by chance: one-sided.

    The p-value is (1 + swaps with such a lead) / (1 + draws). Raise InputInvalid as `paired_permutation` does.

    Args:
        gold: the right label of each row
        a: labels of one system
        b: labels of the other
        draws: random swaps; the smallest p-value is 1 / (draws + 1)
        seed: of the swaps
    """
    result = paired_permutation(gold, a, b)
    wins = np.random.default_rng(seed).binomial(result.discordant, 0.5, draws)  # of the better; only these items count
    reached = np.count_nonzero(2 * wins - result.discordant >= round(abs(result.difference) * result.n))
    return replace(result, p_value=(1 + int(reached)) / (1 + draws), draws=draws, sides="for the better")


def _exact_p_value(differences: NDArray[np.int64]) -> float:
    """Return P(|sum of randomly signed differences| >= |their sum|), by convolving one binomial per difference size."""
    from scipy.stats import binom

    observed = abs(int(differences.sum()))
    if observed == 0:
        return 1.0
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    chances = np.ones(1)  # chances[k]: the positive differences add up to k; their sum is then 2k - total
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        added = np.zeros(size * count + 1)
        added[::size] = binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, added)
    total = len(chances) - 1
    upper = float(np.sort(chances[(total + observed) // 2 :]).sum())  # the distribution is symmetric
    return min(1.0, max(2 * upper, sys.float_info.min))  # an exact p is never 0, but may underflow in float64


def swap_masks(clusters: int, draws: int, generator: np.random.Generator) -> Iterator[NDArray[np.int8]]:
    """Yield batches of random swaps (draws, clusters), 1 where a cluster is swapped; equal arguments, equal swaps."""
    for start in range(0, draws, BATCH):
        yield generator.integers(0, 2, (min(BATCH, draws - start), clusters), dtype=np.int8)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for testing all of them at once (Holm 1979), in the order given.

    Raise InputInvalid for a value outside 0 to 1.
    """
    values = np.asarray(p_values, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise InputInvalid(f"Holm's correction got p-values {list(p_values)}, expected values from 0 to 1")
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()


def floor_note(p_values: Sequence[float], draws: int) -> str:
    """Return in a sentence how many p-values are the smallest that so many random draws can give, "" if none is."""
    floor = 1 / (draws + 1)
    at_floor = sum(p_value <= floor * (1 + 1e-9) for p_value in p_values)
    if not at_floor:
        return ""
    least = min(1.0, floor * len(p_values))
    return (
        f"{at_floor} of {len(p_values)} p at the floor of {draws:,} draws: none can be below {floor:.2g}, or below "
        f"{least:.2g} after Holm."
    )

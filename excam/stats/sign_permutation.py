"""Paired permutation test on differences of any numbers, such as scores; for verdicts see `permutation`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers
from excam.stats.permutation import swap_masks


def sign_permutation(
    differences: ArrayLike, clusters: Sequence[Hashable] | None = None, draws: int = 10_000, seed: int = 0
) -> float:
    """Return the two-sided p-value of a mean paired difference, one number per item: p = (hits + 1) / (draws + 1).

    Each draw swaps whole clusters at random, which flips the sign of their differences. Sums that differ only by
    rounding count as equal. Raise InputInvalid for no items, numbers that are not finite, clusters that are not one per
    item, or no draws.
    """
    step = np.asarray(differences, dtype=np.float64)
    if len(step) == 0 or not np.isfinite(step).all() or draws < 1:
        raise InputInvalid(f"got {len(step)} differences and {draws} draws, expected finite numbers, and >= 1 of each")
    _, exponent = np.frexp(np.abs(step).max())
    step = np.ldexp(step, -exponent)  # by a power of two, which is exact and prevents overflow of sums
    sums = np.bincount(cluster_numbers(clusters, len(step)), weights=step)
    sums = sums[sums != 0]  # swapping a zero has no effect
    observed, rounding = abs(sums.sum()), 1e-9 * float(np.abs(sums).sum())
    masks = swap_masks(len(sums), draws, np.random.default_rng(seed))
    hits = sum(int((np.abs(sums.sum() - 2 * (swap @ sums)) >= observed - rounding).sum()) for swap in masks)
    return (hits + 1) / (draws + 1)

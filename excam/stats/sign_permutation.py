"""Paired permutation test on differences of any numbers, such as scores; for verdicts see `permutation`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers
from excam.stats.pairs import in_units
from excam.stats.permutation import swap_masks

DRAWS = 10_000  # random swaps


def sign_permutation(
    differences: ArrayLike, clusters: Sequence[Hashable] | None = None, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return the two-sided p-value of a mean paired difference, one number per item: p = (hits + 1) / (draws + 1).

    Each draw swaps whole clusters at random, which flips the sign of their differences. Sums that differ only by
    rounding count as equal. Neither the order of items and clusters nor which side is subtracted decides p. Raise
    InputInvalid for no items, numbers that are not finite, clusters that are not one per item, or no draws.

    Args:
        differences: of each row, a minus b
        clusters: of each row, swapped together; None: rows are apart
        draws: random swaps; the smallest p-value is 1 / (draws + 1)
        seed: of the swaps
    """
    step = np.asarray(differences, dtype=np.float64)
    if len(step) == 0 or not np.isfinite(step).all() or draws < 1:
        raise InputInvalid(f"got {len(step)} differences and {draws} draws, expected finite numbers, and >= 1 of each")
    sums = np.bincount(cluster_numbers(clusters, len(step)), weights=in_units(step)[0])  # in units none overflows
    return pairwise_sign_permutation(np.column_stack([sums, np.zeros_like(sums)]), draws, seed)[0]


def pairwise_sign_permutation(values: ArrayLike, draws: int = DRAWS, seed: int = 0) -> list[float]:
    """Return the p-value of `sign_permutation` for each pair of columns, in the order of `itertools.combinations`.

    `values` has a row for each cluster. All pairs share their swaps, of their largest difference, the next one and so
    on, so that many cost little more than one. Raise InputInvalid for fewer than two columns, no rows, numbers that are
    not finite, or no draws.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or len(table) == 0 or not np.isfinite(table).all() or draws < 1:
        raise InputInvalid(f"got values of shape {table.shape} and {draws} draws, expected two finite columns or more")
    first, second = np.triu_indices(table.shape[1], 1)
    steps = np.rint(in_units(table[:, first] - table[:, second])[0])  # sums of other orders round otherwise
    observed = np.abs(steps.sum(axis=0))
    steps = -np.sort(-np.abs(steps), axis=0)
    steps = steps[steps.any(axis=1)]  # swapping equal values has no effect
    rounding = 1e-9 * steps.sum(axis=0)
    hits = np.zeros(len(first), dtype=np.int64)
    for swap in swap_masks(len(steps), draws, np.random.default_rng(seed)):
        hits += (np.abs((1.0 - 2.0 * swap) @ steps) >= observed - rounding).sum(axis=0)
    return ((hits + 1) / (draws + 1)).tolist()

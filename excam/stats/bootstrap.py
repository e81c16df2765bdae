"""Percentile bootstrap of ratio statistics over clusters: means, shares, precision, recall, F1.

Items that share content (versions of a pair, translations of a question) are not independent, so whole clusters are
drawn with replacement, and the statistic is computed from the sums over the drawn clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
BATCH = 250  # draws held in memory at once
KIND_COST = 16  # clusters that are drawn in the time in which it is drawn how many there are of one kind
NUMBERS_AT_ONCE = 1 << 19  # drawn clusters, or numbers of a kind, held in memory
ROUNDING = 1e-12  # relative differences between draws that are only rounding


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums[0] / sums[1], NaN where the denominator is 0; shape (2, draws) to (draws,)."""
    return np.divide(sums[0], sums[1], out=np.full(sums.shape[1:], np.nan), where=sums[1] != 0)


def ratio_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the interval of sum(numerators) / sum(denominators), with one of each per item; see `interval`."""
    return interval([numerators, denominators], ratio, clusters, level, draws, seed)


def estimate(
    columns: Sequence[ArrayLike], statistic: Statistic, clusters: Sequence[Hashable], seed: int
) -> dict[str, float | None]:
    """Return `value` of a statistic of column sums, with `low` and `high`, its 95 % interval over clusters.

    Undefined numbers are None. Raise InputInvalid as `interval` does.
    """
    sums = np.array([[np.sum(column)] for column in columns], dtype=np.float64)
    value = float(statistic(sums)[0])
    drawn = interval(columns, statistic, clusters, seed=seed) if clusters else None
    low, high = drawn or (None, None)
    return {"value": None if np.isnan(value) else value, "low": low, "high": high}


def mean(values: ArrayLike, clusters: Sequence[Hashable], seed: int) -> dict[str, float | None]:
    """Return the mean of values, as `estimate` does."""
    return estimate([values, np.ones(np.size(values))], ratio, clusters, seed)


def in_columns(name: str, estimated: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return what `estimate` returns under the names of columns: `name`, `name_low` and `name_high`."""
    return {name: estimated["value"], f"{name}_low": estimated["low"], f"{name}_high": estimated["high"]}


def difference_of_means(
    values: ArrayLike, is_first: ArrayLike, clusters: Sequence[Hashable], seed: int
) -> dict[str, float | None]:
    """Return the mean of the values that are first minus that of the others, as `estimate` does; one mark per value."""
    numbers, first = np.asarray(values, dtype=np.float64), np.asarray(is_first, dtype=np.float64)
    columns = [numbers * first, first, numbers * (1 - first), 1 - first]
    return estimate(columns, lambda sums: ratio(sums[:2]) - ratio(sums[2:]), clusters, seed)


def interval(
    columns: Sequence[ArrayLike],
    statistic: Statistic,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the interval of a statistic of sums: `statistic` gets the k column sums of each draw, shape (k, draws).

    By default every item is a cluster. A draw for which the statistic is undefined (NaN) is left out. Return None if
    the statistic of all items is undefined, or if all draws are equal (only one cluster contributes, or all are alike),
    since an interval of width 0 would suggest certainty. Raise InputInvalid for columns of unequal length or without
    finite numbers, cluster names that are not one per item, a level outside 0 to 1, or fewer than one draw.
    """
    if not 0 < level < 1 or draws < 1:
        raise InputInvalid(f"bootstrap got level={level} and draws={draws}, expected 0 < level < 1 and draws >= 1")
    sums = _cluster_sums(columns, clusters)
    if np.isnan(statistic(sums.sum(axis=1, keepdims=True))[0]):
        return None
    drawn = np.concatenate([statistic(part) for part in _drawn_sums(sums, draws, seed)])
    defined = drawn[~np.isnan(drawn)]
    if len(defined) == 0 or np.ptp(defined) <= ROUNDING * np.abs(defined).max():
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def _drawn_sums(sums: NDArray[np.float64], draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the column sums of draws of clusters with replacement, some draws at a time, shape (columns, draws).

    Clusters are drawn from their ascending order, so that the order of the items does not matter.
    """
    ordered = sums[:, np.lexsort(sums[::-1])]
    # Clusters with equal sums are exchangeable: drawing the number of each kind is the same bootstrap; cheaper if few.
    kinds, counts = _kinds(ordered)
    generator, size = np.random.default_rng(seed), sums.shape[1]
    is_by_kind = len(counts) * KIND_COST <= size
    batch = max(1, min(BATCH, NUMBERS_AT_ONCE // (len(counts) if is_by_kind else size)))
    for start in range(0, draws, batch):
        shape = min(batch, draws - start)
        if is_by_kind:
            yield kinds @ generator.multinomial(size, counts / size, size=shape).T
        else:
            clusters = generator.integers(size, size=(shape, size))
            yield np.stack([_sums_of_draws(column, clusters) for column in ordered])


def _sums_of_draws(column: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of a column over the clusters of each draw; of a column of ones, such as counts, their number."""
    if (column == 1).all():
        return np.full(len(clusters), float(clusters.shape[1]))
    return column.take(clusters, mode="clip").sum(axis=1)  # clip: unchecked


def _kinds(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct ones of ordered clusters, and how many there are of each (`np.unique`, but faster)."""
    first = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    return ordered[:, first], np.diff(np.r_[first, ordered.shape[1]])


def drawn_times(clusters: int, draws: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Yield how often each cluster is in each draw, for statistics that are not computed from sums."""
    generator = np.random.default_rng(seed)
    for _ in range(draws):
        yield np.bincount(generator.integers(clusters, size=clusters), minlength=clusters)


def _cluster_sums(columns: Sequence[ArrayLike], clusters: Sequence[Hashable] | None) -> NDArray[np.float64]:
    """Return the sums of each column per cluster, shape (columns, clusters)."""
    vectors = [np.asarray(column, dtype=np.float64) for column in columns]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1 or not all(np.isfinite(vector).all() for vector in vectors):
        raise InputInvalid(f"bootstrap got columns of {sorted(lengths)} items, expected one length and finite numbers")
    number = cluster_numbers(clusters, lengths.pop())
    return np.stack([np.bincount(number, weights=vector).astype(np.float64) for vector in vectors])

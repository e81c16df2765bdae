"""Intervals of statistics of sums over clusters: means, shares, precision, recall, F1. The one rule for all intervals.

Items that share content (versions of a pair, translations of a question) are not independent, so intervals are over
whole clusters: a percentile bootstrap of more than `few_clusters.FEW`, else those of `few_clusters`, and none of fewer
than `few_clusters.FEWEST`, except of shares, which have one of any number and where all items are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers
from excam.stats.few_clusters import FEW, FEWEST, LEVEL, ROUNDING, Interval, Scale, effective_size, jackknife, wilson

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Measures = Callable[[NDArray[np.intp]], Sequence[float]]
Mirror = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # sums of the same items with the sides exchanged
BATCH = 250  # draws held in memory at once
KIND_COST = 16  # clusters that are drawn in the time in which it is drawn how many there are of one kind
NUMBERS_AT_ONCE = 1 << 19  # drawn clusters, or numbers of a kind, held in memory


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums[0] / sums[1], NaN where the denominator is 0; shape (2, draws) to (draws,)."""
    return np.divide(sums[0], sums[1], out=np.full(sums.shape[1:], np.nan), where=sums[1] != 0)


def _first_negated(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([-sums[:1], sums[1:]])


def ratio_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Return the interval of sum(numerators) / sum(denominators), by the rule of `interval`.

    Args:
        numerators: one per item
        denominators: one per item
        clusters: the name of each item's cluster; without it, each item is one
        draws: with replacement, of more than `FEW` clusters
        seed: of these
    """
    return interval([numerators, denominators], ratio, clusters, draws, seed)


def share_interval(
    hits: ArrayLike,
    sizes: ArrayLike | None = None,
    clusters: Sequence[Hashable] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Return the interval of a share, sum(hits) / sum(sizes).

    Wilson's of up to `FEW` clusters and where these are alike, such as for a share of 0 or 1, else that of `interval`.
    None without items. Raise InputInvalid as `interval` does, and for hits that are not from 0 to the size.

    Args:
        hits: of each item, from 0 to its size
        sizes: of each item; without it, all are 1
        clusters: the name of each item's cluster; without it, each item is one
        draws: with replacement, of more than `FEW` clusters
        seed: of these
    """
    columns = [np.asarray(hits, dtype=np.float64), np.ones(np.size(hits)) if sizes is None else sizes]
    sums = _cluster_sums(columns, clusters)
    sums = sums[:, sums[1] != 0]
    if not ((sums[0] >= 0) & (sums[0] <= sums[1])).all():
        raise InputInvalid("got hits that are not from 0 to the size of their item, expected parts of it")
    if not sums.size:
        return None
    share = float(ratio(_whole(sums))[0])
    drawn = interval(columns, ratio, clusters, draws, seed) if sums.shape[1] > FEW else None
    return drawn or wilson(share, effective_size(sums[0], sums[1]))


def estimate(
    columns: Sequence[ArrayLike],
    statistic: Statistic,
    clusters: Sequence[Hashable],
    seed: int,
    scale: Scale = "line",
    mirror: Mirror = _first_negated,
) -> dict[str, float | None]:
    """Return `value` of a statistic of column sums, with `low` and `high`, its 95 % interval over clusters.

    Undefined numbers are None. Raise InputInvalid as `interval` does.

    Args:
        columns: numbers that are summed, each with one per item
        statistic: gets the sums of the columns, shape (columns, draws)
        clusters: the name of each item's cluster
        seed: of the draws
        scale: a correlation has an interval within -1 and 1
        mirror: returns sums that only turn the interval round; without it, those with the first column negated
    """
    sums = _cluster_sums(columns, clusters)
    value = float(statistic(_whole(sums))[0])
    return _estimate(value, _interval_of_sums(sums, statistic, seed=seed, scale=scale, mirror=mirror))


def _estimate(value: float, bounds: Interval | None) -> dict[str, float | None]:
    low, high = bounds or (None, None)
    return {"value": None if np.isnan(value) else value, "low": low, "high": high}


def mean(values: ArrayLike, clusters: Sequence[Hashable], seed: int) -> dict[str, float | None]:
    """Return the mean of values, as `estimate` does."""
    return estimate([values, np.ones(np.size(values))], ratio, clusters, seed)


def share(
    hits: ArrayLike, clusters: Sequence[Hashable], seed: int, sizes: ArrayLike | None = None
) -> dict[str, float | None]:
    """Return sum(hits) / sum(sizes), as `estimate` does, with the interval of `share_interval`, which says of what."""
    sums = _cluster_sums([hits, np.ones(np.size(hits)) if sizes is None else sizes], clusters)
    value = float(ratio(_whole(sums))[0])
    return _estimate(value, share_interval(hits, sizes, clusters, seed=seed))


def in_columns(name: str, estimated: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return what `estimate` returns under the names of columns: `name`, `name_low` and `name_high`."""
    return {name: estimated["value"], f"{name}_low": estimated["low"], f"{name}_high": estimated["high"]}


def with_ends(name: str, estimated: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return what `estimate` returns under the names of columns: `name`, `low` and `high`."""
    return {name: estimated["value"], "low": estimated["low"], "high": estimated["high"]}


def difference_of_means(
    values: ArrayLike, is_first: ArrayLike, clusters: Sequence[Hashable], seed: int
) -> dict[str, float | None]:
    """Return the mean of the values that are first minus that of the others, as `estimate` does; one mark per value."""
    numbers, first = np.asarray(values, dtype=np.float64), np.asarray(is_first, dtype=bool)
    columns = [numbers * first, first, numbers * ~first, ~first]
    sides = partial(np.roll, shift=2, axis=0)
    return estimate(columns, lambda sums: ratio(sums[:2]) - ratio(sums[2:]), clusters, seed, mirror=sides)


def interval(
    columns: Sequence[ArrayLike],
    statistic: Statistic,
    clusters: Sequence[Hashable] | None = None,
    draws: int = 2000,
    seed: int = 0,
    scale: Scale = "line",
) -> Interval | None:
    """Return the interval of a statistic of sums.

    Of up to `FEW` clusters it is `jackknife`'s, on `scale`, of more the percentiles
    of draws with replacement; a draw for which the statistic is undefined (NaN) is left out. Return None for fewer than
    `FEWEST` clusters, if the statistic of all items is undefined, or if all draws are equal (only one cluster
    contributes, or all are alike), since an interval of width 0 would suggest certainty. The order of items decides
    no bit. Raise InputInvalid for columns of unequal length or without finite numbers, cluster names that are not one
    per item, or fewer than one draw.

    Args:
        columns: numbers that are summed, each with one per item
        statistic: gets the sums of the columns, shape (columns, draws)
        clusters: the name of each item's cluster; without it, each item is one
        draws: with replacement, of more than `FEW` clusters
        seed: of these
        scale: a correlation has an interval within -1 and 1
    """
    return _interval_of_sums(_cluster_sums(columns, clusters), statistic, draws, seed, scale)


def _interval_of_sums(
    sums: NDArray[np.float64],
    statistic: Statistic,
    draws: int = 2000,
    seed: int = 0,
    scale: Scale = "line",
    mirror: Mirror = _first_negated,
) -> Interval | None:
    """Return `interval` of the sums of clusters; `mirror` returns sums that only turn it round."""
    if draws < 1:
        raise InputInvalid(f"bootstrap got draws={draws}, expected 1 or more")
    sums, is_symmetric = _in_order(sums, mirror)
    whole = _whole(sums)
    value = float(statistic(whole)[0])
    if sums.shape[1] < FEWEST or np.isnan(value):
        return None
    if sums.shape[1] <= FEW:
        return jackknife(value, statistic(whole - sums), scale)
    drawn = list(_drawn_sums(sums, draws, seed))
    drawn += map(mirror, drawn[:]) if is_symmetric else ()  # then the draws of both sides count
    return _percentiles(np.concatenate(list(map(statistic, drawn))))


def intervals(
    measures: Measures, clusters: int, draws: int = 2000, seed: int = 0, scale: Scale = "line"
) -> list[Interval | None]:
    """Return the interval of each of some statistics that are not computed from sums, by the rule of `interval`.

    Args:
        measures: gets how often each cluster is taken, and returns the statistics, NaN where undefined
        clusters: how many, numbered by their content (`clusters.by_content`)
        draws: with replacement, of more than `FEW` clusters
        seed: of these
        scale: correlations have intervals within -1 and 1
    """
    once = np.ones(clusters, np.intp)
    whole = measures(once)
    if clusters < FEWEST:
        return [None] * len(whole)
    if clusters <= FEW:
        without = np.array([measures(once - (np.arange(clusters) == left_out)) for left_out in range(clusters)])
        pairs = zip(whole, without.T, strict=True)
        return [None if np.isnan(value) else jackknife(value, others, scale) for value, others in pairs]
    generator = np.random.default_rng(seed)
    chosen = (generator.integers(clusters, size=clusters) for _ in range(draws))
    drawn = np.array([measures(np.bincount(places, minlength=clusters)) for places in chosen])
    return [None if np.isnan(value) else _percentiles(others) for value, others in zip(whole, drawn.T, strict=True)]


def _percentiles(drawn: NDArray[np.float64]) -> Interval | None:
    """Return the interval between percentiles of the draws that are defined; None if these are all equal."""
    defined = drawn[~np.isnan(drawn)]
    if len(defined) == 0 or np.ptp(defined) <= ROUNDING * np.abs(defined).max():
        return None
    tail = (1 - LEVEL) / 2
    return float(np.quantile(defined, tail)), -float(np.quantile(-defined, tail))


def _drawn_sums(sums: NDArray[np.float64], draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the column sums of draws of ordered clusters with replacement, some at a time, shape (columns, draws)."""
    # Clusters with equal sums are exchangeable: drawing the number of each kind is the same bootstrap; cheaper if few.
    kinds, counts = _kinds(sums)
    generator, size = np.random.default_rng(seed), sums.shape[1]
    is_by_kind = len(counts) * KIND_COST <= size
    batch = max(1, min(BATCH, NUMBERS_AT_ONCE // (len(counts) if is_by_kind else size)))
    for start in range(0, draws, batch):
        shape = min(batch, draws - start)
        if is_by_kind:
            yield kinds @ generator.multinomial(size, counts / size, size=shape).T
        else:
            clusters = generator.integers(size, size=(shape, size))
            yield np.stack([_sums_of_draws(column, clusters) for column in sums])


def _sums_of_draws(column: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of a column over the clusters of each draw; of a column of ones, such as counts, their number."""
    if (column == 1).all():
        return np.full(len(clusters), float(clusters.shape[1]))
    return column.take(clusters, mode="clip").sum(axis=1)  # clip: unchecked


def _kinds(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct ones of ordered clusters, and how many there are of each (`np.unique`, but faster)."""
    first = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    return ordered[:, first], np.diff(np.r_[first, ordered.shape[1]])


def _cluster_sums(columns: Sequence[ArrayLike], clusters: Sequence[Hashable] | None) -> NDArray[np.float64]:
    """Return the sums of each column per cluster, shape (columns, clusters), rounded once, in ascending order."""
    vectors = [np.asarray(column, dtype=np.float64) for column in columns]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1 or not all(np.isfinite(vector).all() for vector in vectors):
        raise InputInvalid(f"bootstrap got columns of {sorted(lengths)} items, expected one length and finite numbers")
    number = cluster_numbers(clusters, lengths.pop())
    sums = np.stack(vectors if clusters is None else [_sums(vector, number) for vector in vectors])
    return sums[:, np.lexsort(sums[::-1])]


def _sums(column: NDArray[np.float64], number: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the sum of each cluster's items, rounded once: `np.bincount` adds whole numbers exactly."""
    if (column == np.rint(column)).all():
        return np.bincount(number, weights=column).astype(np.float64)
    ends = np.cumsum(np.bincount(number)).tolist()
    items = column[np.argsort(number, kind="stable")].tolist()
    return np.array([fsum(items[start:end]) for start, end in pairwise([0, *ends])])


def _whole(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each row of sums, rounded once, as a column."""
    return np.array([[fsum(row)] for row in sums.tolist()])


def _in_order(sums: NDArray[np.float64], mirror: Mirror) -> tuple[NDArray[np.float64], bool]:
    """Return ascending sums in the order in which they or their mirror's are the larger ones: either way the same.

    And whether both are alike.
    """
    turned = mirror(sums)
    order = np.lexsort(turned[::-1])
    unlike = (sums - turned[:, order]).ravel()
    first = unlike[np.flatnonzero(unlike)[:1]]
    return (sums[:, order] if (first < 0).any() else sums), not len(first)

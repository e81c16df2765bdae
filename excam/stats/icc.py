"""Intraclass correlation of raters by analysis of variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap, few_clusters
from excam.stats.clusters import table_by_content
from excam.stats.item_sums import item_sums


@dataclass(frozen=True, slots=True)
class Icc:
    """An intraclass correlation with its 95 % interval over `n` items; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def icc21(ratings: Sequence[Sequence[float | None]] | NDArray[np.floating]) -> Icc:
    """Return ICC(2,1): two-way random effects, absolute agreement, of a single rater (Shrout and Fleiss 1979).

    Rows are items, columns raters. An item with a missing rating (None or NaN) is dropped. The interval uses the F
    distribution (McGraw and Wong 1996, case 2A). Undefined for fewer than two items or raters, where all ratings are
    equal, and where the variances add up to 0, as of two raters who give two items opposite ratings. Raise
    InputInvalid if rows are of different lengths or hold something else than finite numbers.
    """
    table = _complete(ratings)
    n, k = table.shape
    if n < 2 or k < 2 or np.ptp(table) == 0:
        return Icc(None, None, None, n)
    of_items, of_raters, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    items = k * np.square(of_items - mean).sum() / (n - 1)
    raters = n * np.square(of_raters - mean).sum() / (k - 1)
    rest = np.square(table - of_items[:, None] - of_raters[None, :] + mean).sum() / ((n - 1) * (k - 1))
    whole = items + (k - 1) * rest + k * (raters - rest) / n
    if whole <= 1e-12 * max(items, raters, rest):
        return Icc(None, None, None, n)
    value = float((items - rest) / whole)
    return Icc(value, *_interval(value, float(items), float(raters), float(rest), n, k), n)


def icc_of_mean(single: Icc, raters: int) -> Icc:
    """Return ICC(2,k), that of the mean of `raters` raters, from ICC(2,1) (Spearman and Brown).

    Equal to the ratio of mean squares of Shrout and Fleiss. A bound has none where the formula has no positive divisor.
    """

    def stepped(value: float | None) -> float | None:
        divisor = 0.0 if value is None else 1 + (raters - 1) * value
        return raters * value / divisor if value is not None and divisor > 0 else None

    low, high = stepped(single.low), stepped(single.high)
    bounds = (None, None) if low is None or high is None else (low, high)
    return Icc(stepped(single.value), *bounds, single.n)


def _table(ratings: Sequence[Sequence[float | None]] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Return ratings as items by raters, NaN where one is missing. Raise InputInvalid for another shape or infinity."""
    try:
        table = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputInvalid(f"ratings: {problem}; expected rows of as many numbers each") from None
    if table.ndim != 2 or np.isinf(table).any():
        raise InputInvalid(f"ratings: shape {table.shape}; expected items by raters, finite numbers")
    return table


def _complete(ratings: Sequence[Sequence[float | None]] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the items with all ratings; neither their order nor that of raters decides a digit."""
    table = _table(ratings)
    return _by_content(table[~np.isnan(table).any(axis=1)])


def _by_content(table: NDArray[np.float64]) -> NDArray[np.float64]:
    if not table.size:
        return table
    places = [axis.ravel() for axis in np.indices(table.shape)]
    table = table[:, np.argsort(table_by_content(*places, table.ravel())[1][: table.shape[1]])]
    return table[np.lexsort(table.T[::-1])]


def icc21_bootstrap(
    ratings: Sequence[Sequence[float | None]] | NDArray[np.floating], seed: int
) -> tuple[float, float] | None:
    """Return the 95 % interval of `icc21` over items (`bootstrap.interval`), with these raters; None if undefined.

    Draws in which all ratings are equal are left out. Raise InputInvalid as `icc21` does.
    """
    table = _complete(ratings)
    n, k = table.shape
    if n < 2 or k < 2:
        return None
    columns = [*table.T, np.square(table).sum(axis=1), np.square(table.sum(axis=1)), np.ones(n)]
    return bootstrap.interval(columns, _icc_of_sums, seed=seed, scale="correlation")


def _icc_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ICC(2,1) of draws from their sums: of each rater, of squares, of squared sums of items, of items."""
    of_raters, squares, item_squares, n = sums[:-3], sums[-3], sums[-2], sums[-1]
    k = len(of_raters)
    center = np.square(of_raters.sum(axis=0)) / (n * k)
    of_items, between = item_squares / k - center, np.square(of_raters).sum(axis=0) / n - center
    rest = (squares - center - of_items - between) / ((n - 1) * (k - 1))
    items, raters = of_items / (n - 1), between / (k - 1)
    whole = items + (k - 1) * rest + k * (raters - rest) / n
    values = bootstrap.ratio(np.stack([items - rest, whole])).round(12)  # with a constant rater it is 0, up to rounding
    return np.where(squares - center > 1e-9 * squares, values, np.nan)


def icc11(ratings: Sequence[Sequence[float]], seed: int) -> Icc:
    """Return ICC(1,1) of items whose raters differ: one-way random effects (Shrout and Fleiss 1979, case 1).

    Rows are items, each with its ratings in any order; items with one rating are dropped. A difference between raters
    counts as noise. The 95 % interval is over items (`bootstrap.interval`). Undefined as `icc21` is.
    """
    items = [item for item in ratings if len(item) > 1]
    n = len(items)
    sums = item_sums(items)
    if sums is None or n < 2:
        return Icc(None, None, None, n)
    size, total, squares = sums
    columns = [size, np.square(size), total, np.square(total) / size, squares, np.ones(n)]
    return Icc(**bootstrap.estimate(columns, _icc11_of_sums, range(n), seed, "correlation"), n=n)


def _icc11_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ICC(1,1) of draws from their sums: of sizes and their squares, totals, squared totals by size, squares,
    and items.
    """
    size, square_sizes, total, of_items, squares, n = sums
    between = (of_items - np.square(total) / size) / (n - 1)
    within = (squares - of_items) / (size - n)
    usual_size = (size - square_sizes / size) / (n - 1)
    whole = between + (usual_size - 1) * within
    varied = squares - np.square(total) / size > 1e-9 * squares  # a rest of rounding is no variation
    return np.where(varied, bootstrap.ratio(np.stack([between - within, whole])), np.nan)


def _interval(
    value: float, items: float, raters: float, rest: float, n: float, k: float
) -> tuple[float, float] | tuple[None, None]:
    """Return the bounds of the interval from the mean squares; None if there is no residual variance, or no bound."""
    from scipy.special import fdtri

    if rest <= 1e-12 * max(items, raters):
        return None, None
    a = k * value * raters / rest
    b = n * (1 + (k - 1) * value) - k * value
    spread = (n - 1) * a**2 + b**2
    if spread == 0:  # no degrees of freedom, as of raters who disagree throughout
        return None, None
    freedom = (k - 1) * (n - 1) * (a + b) ** 2 / spread
    upper = 1 - (1 - few_clusters.LEVEL) / 2
    below, above = fdtri(n - 1, freedom, upper), fdtri(freedom, n - 1, upper)
    both = k * raters + (k * n - k - n) * rest
    parts = [(items - below * rest, below * both + n * items), (above * items - rest, both + n * above * items)]
    if not np.isfinite(parts).all() or not all(whole for _, whole in parts):
        return None, None
    low, high = (float(n * part / whole) for part, whole in parts)
    return low, high

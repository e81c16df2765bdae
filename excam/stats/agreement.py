"""Agreement of annotators beyond chance: Krippendorff's alpha, Cohen's and Fleiss' kappa, with intervals.

Alpha is computed here (Krippendorff, Content Analysis, 2018, chapter 12), since the licence of
the usual library is incompatible with ours. Intervals are over items
(`bootstrap.interval`); all are functions of sums over items (of coincidence matrices, of counts of values), so a draw
of items is a sum too and 2,000 take no time. If all ratings are equal, agreement beyond chance is undefined: the value
is None, not 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap
from excam.stats.item_sums import item_sums

Scale = Literal["nominal", "ordinal"]
Ratings = Sequence[Sequence[str]]  # of each item, in any order: both statistics ignore who gave a rating
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A value with its 95 % interval over `n` items with `ratings` ratings in total; None if undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    ratings: int


def alpha(ratings: Ratings, values: Sequence[str], scale: Scale, seed: int) -> Agreement:
    """Return Krippendorff's alpha over items with at least two ratings; ordinal `values` are in ascending order.

    Raise InputInvalid for a rating that is not one of `values`.
    """
    counts = _counts([item for item in ratings if len(item) > 1], values)
    n, total = len(counts), int(counts.sum())
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Agreement(None, None, None, n, total)
    columns = list(_coincidences(counts).reshape(n, -1).T)
    return _estimated(columns, lambda sums: _alpha(sums, scale), seed, n, total)


def alpha_of_numbers(ratings: Sequence[Sequence[float]], seed: int) -> Agreement:
    """Return Krippendorff's alpha of numbers, by squared differences (interval scale), as `alpha` does."""
    items = [item for item in ratings if len(item) > 1]
    sizes = len(items), sum(map(len, items))
    sums = item_sums(items)
    if sums is None:
        return Agreement(None, None, None, *sizes)
    size, total, squares = sums
    apart = 2 * (size * squares - np.square(total)) / (size - 1)  # squared differences of all ordered pairs
    return _estimated([apart, size, total, squares], _alpha_of_numbers, seed, *sizes)


def cohens_kappa(pairs: Sequence[tuple[str, str]], seed: int) -> Agreement:
    """Return Cohen's kappa of two raters, whose ratings of each item are `pairs`, the same rater's always first."""
    values = sorted({value for pair in pairs for value in pair})
    n, pairs = len(pairs), min(sorted(pairs), sorted((b, a) for a, b in pairs))  # whoever is first
    if len(values) < 2:
        return Agreement(None, None, None, n, 2 * n)
    firsts, seconds = ([[rating == value for rating in side] for value in values] for side in zip(*pairs, strict=True))
    columns = [
        *np.array([*firsts, *seconds], dtype=np.float64),
        [first == second for first, second in pairs],
        [1.0] * n,
    ]
    return _estimated(columns, _cohens_kappa, seed, n, 2 * n)


def kappa(ratings: Ratings, values: Sequence[str], raters: int, seed: int) -> Agreement:
    """Return Fleiss' kappa over the items with exactly `raters` ratings.

    Raise InputInvalid for a rating that is not one of `values`, and for fewer than two raters.
    """
    if raters < 2:
        raise InputInvalid(f"kappa got {raters} raters; expected at least two")
    counts = _counts([item for item in ratings if len(item) == raters], values)
    n, total = len(counts), int(counts.sum())
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Agreement(None, None, None, n, total)
    alike = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    return _estimated([*counts.T, alike, np.ones(n)], lambda sums: _kappa(sums, raters), seed, n, total)


def _estimated(
    columns: Sequence[ArrayLike], statistic: bootstrap.Statistic, seed: int, n: int, ratings: int
) -> Agreement:
    return Agreement(**bootstrap.estimate(columns, statistic, range(n), seed, "correlation"), n=n, ratings=ratings)


def _counts(ratings: Ratings, values: Sequence[str]) -> Matrix:
    """Return how often each item has each value, shape (items, values)."""
    place = {value: at for at, value in enumerate(values)}
    counts = np.zeros((len(ratings), len(values)))
    for row, item in enumerate(ratings):
        for value in item:
            if value not in place:
                raise InputInvalid(f"rating {value!r}; expected one of {', '.join(values)}")
            counts[row, place[value]] += 1
    return counts


def _coincidences(counts: Matrix) -> Matrix:
    """Return coincidence matrices per item, shape (items, values, values).

    They count ordered pairs of an item's ratings with weight 1 / (ratings - 1), so that an item's weights sum to its
    number of ratings.
    """
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return pairs / (counts.sum(axis=1) - 1)[:, None, None]


def _alpha(sums: Matrix, scale: Scale) -> Matrix:
    """Return alpha of each draw's summed coincidence matrix, (values², draws) to (draws,); NaN without variation."""
    size = round(len(sums) ** 0.5)
    observed = sums.reshape(size, size, -1)
    often = observed.sum(axis=1)
    apart = _distances(often, scale)
    total = often.sum(axis=0)
    disagreement = (observed * apart).sum(axis=(0, 1)) * (total - 1)
    chance = (often[:, None] * often[None, :] * apart).sum(axis=(0, 1))
    return 1 - bootstrap.ratio(np.stack([disagreement, chance]))


def _distances(often: Matrix, scale: Scale) -> Matrix:
    """Return squared distances between values per draw; an ordinal distance is the number of ratings in between."""
    if scale == "nominal":
        return np.broadcast_to(1 - np.eye(len(often))[:, :, None], (len(often), *often.shape))
    middle = often.cumsum(axis=0) - often / 2
    return (middle[:, None] - middle[None, :]) ** 2


def _kappa(sums: Matrix, raters: int) -> Matrix:
    """Return kappa of each draw, shape (values + 2, draws) to (draws,); NaN without variation."""
    often, alike, items = sums[:-2], sums[-2], sums[-1]
    by_chance = ((often / (raters * items)) ** 2).sum(axis=0)
    return bootstrap.ratio(np.stack([alike / items - by_chance, 1 - by_chance]))


def _alpha_of_numbers(sums: Matrix) -> Matrix:
    """Return alpha of each draw's sums: of squared differences, numbers, their total and squares; NaN if all equal."""
    apart, n, total, squares = sums
    by_chance = 2 * (n * squares - np.square(total))
    varied = np.where(by_chance > 1e-9 * n * squares, by_chance, 0)  # a rest of rounding is no variation
    return 1 - bootstrap.ratio(np.stack([apart * (n - 1), varied]))


def _cohens_kappa(sums: Matrix) -> Matrix:
    """Return kappa of each draw, shape (2 * values + 2, draws) to (draws,); NaN without variation."""
    firsts, seconds = np.split(sums[:-2], 2)
    same, n = sums[-2] / sums[-1], sums[-1]
    by_chance = (firsts * seconds).sum(axis=0) / n**2
    return bootstrap.ratio(np.stack([same - by_chance, 1 - by_chance]))

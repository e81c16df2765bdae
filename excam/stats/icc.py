"""Intraclass correlation of raters who all rate the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid

CONFIDENCE = 0.95


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
    distribution (McGraw and Wong 1996, case 2A). Undefined for fewer than two items or raters, and where all ratings
    are equal. Raise InputInvalid if rows are of different lengths or hold something else than finite numbers.
    """
    try:
        table = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputInvalid(f"ratings: {problem}; expected rows of as many numbers each") from None
    if table.ndim != 2 or np.isinf(table).any():
        raise InputInvalid(f"ratings: shape {table.shape}; expected items by raters, finite numbers")
    table = table[~np.isnan(table).any(axis=1)]
    n, k = table.shape
    if n < 2 or k < 2 or np.ptp(table) == 0:
        return Icc(None, None, None, n)
    of_items, of_raters, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    items = k * np.square(of_items - mean).sum() / (n - 1)
    raters = n * np.square(of_raters - mean).sum() / (k - 1)
    rest = np.square(table - of_items[:, None] - of_raters[None, :] + mean).sum() / ((n - 1) * (k - 1))
    value = float((items - rest) / (items + (k - 1) * rest + k * (raters - rest) / n))
    return Icc(value, *_interval(value, float(items), float(raters), float(rest), n, k), n)


def _interval(
    value: float, items: float, raters: float, rest: float, n: int, k: int
) -> tuple[float, float] | tuple[None, None]:
    """Return the bounds of the interval from the mean squares; None if there is no residual variance."""
    from scipy.stats import f

    if rest <= 1e-12 * max(items, raters):
        return None, None
    a = k * value * raters / rest
    b = n * (1 + (k - 1) * value) - k * value
    freedom = (k - 1) * (n - 1) * (a + b) ** 2 / ((n - 1) * a**2 + b**2)
    upper = 1 - (1 - CONFIDENCE) / 2
    below, above = f.ppf(upper, n - 1, freedom), f.ppf(upper, freedom, n - 1)
    both = k * raters + (k * n - k - n) * rest
    low = n * (items - below * rest) / (below * both + n * items)
    high = n * (above * items - rest) / (both + n * above * items)
    return float(low), float(high)

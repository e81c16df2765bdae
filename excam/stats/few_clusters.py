"""Intervals from few clusters, where the percentile bootstrap is too narrow (docs/results.md, Intervals).

Of statistics: from the jackknife, which leaves out one cluster at a time. Of shares: Wilson's.
"""

from __future__ import annotations

from math import fsum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Interval = tuple[float, float]
Scale = Literal["line", "correlation"]

LEVEL = 0.95  # of every interval
FEWEST = 8  # clusters for an interval of what is no share: of fewer, no method that was tried covers well
FEW = 100  # up to so many clusters the intervals of this module, of more a bootstrap
ROUNDING = 1e-12  # relative differences between values that are only rounding


def jackknife(value: float, without: Floats, scale: Scale = "line") -> Interval | None:
    """Return the interval of a statistic from its values without each of the clusters.

    It contains the t interval and that of Hall's transformation, which follows the skewness of the clusters' influence
    (Hall 1992, "On the Removal of Skewness by Transformation"); of a `correlation` also that of t on Fisher's scale,
    and nothing beyond -1 and 1. None if the statistic is undefined without one of the clusters, or if no cluster moves
    it.
    """
    from scipy.special import stdtrit

    n = len(without)
    if not np.isfinite(without).all() or np.ptp(without) <= ROUNDING * np.abs(without).max():
        return None
    influence = (n - 1) * (fsum(without) / n - without)
    spread = (fsum(influence**2) / (n - 1)) ** 0.5
    skewness = fsum(influence * influence**2) * n**0.5 / ((n - 1) * (n - 2)) / spread**3
    most = float(stdtrit(n - 1, (1 + LEVEL) / 2))
    low, high = (max(most, sign * _without_skewness(sign * most, skewness)) for sign in (1, -1))
    error = spread / n**0.5
    low, high = value - low * error, value + high * error
    if scale == "line":
        return low, high
    if abs(value) >= 1:
        return None
    centre, half = np.arctanh(value), most * error / (1 - value**2)
    return max(-1.0, min(low, float(np.tanh(centre - half)))), min(1.0, max(high, float(np.tanh(centre + half))))


def _without_skewness(t: float, skewness: float) -> float:
    """Return the studentized difference that Hall's cubic transformation takes to t; skewness by the root of n."""
    if abs(skewness) < 1e-6:
        return t
    return float(3 / skewness * (np.cbrt(1 + skewness * (t - skewness / 6)) - 1))


def wilson(share: float, size: float) -> Interval:
    """Return Wilson's interval of a share of `size` independent items (Wilson 1927; Brown, Cai and DasGupta 2001)."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 + LEVEL) / 2)) ** 2
    half = (z2 * (share * (1 - share) * size + z2 / 4)) ** 0.5
    centre = share * size + z2 / 2
    return max(0.0, (centre - half) / (size + z2)), min(1.0, (centre + half) / (size + z2))


def effective_size(hits: Floats, sizes: Floats) -> float:
    """Return how many independent items tell as much of a share as clusters with so many hits among so many items.

    After Korn and Graubard (1998): from the variance between clusters, with t for the normal quantile, at most the
    number of items, as of pairs with one hit each. As many as there are clusters if all items are alike, which says
    nothing of a variance; 0 of one cluster with both.
    """
    from scipy.special import ndtri, stdtrit

    n, share, items = len(sizes), float(hits.sum() / sizes.sum()), float(sizes.sum())
    if share in (0.0, 1.0):
        return float(n)
    if (sizes == 1).all():
        return items
    if n == 1:
        return 0.0
    rest = hits - share * sizes
    variance = n / (n - 1) * float(rest @ rest) / items**2
    tails = (float(ndtri((1 + LEVEL) / 2)) / float(stdtrit(n - 1, (1 + LEVEL) / 2))) ** 2
    return min(items, tails * share * (1 - share) / variance) if variance > 0 else items

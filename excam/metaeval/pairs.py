"""All pairs of items, counted without visiting them: what Kendall's tau and tie calibration are made of (spec 53).

An item has a gold score and a metric's score. With epsilon, two items whose metric scores differ by at most epsilon are
tied by the metric; gold ties are exact; differences are compared as computed in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class At:
    """Agreement at one epsilon: pairs tied in both, concordant pairs; for each cell the first cell farther away."""

    epsilon: float
    reach: NDArray[np.intp]
    ties: int
    concordant: int

    @property
    def agreeing(self) -> int:
        return self.ties + self.concordant


class Pairs:
    """All pairs of n items, counted in O(n log classes) per epsilon.

    Items alike in metric and gold are one cell; cells are sorted by metric. A wavelet matrix over their gold classes
    answers, for all cells at once, "from cell p on, how many items are of a higher class, how many of the same".
    """

    def __init__(self, gold: NDArray[np.float64], metric: NDArray[np.float64]) -> None:
        classes = np.unique(gold, return_inverse=True)[1]
        self.ranked, ranks = np.unique(metric, return_inverse=True)
        self.items, self.classes = len(gold), (width := int(classes.max()) + 1)
        cells, self.cell, self.size = np.unique(ranks * width + classes, return_inverse=True, return_counts=True)
        self.rank, self.gold = np.divmod(cells, width)
        self.value = self.ranked[self.rank]
        self.total = self.items * (self.items - 1) // 2
        self._first = np.searchsorted(self.rank, np.arange(len(self.ranked) + 1))
        self._index()
        self._above, same = self._descend(np.full(len(cells), len(cells)))
        self._same = same - int(np.sum(np.bincount(classes) ** 2) - len(gold)) // 2

    def _index(self) -> None:
        """Per bit of the class, highest first: ones so far in cells and in items, zeros in all, own bit, weight."""
        self._levels = []
        row, size = self.gold, self.size
        for bit in reversed(range(int(row.max()).bit_length())):
            one = (row >> bit & 1).astype(bool)
            own = (self.gold >> bit & 1).astype(bool)
            ones, items = np.r_[0, np.cumsum(one)], np.r_[0, np.cumsum(one * size)]
            self._levels.append((ones, items, len(row) - ones[-1], own, ~own * self.size))
            row, size = np.r_[row[~one], row[one]], np.r_[size[~one], size[one]]
        self._items = np.r_[0, np.cumsum(size)]

    def _descend(self, position: NDArray[np.intp]) -> tuple[int, int]:
        """Summed over all items: higher-class items before its position, and where its class puts that position."""
        above = 0
        for ones, items, zeros, own, weight in self._levels:
            above += int(items[position] @ weight)
            before = ones[position]
            position = np.where(own, before + zeros, position - before)
        return above, int(self._items[position] @ self.size)

    def at(self, epsilon: float) -> At:
        """Pairs tied in both and concordant pairs when differences up to `epsilon` are metric ties."""
        return self.counted(epsilon, self.reach(epsilon))

    def counted(self, epsilon: float, reach: NDArray[np.intp]) -> At:
        """The same when each cell is tied with those up to, and without, the one given for it."""
        above, same = self._descend(reach)
        return At(epsilon, reach, same - self._same, self._above - above)

    def reach(self, epsilon: float) -> NDArray[np.intp]:
        """For each cell the first cell that is farther than `epsilon` above it."""
        return self._first[self._reach(epsilon)][self.rank]

    def _reach(self, epsilon: float) -> NDArray[np.intp]:
        """For each rank the first rank whose value, minus this one's, exceeds epsilon: by differences as computed."""
        ranked, end = self.ranked, len(self.ranked)
        reach = np.searchsorted(ranked, ranked + epsilon, side="right")
        wrong = np.append(ranked, np.inf)[reach] - ranked <= epsilon
        wrong |= ranked[reach - 1] - ranked > epsilon
        low = start = np.flatnonzero(wrong)  # rounding of the sum and of the difference disagree: bisect on the latter
        high = np.full(len(start), end)
        while (low + 1 < high).any():
            middle = (low + high) // 2
            near = ranked[middle] - ranked[start] <= epsilon
            low, high = np.where(near, middle, low), np.where(near, high, middle)
        reach[start] = high
        return reach

    def next_below(self, epsilon: float) -> float:
        """The largest difference of two metric values that is smaller than `epsilon`."""
        return float(np.max(self.ranked[self._reach(float(np.nextafter(epsilon, 0))) - 1] - self.ranked))


def middle_difference(pairs: Pairs, low: NDArray[np.integer], sizes: NDArray[np.integer]) -> float:
    """About the median difference of an interval: the median of 63 of its pairs of cells, evenly spread."""
    ends = np.cumsum(sizes)
    chosen = np.linspace(0, ends[-1] - 1, 63).astype(np.intp)
    left = np.searchsorted(ends, chosen, side="right")
    right = chosen - (ends - sizes - low)[left]
    return float(np.median(pairs.value[right] - pairs.value[left]))


def pairs_between(
    pairs: Pairs, low: NDArray[np.integer], sizes: NDArray[np.integer], first: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """An interval's pairs of cells: left and right cell, and +1 when tying them is right (gold tie), -1 when wrong.

    Cell `first` + i has the `sizes[i]` pairs from cell `low[i]` on. Discordant pairs are left out: no epsilon makes
    them right.
    """
    ends = np.cumsum(sizes)
    left = np.repeat(np.arange(first, first + len(sizes)), sizes)
    right = np.arange(ends[-1]) - np.repeat(ends - sizes - low, sizes)
    step = pairs.gold[right] - pairs.gold[left]
    matters = np.flatnonzero(step >= 0)
    return left[matters], right[matters], np.where(step[matters] == 0, 1, -1)

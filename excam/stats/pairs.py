"""Count pairs of items without enumerating them, for Kendall's tau and tie calibration.

An item has a gold score and a metric's score. With epsilon, two items whose metric scores differ by at most epsilon are
tied by the metric; gold ties are exact. Differences of the metric are rounded to 12 digits of its largest score, so
that those of decimals are equal if they are on paper, in any unit (.3 - .2 and .2 - .1 differ in float64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

BATCH = 1 << 15  # pairs of cells enumerated at a time
DIGITS = 12  # of the largest score, to which differences are rounded


def in_units(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], Callable[[float], float]]:
    """Return scores in units of the last of `DIGITS` digits of the largest one, and a function that converts back."""
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0:
        return scores, float
    power = int(np.frexp(largest)[1])
    power = power if abs(power) > 900 else 0  # close to the ends of float64, by a power of two, which is exact
    scores, decade = np.ldexp(scores, -power), floor(log10(float(np.ldexp(largest, -power)))) + 1 - DIGITS
    factor = 10.0 ** abs(decade)
    if decade < 0:
        return scores * factor, lambda units: float(np.ldexp(units / factor, power))
    return scores / factor, lambda units: float(np.ldexp(units * factor, power))


@dataclass(frozen=True, slots=True)
class EpsilonCounts:
    """Counts at one epsilon: pairs tied in both, concordant pairs, and per cell the first cell that is farther away."""

    epsilon: float
    reach: NDArray[np.intp]
    ties: int
    concordant: int

    @property
    def agreeing(self) -> int:
        return self.ties + self.concordant


class Pairs:
    """All pairs of n items, counted in O(n log classes) per epsilon.

    Items with equal metric and gold scores form a cell; cells are sorted by metric. A wavelet matrix over their gold
    classes counts, for all cells at once, the items of a higher and of the same class from cell p on. Metric scores and
    epsilons are in the units of `in_units`, differences whole numbers of them; `converted` takes units to scores.
    """

    def __init__(self, gold: NDArray[np.float64], metric: NDArray[np.float64]) -> None:
        classes = np.unique(gold, return_inverse=True)[1]
        metric, self.converted = in_units(metric)
        self.ranked, ranks = np.unique(metric, return_inverse=True)
        self.widest = float(np.rint(self.ranked[-1] - self.ranked[0]))
        self.items, self.classes = len(gold), (width := int(classes.max()) + 1)
        cells, self.cell, self.size = np.unique(ranks * width + classes, return_inverse=True, return_counts=True)
        self.rank, self.gold = np.divmod(cells, width)
        self.value = self.ranked[self.rank]
        self.total = self.items * (self.items - 1) // 2
        self._first = np.searchsorted(self.rank, np.arange(len(self.ranked) + 1))
        self._index()
        self._above, same = self._descend(np.full(len(cells), len(cells)))
        self._same = same - int(np.sum(np.bincount(classes) ** 2) - len(gold)) // 2

    def items_of_values(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many items have each gold score, and each metric's score."""
        return (
            np.bincount(self.gold, self.size).astype(np.int64),
            np.bincount(self.rank, self.size).astype(np.int64),
        )

    def _index(self) -> None:
        """Build the wavelet matrix, one level per class bit, highest first.

        A level has cumulative ones in cells and in items, the number of zeros, bit and weight of each cell, and the
        cells in the order of the next level (zeros first).
        """
        self._levels = []
        order, everything = np.arange(len(self.gold)), len(self.gold)
        for bit in reversed(range((self.classes - 1).bit_length())):
            bits = (self.gold >> bit & 1).astype(bool)
            is_set = bits[order]
            ones, items = np.r_[0, np.cumsum(is_set)], np.r_[0, np.cumsum(is_set * self.size[order])]
            order = np.r_[order[~is_set], order[is_set]]
            self._levels.append((ones, items, everything - ones[-1], bits, ~bits * self.size, order))
        self._items = np.r_[0, np.cumsum(self.size[order])]

    def _descend(self, position: NDArray[np.intp]) -> tuple[int, int]:
        """Return, summed over items: higher-class items before its position, and the position in the sorted items."""
        above = 0
        for ones, items, zeros, own, weight, _ in self._levels:
            above += int(items[position] @ weight)
            before = ones[position]
            position = np.where(own, before + zeros, position - before)
        return above, int(self._items[position] @ self.size)

    def counts_at(self, epsilon: float) -> EpsilonCounts:
        """Return the counts when differences up to `epsilon` are metric ties."""
        reach = self.reach(epsilon)
        above, same = self._descend(reach)
        return EpsilonCounts(epsilon, reach, same - self._same, self._above - above)

    def differences(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rounded differences of pairs of cells."""
        return np.rint(self.value[right] - self.value[left])

    def reach(self, epsilon: float) -> NDArray[np.intp]:
        """Return for each cell the first cell that is more than `epsilon` above it."""
        return self._first[self._reach(epsilon)][self.rank]

    def _reach(self, epsilon: float) -> NDArray[np.intp]:
        """Return for each rank the first rank whose value exceeds it by more than epsilon, by rounded differences."""
        ranked, end = self.ranked, len(self.ranked)
        reach = np.searchsorted(ranked, ranked + (epsilon + 0.5), side="right")
        wrong = np.rint(np.append(ranked, np.inf)[reach] - ranked) <= epsilon
        wrong |= np.rint(ranked[reach - 1] - ranked) > epsilon
        low = start = np.flatnonzero(wrong)  # sum and difference round differently: bisect on the difference
        high = np.full(len(start), end)
        while (low + 1 < high).any():
            middle = (low + high) // 2
            near = np.rint(ranked[middle] - ranked[start]) <= epsilon
            low, high = np.where(near, middle, low), np.where(near, high, middle)
        reach[start] = high
        return reach

    def next_below(self, epsilon: float) -> float:
        """Return the largest difference of two metric values that is smaller than `epsilon`."""
        return float(np.rint(np.max(self.ranked[self._reach(float(np.nextafter(epsilon, 0))) - 1] - self.ranked)))

    def pairs_between(
        self, low: NDArray[np.integer], high: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], int]]:
        """Yield batches of pairs of cells: left and right cells, and 1 if tying them agrees with gold, else -1.

        Each cell is paired with the cells from its `low` up to, but excluding, its `high`. Discordant pairs are left
        out, since they agree under no epsilon. Batches fit in the processor's cache.
        """
        for sign, cells, row, begin, end in self._rows(low, high):
            sizes = end - begin
            ends = np.cumsum(sizes)
            first = 0
            while first < len(ends):
                last = int(np.searchsorted(ends, ends[first] - sizes[first] + BATCH, side="right"))
                here = slice(first, first := max(last, first + 1))
                shift = np.cumsum(sizes[here])
                right = np.arange(shift[-1]) + np.repeat(end[here] - shift, sizes[here])
                yield np.repeat(cells[here], sizes[here]), row[right], sign

    def _rows(
        self, low: NDArray[np.integer], high: NDArray[np.integer]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp], NDArray[np.integer], NDArray[np.integer]]]:
        """Yield (sign, left cells, row of cells, begins, ends): the right cells of a left cell are row[begin:end].

        First the pairs with a higher class, per bit (sign -1), then those of the same class (sign 1).
        """
        row = all_cells = np.arange(len(self.gold))
        for ones, _, zeros, own, _, row in self._levels:
            lower, begin, end = np.flatnonzero(~own), ones[low], ones[high]
            yield -1, lower, row, zeros + begin[lower], zeros + end[lower]
            low, high = np.where(own, begin + zeros, low - begin), np.where(own, end + zeros, high - end)
        yield 1, all_cells, row, low, high


def middle_difference(pairs: Pairs, low: NDArray[np.integer], sizes: NDArray[np.integer]) -> float:
    """Return the approximate median difference of an interval, from 63 evenly spaced pairs of cells."""
    ends = np.cumsum(sizes)
    chosen = np.linspace(0, ends[-1] - 1, 63).astype(np.intp)
    left = np.searchsorted(ends, chosen, side="right")
    right = chosen - (ends - sizes - low)[left]
    return float(np.rint(np.median(pairs.differences(left, right))))

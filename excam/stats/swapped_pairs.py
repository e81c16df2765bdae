"""Count pairs of items under random swaps of two metrics' scores, with tables shared by all draws.

A draw gives every item the score of one of two metrics, so its pairs are among the pairs of all 2n scores. Everything
that does not depend on the draw is computed once: the cells (items with equal score and gold), the tree of intervals of
epsilon with the reach of every cell at their ends, and the sorted pairs of narrow intervals. A draw then costs a few
look-ups; `AgreementSearch` bounds the tie-calibrated agreement from both sides, only as far as a comparison needs it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.stats.pairs import Pairs, middle_difference

LEAF = 1 << 13  # pairs of cells: an interval with at most so many is enumerated, not bisected
TABLE = 1 << 22  # entries of a draw's table (gold classes x cells); 32 MB
HALF = 32  # bits of each of the two counts in an entry


@dataclass(frozen=True, slots=True)
class _EpsilonEnd:
    """One epsilon: for each cell, the table index of the first cell that is farther away."""

    epsilon: float
    places: NDArray[np.int32]


@dataclass(slots=True)
class _Interval:
    """Epsilons in (low, high]: the ends, the number of pairs of cells, and, once computed, its halves or its pairs."""

    low: _EpsilonEnd
    high: _EpsilonEnd
    count: int
    halves: list[_Interval] | None = None
    listed: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64], NDArray[np.intp]] | None = None


class SwappedPairs:
    """Two metrics on the same n items, and the data shared by all swaps."""

    def __init__(self, gold: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
        """Prepare the shared data from gold scores and both metrics' scores, n finite numbers each."""
        self.n = len(gold)
        self.total = self.n * (self.n - 1) // 2
        self.pairs = Pairs(np.concatenate([gold, gold]), np.concatenate([a, b]))
        self._first, self._second = self.pairs.cell[: self.n], self.pairs.cell[self.n :]
        self.cells = len(self.pairs.size)
        self.class_sizes = np.bincount(np.unique(gold, return_inverse=True)[1])
        self._rows = self.pairs.gold * (self.cells + 1)
        self.root = self._between(self._end(0.0), self._end(self.pairs.widest))

    @property
    def fits_in_table(self) -> bool:
        """Whether a draw's table is small enough, and its counts fit in half of an entry."""
        return len(self.class_sizes) * (self.cells + 1) <= TABLE and self.n**2 < 1 << (HALF - 1)

    def after_swapping(self, swap: NDArray[np.bool_]) -> tuple[_SwappedMetric, _SwappedMetric]:
        """Return both metrics after swapping the items of `swap`."""
        sizes = np.bincount(np.where(swap, self._second, self._first), minlength=self.cells)
        return _SwappedMetric(self, sizes), _SwappedMetric(self, self.pairs.size - sizes)

    def _end(self, epsilon: float) -> _EpsilonEnd:
        return _EpsilonEnd(epsilon, (self._rows + self.pairs.reach(epsilon)).astype(np.int32))

    def _between(self, low: _EpsilonEnd, high: _EpsilonEnd) -> _Interval:
        return _Interval(low, high, int((high.places - low.places).sum(dtype=np.int64)))

    def halves_of(self, interval: _Interval) -> list[_Interval]:
        """Return two intervals with about half of the pairs each; one or none if the others contain no pairs."""
        if interval.halves is None:
            low, high = interval.low, interval.high
            middle = middle_difference(self.pairs, low.places - self._rows, high.places - low.places)
            if middle < high.epsilon:
                split = self._end(middle)
                interval.halves = [self._between(low, split), self._between(split, high)]
            else:  # most pairs are at the right end, whose counts are known: only those below it matter
                middle = self.pairs.next_below(middle)
                interval.halves = [self._between(low, self._end(middle))] if middle > low.epsilon else []
        return interval.halves

    def pairs_of(self, interval: _Interval) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return pairs of cells by difference: left, right, sign of the gain, and last pair of each difference."""
        if interval.listed is None:
            low, high = interval.low.places - self._rows, interval.high.places - self._rows
            batches = [
                (left, right, np.full(len(left), sign)) for left, right, sign in self.pairs.pairs_between(low, high)
            ]
            left, right, sign = (np.concatenate(row) for row in zip(*batches, strict=True))
            steps = self.pairs.differences(left, right)
            order = np.argsort(steps, kind="stable")
            last = np.flatnonzero(np.r_[np.diff(steps[order]) != 0, True]) if len(order) else order
            interval.listed = left[order], right[order], sign[order], last
        return interval.listed


class _SwappedMetric:
    """One metric of one draw: its number of items in each cell, with cumulative counts."""

    def __init__(self, swaps: SwappedPairs, weight: NDArray[np.int64]) -> None:
        self.swaps, self.weight = swaps, weight
        cells, pairs = swaps.cells, swaps.pairs
        before = np.zeros((len(swaps.class_sizes), cells + 1), dtype=np.int64)
        before[pairs.gold, np.arange(1, cells + 1)] = weight
        np.cumsum(before, axis=1, out=before)  # [g, p]: items of class g in cells before p
        after = np.zeros_like(before)  # [g, p]: items of a higher class than g in cells from p on
        np.cumsum((swaps.class_sizes[:, None] - before)[:0:-1], axis=0, out=after[-2::-1])
        self._table = (before + (after << HALF)).ravel()  # both counts in one look-up and one product
        self.both_ties = int(weight @ (weight - 1)) // 2
        self._offset = 0
        self._offset = self.both_ties - self.counts_at(swaps.root.low)[0]

    def counts_at(self, end: _EpsilonEnd) -> tuple[int, int]:
        """Return pairs tied in both, and concordant pairs, when differences up to the end's epsilon are metric ties."""
        concordant, ties = divmod(int(self.weight @ self._table[end.places]), 1 << HALF)
        return ties + self._offset, concordant


class AgreementSearch:
    """A search for the maximum of agreeing pairs of one draw over epsilon: at least `best`, at most `bound`."""

    def __init__(self, drawn: _SwappedMetric) -> None:
        self.drawn = drawn
        root = drawn.swaps.root
        low, high = drawn.counts_at(root.low), drawn.counts_at(root.high)
        self.best = max(sum(low), sum(high))
        self._heap: list[tuple[int, float, tuple[int, int], tuple[int, int], _Interval]] = []
        self._push(root, low, high)

    @property
    def bound(self) -> int:
        return max(self.best, -self._heap[0][0]) if self._heap else self.best

    @property
    def slack(self) -> int:
        """The difference of `bound` and `best`; 0 when the search is complete."""
        return self.bound - self.best

    def _push(self, interval: _Interval, low: tuple[int, int], high: tuple[int, int]) -> None:
        bound = low[1] + high[0]  # concordant pairs only shrink with epsilon, pairs tied in both only grow
        if bound > self.best and interval.high.epsilon > interval.low.epsilon:
            heapq.heappush(self._heap, (-bound, interval.low.epsilon, low, high, interval))

    def refine(self) -> None:
        """Bisect or enumerate the interval with the highest bound."""
        _, _, low, high, interval = heapq.heappop(self._heap)
        swaps = self.drawn.swaps
        if interval.count <= LEAF:
            left, right, sign, last = swaps.pairs_of(interval)
            if len(last):
                gained = np.cumsum(sign * self.drawn.weight[left] * self.drawn.weight[right])
                self.best = max(self.best, sum(low) + int(gained[last].max()))
            return
        halves = swaps.halves_of(interval)
        if not halves:
            return
        split = self.drawn.counts_at(halves[0].high)
        self.best = max(self.best, sum(split))
        self._push(halves[0], low, split)
        if len(halves) > 1:
            self._push(halves[1], split, high)

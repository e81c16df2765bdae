"""How well a metric's scores order samples like the gold scores do: Kendall's tau and tie-calibrated pairwise accuracy.

Tie-calibrated accuracy (Deutsch et al. 2023, acc23; spec 53) calls two samples tied by the metric when their scores
differ by at most epsilon, and takes the epsilon under which most pairs agree with the gold scores. It is exact here,
over all pairs, without visiting them: with epsilon, pairs tied in both (T) only grow and concordant pairs (C) only
shrink, so T at the right end of an interval plus C at its left end bounds every epsilon in between.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.exceptions import InputInvalid

Numbers = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]

FEW, PER_CELL = 1 << 14, 2  # an interval with so few pairs, or so few per cell, is sorted: bounds would cost more


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The share of all pairs on which metric and gold agree (0 to 1), and the smallest epsilon that reaches it."""

    accuracy: float
    epsilon: float


def kendall(gold: Numbers, metric: Numbers, variant: Literal["b", "c", "23"] = "b") -> float:
    """Kendall's tau of two score vectors, -1 to 1 (spec 52).

    `b` and `c` are scipy's, NaN when a vector is constant; `23` is (C + T_both - D - T_gold - T_metric) / all pairs
    (Deutsch et al. 2023). Raises InputInvalid for unequal lengths, fewer than two items, NaN or infinity.
    """
    gold_scores, scores = _vectors(gold, metric)
    if variant == "23":
        pairs = _Pairs(gold_scores, scores)
        return 2 * pairs.at(0.0).agreeing / pairs.total - 1
    from scipy.stats import kendalltau

    return float(kendalltau(gold_scores, scores, variant=variant).statistic)  # pyright: ignore


def tie_calibrated_accuracy(gold: Numbers, metric: Numbers) -> TieCalibration:
    """Best (C + T_both) / all pairs over epsilon in {0, every |difference| of the metric}; the smallest best one wins.

    Gold ties are exact; differences are compared as computed in float64. The value is in-sample: epsilon is chosen on
    the pairs it is reported for, as in the reference. Raises InputInvalid as `kendall` does.
    """
    return _calibration(_best(pairs := _Pairs(*_vectors(gold, metric))), pairs.total)


def sampled_tie_calibration(gold: Numbers, metric: Numbers, pairs: int = 10**6, seed: int = 0) -> TieCalibration:
    """The same on about `pairs` random pairs, each kept with equal chance, as ExCAM §4 limits it (spec 53).

    Exact where there are no more pairs. Raises InputInvalid as `kendall` does, or for `pairs` below 1.
    """
    if pairs < 1:
        raise InputInvalid(f"sampled tie calibration got pairs={pairs}, expected at least 1")
    gold_scores, scores = _vectors(gold, metric)
    total = len(scores) * (len(scores) - 1) // 2
    if total <= pairs:
        return tie_calibrated_accuracy(gold_scores, scores)
    left, right = _random_pairs(len(scores), pairs / total, np.random.default_rng(seed))
    step, order = scores[right] - scores[left], np.sign(gold_scores[right] - gold_scores[left])
    tied = order == 0
    concordant = ~tied & (np.sign(step) == order)
    start = int(np.count_nonzero(concordant | (tied & (step == 0))))
    matters = (tied | concordant) & (step != 0)
    found = _best_of(np.abs(step[matters]), np.where(tied, 1, -1)[matters], start)
    return _calibration(max((start, 0.0), found or (start, 0.0)), max(len(step), 1))


def _calibration(best: tuple[int, float], pairs: int) -> TieCalibration:
    """Candidates are (agreeing pairs, -epsilon), so that the larger tuple is the better one, also among equals."""
    return TieCalibration(best[0] / pairs, abs(best[1]))


def _vectors(gold: ArrayLike, metric: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    vectors = []
    for name, given in (("gold", gold), ("metric", metric)):
        try:
            scores = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InputInvalid(f"{name} scores are not numbers ({problem}); leave failures out first") from problem
        with np.errstate(over="ignore", invalid="ignore"):
            if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(np.ptp(scores)):
                raise InputInvalid(
                    f"{name} scores must be one row of two or more finite numbers; leave others out first"
                )
        vectors.append(scores)
    if len(vectors[0]) != len(vectors[1]):
        raise InputInvalid(f"got {len(vectors[0])} gold and {len(vectors[1])} metric scores, expected equally many")
    return vectors[0], vectors[1]


@dataclass(frozen=True, slots=True)
class _At:
    """Agreement at one epsilon: pairs tied in both, concordant pairs; for each cell the first cell farther away."""

    epsilon: float
    reach: NDArray[np.intp]
    ties: int
    concordant: int

    @property
    def agreeing(self) -> int:
        return self.ties + self.concordant


class _Pairs:
    """All pairs of n items, counted in O(n log classes) per epsilon.

    Items alike in metric and gold are one cell; cells are sorted by metric. A wavelet matrix over their gold classes
    answers, for all cells at once, "from cell p on, how many items are of a higher class, how many of the same".
    """

    def __init__(self, gold: NDArray[np.float64], metric: NDArray[np.float64]) -> None:
        classes = np.unique(gold, return_inverse=True)[1]
        self.ranked, ranks = np.unique(metric, return_inverse=True)
        width = int(classes.max()) + 1
        cells, self.size = np.unique(ranks * width + classes, return_counts=True)
        self.rank, self.gold = np.divmod(cells, width)
        self.value = self.ranked[self.rank]
        self.total = len(gold) * (len(gold) - 1) // 2
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

    def at(self, epsilon: float) -> _At:
        """Pairs tied in both and concordant pairs when differences up to `epsilon` are metric ties."""
        reach = self._first[self._reach(epsilon)][self.rank]
        above, same = self._descend(reach)
        return _At(epsilon, reach, same - self._same, self._above - above)

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


def _best(pairs: _Pairs) -> tuple[int, float]:
    """Most agreeing pairs, and minus the smallest epsilon that gives them: best-first over intervals (low, high]."""
    low, high = pairs.at(0.0), pairs.at(float(pairs.ranked[-1] - pairs.ranked[0]))
    best = max((low.agreeing, -low.epsilon), (high.agreeing, -high.epsilon))
    heap = [(-low.concordant - high.ties, low.epsilon, low, high)] if high.epsilon > 0 else []
    while heap:
        bound, _, low, high = heapq.heappop(heap)
        if (-bound, -low.epsilon) <= best:  # heap order: every other interval is bounded no better
            break
        sizes = high.reach - low.reach
        if sizes.sum() <= max(FEW, PER_CELL * len(sizes)):
            best = max(best, _best_between(pairs, low, sizes) or best)
            continue
        middle = _middle(pairs, low, sizes)
        at_end = middle == high.epsilon  # most pairs lie at the right end, which is known: only those below it count
        if at_end:
            middle = pairs.next_below(middle)
            if middle <= low.epsilon:
                continue
        split = pairs.at(middle)
        best = max(best, (split.agreeing, -split.epsilon))
        for left, right in [(low, split)] if at_end else [(low, split), (split, high)]:
            bound = left.concordant + right.ties
            if bound > left.agreeing and (bound, -left.epsilon) > best:
                heapq.heappush(heap, (-bound, left.epsilon, left, right))
    return best


def _middle(pairs: _Pairs, low: _At, sizes: NDArray[np.intp]) -> float:
    """About the median difference of an interval: the median of 63 of its pairs of cells, evenly spread."""
    ends = np.cumsum(sizes)
    chosen = np.linspace(0, ends[-1] - 1, 63).astype(np.intp)
    left = np.searchsorted(ends, chosen, side="right")
    right = chosen - (ends - sizes - low.reach)[left]
    return float(np.median(pairs.value[right] - pairs.value[left]))


def _best_between(pairs: _Pairs, low: _At, sizes: NDArray[np.intp]) -> tuple[int, float] | None:
    """The best of an interval by listing its pairs of cells: `sizes[i]` pairs of cell i, from `low.reach[i]` on."""
    ends = np.cumsum(sizes)
    right = np.arange(ends[-1]) - np.repeat(ends - sizes - low.reach, sizes)
    step = pairs.gold[right] - np.repeat(pairs.gold, sizes)
    matters = np.flatnonzero(step >= 0)  # discordant pairs agree with the gold order under no epsilon
    left = np.searchsorted(ends, matters, side="right")
    right = right[matters]
    gain = np.where(step[matters] == 0, 1, -1) * pairs.size[left] * pairs.size[right]
    return _best_of(pairs.value[right] - pairs.value[left], gain, low.agreeing)


def _best_of(differences: NDArray[np.float64], gain: NDArray[np.int64], start: int) -> tuple[int, float] | None:
    """The best candidate when the pairs listed are tied one difference after the other. None without pairs."""
    if not len(differences):
        return None
    order = np.argsort(differences)
    steps, agreeing = differences[order], start + np.cumsum(gain[order])
    last = np.flatnonzero(np.r_[np.diff(steps) != 0, True])  # pairs at one difference are tied together
    winner = last[np.argmax(agreeing[last])]
    return int(agreeing[winner]), -float(steps[winner])


def _random_pairs(items: int, chance: float, generator: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Index pairs i < j, each kept with `chance`: gaps between kept ones are geometric."""
    expected = items * (items - 1) // 2 * chance
    kept = np.cumsum(generator.geometric(chance, size=int(expected + 10 * expected**0.5 + 10))) - 1
    end = np.cumsum(np.arange(items - 1, 0, -1))
    kept = kept[kept < end[-1]]
    left = np.searchsorted(end, kept, side="right")
    return left, items - (end[left] - kept)

"""The epsilon of tie calibration under which most pairs agree with the gold scores, exactly and over all pairs.

With growing epsilon, the number of pairs tied in both (T) only grows and that of concordant pairs (C) only shrinks: T
at the right end of an interval plus C at its left end is an upper bound for all epsilons in between. Grids of such
bounds leave short intervals (see `epsilon_grid`). These are bisected, best bound first, and enumerated pair by pair
when they are short enough.

For n continuous scores this takes about n^(4/3) operations per gold class. If nearly as many pairs agree under every
epsilon as under the best one, all pairs may have to be enumerated: n^2 operations, but no more memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from excam.stats.epsilon_grid import promising_intervals
from excam.stats.pairs import EpsilonCounts, Pairs, middle_difference

Candidate = tuple[int, float]  # (agreeing pairs, -epsilon): the larger tuple is better; the smaller epsilon wins ties

MAX_SORTED = 1 << 14  # an interval with at most so many pairs of cells is sorted
MAX_LISTED, PER_CELL = (
    1 << 22,
    64,
)  # an interval within both limits (the second per cell) is enumerated, others are bisected
PER_LINE = 128  # pairs of cells per line, when an enumerated interval is counted in lines before sorting


def best_epsilon(pairs: Pairs) -> Candidate:
    """Return the maximum of agreeing pairs, and minus the smallest epsilon that reaches it."""
    none, at_largest = pairs.counts_at(0.0), pairs.counts_at(pairs.widest)
    best = max((none.agreeing, -none.epsilon), (at_largest.agreeing, -at_largest.epsilon))
    best, intervals = promising_intervals(pairs, none, at_largest, best)
    heap: list[tuple[int, float, EpsilonCounts, EpsilonCounts]] = []
    while True:
        for low, high in intervals:
            bound = low.concordant + high.ties
            best = max(best, (high.agreeing, -high.epsilon))
            if bound > low.agreeing and (bound, -low.epsilon) > best:
                heapq.heappush(heap, (-bound, low.epsilon, low, high))
        if not heap or (-heap[0][0], -heap[0][1]) <= best:  # heap order: no other interval has a higher bound
            return best
        _, _, low, high = heapq.heappop(heap)
        count, intervals = int((high.reach - low.reach).sum()), []
        if count <= max(MAX_SORTED, min(MAX_LISTED, PER_CELL * len(pairs.value))):
            best = max(best, _best_between(pairs, low, high, best[0]) or best)
        else:
            intervals = _halves(pairs, low, high)


def _halves(pairs: Pairs, low: EpsilonCounts, high: EpsilonCounts) -> list[tuple[EpsilonCounts, EpsilonCounts]]:
    """Return two intervals with about half of the pairs each; one or none if the others contain no pairs."""
    middle = middle_difference(pairs, low.reach, high.reach - low.reach)
    if middle < high.epsilon:
        split = pairs.counts_at(middle)
        return [(low, split), (split, high)]
    middle = pairs.next_below(
        middle
    )  # most pairs are at the right end, whose counts are known: only those below it matter
    return [(low, pairs.counts_at(middle))] if middle > low.epsilon else []


def _best_between(pairs: Pairs, low: EpsilonCounts, high: EpsilonCounts, best: int) -> Candidate | None:
    """Return the best candidate of an interval if it may exceed `best` pairs, else None, by enumerating its pairs.

    The pairs are counted per line of epsilon first; only lines whose bound is at least `best` are sorted.
    """
    count = int((high.reach - low.reach).sum())
    if count <= MAX_SORTED:
        differences, gain = _concatenate(_list_pairs(pairs, low.reach, high.reach))
        return best_candidate(differences, gain, low.agreeing)
    exponent = (count // PER_LINE).bit_length() - int(np.frexp(high.epsilon - low.epsilon)[1])
    first, last = np.floor(np.ldexp([low.epsilon, high.epsilon], exponent))
    number = int(last - first) + 1

    def lines(differences: NDArray[np.float64]) -> NDArray[np.intp]:
        return (np.floor(np.ldexp(differences, exponent)) - first).astype(np.intp)

    ties, gained = np.zeros((2, number))
    for differences, gain in _list_pairs(pairs, low.reach, high.reach):
        counted = np.bincount(lines(differences), gain, number)
        gained += counted
        ties += np.maximum(counted, 0)  # all gains of one batch have the same sign
    start = low.agreeing + np.cumsum(gained) - gained
    keep = (start + ties >= max(best, start.max())) & (ties > 0)
    if not keep.any():
        return None
    start -= np.cumsum(gained * keep) - gained * keep  # the gains of kept lines are added again below
    ends = np.ldexp(first + np.flatnonzero(keep)[[0, -1]] + [0, 1], -exponent)
    reach = (pairs.reach(max(low.epsilon, np.nextafter(ends[0], 0))), pairs.reach(min(high.epsilon, ends[1])))
    batches = []
    for differences, gain in _list_pairs(pairs, *reach):
        at = keep[line := lines(differences)]
        batches.append((differences[at], gain[at], start[line[at]].astype(np.int64)))
    differences, gain, before = _concatenate(batches)
    return best_candidate(differences, gain, before)


def _list_pairs(
    pairs: Pairs, low: NDArray[np.intp], high: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Yield batches of an interval's pairs of cells: differences, and pairs of items gained by tying them."""
    for left, right, sign in pairs.pairs_between(low, high):
        yield pairs.differences(left, right), sign * pairs.size[left] * pairs.size[right]


def _concatenate(batches: Iterable[tuple[NDArray, ...]]) -> list[NDArray]:
    return [np.concatenate(row) for row in zip(*batches, strict=True)]


def best_candidate(
    differences: NDArray[np.float64], gain: NDArray[np.int64], start: int | NDArray[np.int64]
) -> Candidate | None:
    """Return the best candidate when the pairs are tied in order of their difference; None without pairs.

    `start`: number of agreeing pairs before the first one; an array has one number per pair, which then includes the
    gains of pairs below it that are not listed.
    """
    if not len(differences):
        return None
    order = np.argsort(differences)
    steps, agreeing = differences[order], np.broadcast_to(start, len(order))[order] + np.cumsum(gain[order])
    last = np.flatnonzero(np.r_[np.diff(steps) != 0, True])  # pairs at one difference are tied together
    winner = last[np.argmax(agreeing[last])]
    return int(agreeing[winner]), -float(steps[winner])

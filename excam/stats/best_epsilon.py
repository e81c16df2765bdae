"""The epsilon of tie calibration under which most pairs agree with the gold scores, exactly and over all pairs.

With growing epsilon, the number of pairs tied in both (T) only grows and that of concordant pairs (C) only shrinks: T
at the right end of an interval plus C at its left end is an upper bound for all epsilons in between. Intervals are
bisected, best bound first, and enumerated pair by pair when they are short enough.

If nearly as many pairs agree under every epsilon as under the best one, all pairs may have to be enumerated: n^2
operations, but no more memory.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from excam.stats.pairs import EpsilonCounts, Pairs, middle_difference

Candidate = tuple[int, float]  # (agreeing pairs, -epsilon): the larger tuple is better; the smaller epsilon wins ties

MOST_SORTED = 1 << 20  # pairs of cells: an interval with at most so many is enumerated, not bisected


def best_epsilon(pairs: Pairs) -> Candidate:
    """Return the maximum of agreeing pairs, and minus the smallest epsilon that reaches it."""
    none, at_largest = pairs.counts_at(0.0), pairs.counts_at(pairs.widest)
    best = max((none.agreeing, -none.epsilon), (at_largest.agreeing, -at_largest.epsilon))
    intervals = [(none, at_largest)]
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
        intervals = []
        if int((high.reach - low.reach).sum()) <= MOST_SORTED:
            best = max(best, _best_between(pairs, low, high) or best)
        else:
            intervals = _halves(pairs, low, high)


def _halves(pairs: Pairs, low: EpsilonCounts, high: EpsilonCounts) -> list[tuple[EpsilonCounts, EpsilonCounts]]:
    """Return two intervals with about half of the pairs each; one or none if the others contain no pairs."""
    middle = middle_difference(pairs, low.reach, high.reach - low.reach)
    if middle < high.epsilon:
        split = pairs.counts_at(middle)
        return [(low, split), (split, high)]
    # Most pairs are at the right end, whose counts are known: only those below it matter
    middle = pairs.next_below(middle)
    return [(low, pairs.counts_at(middle))] if middle > low.epsilon else []


def _best_between(pairs: Pairs, low: EpsilonCounts, high: EpsilonCounts) -> Candidate | None:
    """Return the best candidate of an interval by enumerating its pairs; None without one."""
    batches = [
        (pairs.differences(left, right), sign * pairs.size[left] * pairs.size[right])
        for left, right, sign in pairs.pairs_between(low.reach, high.reach)
    ]
    differences, gain = (np.concatenate(row) for row in zip(*batches, strict=True))
    return best_candidate(differences, gain, low.agreeing)


def best_candidate(differences: NDArray[np.float64], gain: NDArray[np.int64], start: int) -> Candidate | None:
    """Return the best candidate when pairs are tied in order of their difference; None without pairs.

    Args:
        differences: of the pairs
        gain: agreeing pairs that each brings when it is tied
        start: agreeing pairs before the first one
    """
    if not len(differences):
        return None
    order = np.argsort(differences)
    steps, agreeing = differences[order], start + np.cumsum(gain[order])
    last = np.flatnonzero(np.r_[np.diff(steps) != 0, True])  # pairs at one difference are tied together
    winner = last[np.argmax(agreeing[last])]
    return int(agreeing[winner]), -float(steps[winner])

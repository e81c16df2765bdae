"""The epsilon of tie calibration under which most pairs agree with the gold scores, exactly and over all pairs.

With epsilon, pairs tied in both (T) only grow and concordant pairs (C) only shrink (spec 53): T at the right end of an
interval plus C at its left end bounds every epsilon in between. Grids of such bounds leave short intervals (see
`epsilon_grid`); these are searched best first, by halves, and listed pair by pair when they are short enough.

For n continuous scores that is about n^(4/3) operations for each gold class. Where scores make nearly as many pairs
agree under every epsilon as under the best one, all pairs may have to be listed: n^2 operations, but no more memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from excam.metaeval.epsilon_grid import promising
from excam.metaeval.pairs import At, Pairs, middle_difference

Candidate = tuple[int, float]  # (agreeing pairs, -epsilon): the larger tuple is the better one, also among equals

SORTED = 1 << 14  # an interval with so few pairs of cells is sorted
LISTED, PER_CELL = 1 << 22, 64  # one with no more than both (the latter for each cell) is listed, others are halved
PER_LINE = 128  # pairs of cells for each of the lines that a listed interval is counted in before it is sorted


@np.errstate(over="ignore")  # beyond the largest float lies no score
def best_epsilon(pairs: Pairs) -> Candidate:
    """Most agreeing pairs, and minus the smallest epsilon that gives them."""
    none, every = pairs.at(0.0), pairs.at(float(pairs.ranked[-1] - pairs.ranked[0]))
    best = max((none.agreeing, -none.epsilon), (every.agreeing, -every.epsilon))
    best, intervals = promising(pairs, none, every, best)
    heap: list[tuple[int, float, At, At]] = []
    while True:
        for low, high in intervals:
            bound = low.concordant + high.ties
            best = max(best, (high.agreeing, -high.epsilon))
            if bound > low.agreeing and (bound, -low.epsilon) > best:
                heapq.heappush(heap, (-bound, low.epsilon, low, high))
        if not heap or (-heap[0][0], -heap[0][1]) <= best:  # heap order: every other interval is bounded no better
            return best
        _, _, low, high = heapq.heappop(heap)
        count, intervals = int((high.reach - low.reach).sum()), []
        if count <= max(SORTED, min(LISTED, PER_CELL * len(pairs.value))):
            best = max(best, _best_between(pairs, low, high, best[0]) or best)
        else:
            intervals = _halves(pairs, low, high)


def _halves(pairs: Pairs, low: At, high: At) -> list[tuple[At, At]]:
    """Two intervals with about half the pairs each; one, or none, where the others have no pair inside."""
    middle = middle_difference(pairs, low.reach, high.reach - low.reach)
    if middle < high.epsilon:
        split = pairs.at(middle)
        return [(low, split), (split, high)]
    middle = pairs.next_below(middle)  # most pairs lie at the right end, which is known: only those below it count
    return [(low, pairs.at(middle))] if middle > low.epsilon else []


def _best_between(pairs: Pairs, low: At, high: At, best: int) -> Candidate | None:
    """The best of an interval if it is better than `best` pairs: its pairs of cells are listed.

    They are counted by lines of epsilon first, and only lines whose bound is not below the best are sorted.
    """
    count = int((high.reach - low.reach).sum())
    if count <= SORTED:
        differences, gain = _joined(_listed(pairs, low.reach, high.reach))
        return best_of(differences, gain, low.agreeing)
    exponent = (count // PER_LINE).bit_length() - int(np.frexp(high.epsilon - low.epsilon)[1])
    exponent = min(exponent, 1074, 1022 - int(np.frexp(high.epsilon)[1]))
    first, last = np.floor(np.ldexp([low.epsilon, high.epsilon], exponent))
    number = int(last - first) + 1

    def lines(differences: NDArray[np.float64]) -> NDArray[np.intp]:
        return (np.floor(np.ldexp(differences, exponent)) - first).astype(np.intp)

    ties, gained = np.zeros((2, number))
    for differences, gain in _listed(pairs, low.reach, high.reach):
        counted = np.bincount(lines(differences), gain, number)
        gained += counted
        ties += np.maximum(counted, 0)  # gains of one batch have one sign
    start = low.agreeing + np.cumsum(gained) - gained
    keep = (start + ties >= max(best, start.max())) & (ties > 0)
    if not keep.any():
        return None
    start -= np.cumsum(gained * keep) - gained * keep  # what the lines kept gain is added up again
    ends = np.ldexp(first + np.flatnonzero(keep)[[0, -1]] + [0, 1], -exponent)
    reach = (pairs.reach(max(low.epsilon, np.nextafter(ends[0], 0))), pairs.reach(min(high.epsilon, ends[1])))
    found = []
    for differences, gain in _listed(pairs, *reach):
        at = keep[line := lines(differences)]
        found.append((differences[at], gain[at], start[line[at]].astype(np.int64)))
    differences, gain, before = _joined(found)
    return best_of(differences, gain, before)


def _listed(
    pairs: Pairs, low: NDArray[np.intp], high: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """In batches, the differences of an interval's pairs of cells and how many pairs of items tying them gains."""
    for left, right, sign in pairs.between(low, high):
        yield pairs.value[right] - pairs.value[left], sign * pairs.size[left] * pairs.size[right]


def _joined(batches: Iterable[tuple[NDArray, ...]]) -> list[NDArray]:
    return [np.concatenate(row) for row in zip(*batches, strict=True)]


def best_of(
    differences: NDArray[np.float64], gain: NDArray[np.int64], start: int | NDArray[np.int64]
) -> Candidate | None:
    """The best candidate when the pairs listed are tied one difference after the other. None without pairs.

    `start`: how many agree before; with one for each pair, what leaving out pairs below it changes is in it.
    """
    if not len(differences):
        return None
    order = np.argsort(differences)
    steps, agreeing = differences[order], np.broadcast_to(start, len(order))[order] + np.cumsum(gain[order])
    last = np.flatnonzero(np.r_[np.diff(steps) != 0, True])  # pairs at one difference are tied together
    winner = last[np.argmax(agreeing[last])]
    return int(agreeing[winner]), -float(steps[winner])

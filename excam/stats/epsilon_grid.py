"""Bounds on tie-calibrated agreement for a grid of epsilons, and the intervals that can contain the best one.

Metric scores are put into bins whose width w is a power of two, a whole number of units: two scores d bins apart
differ by more than d - 1 and less than d + 1 widths, and rounded by no less and no more than these. The
numbers of gold ties and of concordant pairs at each distance are sums of correlations of the gold classes' histograms,
which the fast Fourier transform computes for all distances together. With epsilon in [d w, (d + 1) w) no pair more than
d + 1 bins apart is a metric tie and every pair fewer than d apart is one, which bounds the number of agreeing pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.stats.pairs import EpsilonCounts, Pairs

FIRST = 16  # length of the first transforms per cell in total: costs as much as counting at a few epsilons
SHORTEST, LONGEST = 1 << 8, 1 << 20  # length of a transform
FINER = 4  # factor of length for the next grid
WORTH = 1  # pairs of cells enumerated in the time of one element of a transform
APART = 8  # pairs per cell between two runs that cost as much as counting at the ends of a run
ITEMS = 1 << 20  # for many more items the rounding error of the transform could reach one half


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a grid: line d has the epsilons in [d w, (d + 1) w), w = 2 ** -exponent; one array element per line."""

    exponent: int
    bound: NDArray[np.int64]  # upper bound of agreeing pairs for any epsilon of the line
    guess: NDArray[np.float64]  # estimate of agreeing pairs at its start
    gaining: NDArray[
        np.bool_
    ]  # whether a gold tie can be on it; otherwise it does not contain the smallest best epsilon
    load: NDArray[np.float64]  # estimated number of pairs of cells on it

    def start(self, line: int) -> float:
        return float(np.ldexp(float(line), -self.exponent))


def promising_intervals(
    pairs: Pairs, none: EpsilonCounts, at_largest: EpsilonCounts, best: tuple[int, float]
) -> tuple[tuple[int, float], list[tuple[EpsilonCounts, EpsilonCounts]]]:
    """Return a `best` at least as good, and the intervals (low, high] that contain all better epsilons.

    `none` and `at_largest` are the counts at epsilon 0 and at the largest difference; `best` is (agreeing pairs,
    -epsilon). An epsilon found here need not be a difference, but then the smallest best difference below it is in an
    interval. Grids are refined until enumerating the remaining pairs is cheaper.
    """
    runs, top = [], at_largest.epsilon
    left, transforms = int((at_largest.reach - none.reach).sum()), pairs.classes + 2
    places = 1 << max(min(FIRST * len(pairs.value) // transforms, LONGEST // FINER).bit_length() - 1, 0)
    while SHORTEST <= places <= LONGEST and left > WORTH * transforms * places and pairs.items < ITEMS:
        lines = build_grid(pairs, none, top, places)
        at = pairs.counts_at(min(lines.start(int(np.argmax(lines.guess))), at_largest.epsilon))
        best = max(best, (at.agreeing, -at.epsilon))
        keep = np.flatnonzero((lines.bound >= best[0]) & lines.gaining)
        if not len(keep):
            return best, []
        runs = _runs(lines, keep, APART * len(pairs.value), at_largest.epsilon)
        top = runs[-1][1]
        left, places = int(lines.load[keep].sum()), places * FINER
    return best, [(pairs.counts_at(low), pairs.counts_at(high)) for low, high in runs] or [(none, at_largest)]


def _runs(lines: Lines, keep: NDArray[np.intp], apart: int, largest: float) -> list[tuple[float, float]]:
    """Return the kept lines as intervals (low, high], merging those with few pairs between them."""
    load = np.r_[0, np.cumsum(lines.load)]
    cut = np.flatnonzero(load[keep[1:]] - load[keep[:-1] + 1] > apart)
    first, last = keep[np.r_[0, cut + 1]], keep[np.r_[cut, len(keep) - 1]]
    low = [float(np.nextafter(lines.start(line), 0)) for line in first.tolist()]
    return [(lower, min(lines.start(line + 1), largest)) for lower, line in zip(low, last.tolist(), strict=True)]


def build_grid(pairs: Pairs, none: EpsilonCounts, top: float, places: int) -> Lines:
    """Return the finest grid of the epsilons up to `top` that fits in transforms of length `places`."""
    exponent, number, bins = _bins(pairs.ranked, top, places)
    bins = bins[pairs.rank]
    ties, concordant, load = _by_distance(pairs, bins, number + 1, places)
    tied, lost = np.cumsum(ties), np.cumsum(concordant)
    beyond = pairs.counts_for_reach(top, np.searchsorted(bins, bins, side="right")).concordant  # of different bins
    left = beyond - np.r_[0, lost[:-2]]  # concordant pairs that not every epsilon of the line ties
    left[0] = none.concordant
    guess = left + np.r_[0, tied[:-2]] + (ties - concordant)[:-1] / 2
    guess[0] = none.agreeing
    return Lines(exponent, tied[1:] + left, guess, ties[1:] + ties[:-1] > 0, (load[1:] + load[:-1]) / 2)


def _bins(ranked: NDArray[np.float64], top: float, places: int) -> tuple[int, int, NDArray[np.int64]]:
    """Return minus the binary logarithm of the width, the number of lines up to `top`, and the bin of each rank.

    Gaps wider than `top` are shortened to slightly more bins than lines, since pairs across them do not matter.
    """
    sum_of_gaps = np.sum(np.minimum(np.diff(ranked), top)) + top
    exponent = min(0, places.bit_length() - 1 - int(np.frexp(sum_of_gaps)[1]))
    while True:
        number = int(np.ldexp(top, exponent)) + 1
        steps = np.minimum(np.diff(np.floor(np.ldexp(ranked, exponent))), number + 1).astype(np.int64)
        if int(steps.sum()) + number + 2 <= places:
            return exponent, number, np.r_[0, np.cumsum(steps)]
        exponent -= 1


def _by_distance(pairs: Pairs, bins: NDArray[np.int64], lags: int, places: int) -> tuple[NDArray[np.int64], ...]:
    """Return per distance in bins: pairs of items tied in gold, concordant pairs (0 within a bin), pairs of cells.

    Counts are whole numbers, and the transform's error is far below one half.
    """
    by_class = np.argsort(pairs.gold, kind="stable")
    ends = np.searchsorted(pairs.gold[by_class], np.arange(1, pairs.classes))
    lower, ties, concordant = np.zeros((3, places // 2 + 1), dtype=np.complex128)
    for cells in np.split(by_class, ends):
        here = np.fft.rfft(np.bincount(bins[cells], weights=pairs.size[cells], minlength=places))
        ties += here * here.conj()
        concordant += lower.conj() * here
        lower += here
    ties, concordant = _counts(ties, lags), _counts(concordant, lags)
    ties[0], concordant[0] = (ties[0] - pairs.items) // 2, 0
    if len(bins) == pairs.items:
        return ties, concordant, ties + concordant
    spectrum = np.fft.rfft(np.bincount(bins, minlength=places))
    return ties, concordant, _counts(spectrum * spectrum.conj(), lags)


def _counts(spectrum: NDArray[np.complex128], lags: int) -> NDArray[np.int64]:
    return np.rint(np.fft.irfft(spectrum)[:lags]).astype(np.int64)

"""Permutation tests for the difference of two metrics' correlations with gold scores (ExCAM Table 4, underlined).

PERM-BOTH (Deutsch et al. 2021, "A Statistical Analysis of Summarization Evaluation Metrics using Resampling Methods"):
under the null hypothesis the two metrics are interchangeable, so their scores are swapped at random within each cluster
(all rows of a base sample, or a single item), and both correlations are computed again. Scores are first standardised
by each metric's mean and deviation over all items, because a swap would otherwise mix two scales; this does not change
Kendall's tau or tie-calibrated accuracy. Epsilon is calibrated again for both metrics in every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import by_content, cluster_numbers, content_keys
from excam.stats.correlation import Numbers, Scores, score_vectors, tie_calibrated_accuracy
from excam.stats.grouped_pairs import GroupedPairs, PairSums
from excam.stats.permutation import swap_masks
from excam.stats.swapped_pairs import AgreementSearch, SwappedPairs

Measure = Literal["kendall", "tie-calibrated"]
Row = NDArray[np.float64]
Correlations = Callable[[NDArray[np.bool_]], tuple[float, float]]  # of both metrics, after this swap of items
Hit = Callable[[NDArray[np.bool_]], bool]  # whether this swap gives a difference at least as large as the observed one

ROUNDING = 1e-12  # differences of tau-b up to this are rounding
BITS = 24  # precision of scale and shift; with few bits, equal differences of integers stay equal


@dataclass(frozen=True, slots=True)
class CorrelationPermutation:
    """A p-value for the difference of two correlations, and the numbers behind it."""

    p_value: float
    a: float  # the correlation of metric a; tau-b is -1 to 1, tie-calibrated accuracy 0 to 1
    b: float
    difference: float  # a - b
    n: int  # items that both metrics scored
    left_out: int  # items without a score of one or both
    clusters: int  # units that are swapped; n if the test is at row level
    draws: int
    measure: Measure
    sides: Literal["two-sided"] = "two-sided"


def correlation_permutation(
    gold: Numbers,
    a: Scores,
    b: Scores,
    *,
    measure: Measure = "kendall",
    clusters: Sequence[Hashable] | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> CorrelationPermutation:
    """Test the difference in correlation of metrics a and b with gold scores, two-sided: PERM-BOTH, (hits+1)/(draws+1).

    None is a failure: an item that one of the metrics failed is left out for both and counted. Neither the order of
    items nor that of the metrics decides the draws. A draw with constant scores has tau-b 0. Raise InputInvalid for
    unequal lengths, fewer than two items left, NaN or infinity, no draws, another measure, and for tau-b when gold, a
    or b is constant.

    Args:
        gold: the scores that both metrics are compared with, of each item
        a: those of the first metric
        b: those of the second metric
        measure: Kendall's tau-b, or the tie-calibrated accuracy
        clusters: the name of each item's cluster, which is swapped as a whole; without it, each item is one
        draws: random swaps
        seed: of these
    """
    if draws < 1 or measure not in ("kendall", "tie-calibrated"):
        raise InputInvalid(
            f"correlation test got measure={measure!r}, draws={draws}, expected kendall or tie-calibrated, and >= 1"
        )
    items, scores = _items_with_both_scores(gold, a, b)
    if measure == "kendall" and any(np.ptp(row) == 0 for row in scores):
        raise InputInvalid("Kendall's tau got a row of equal scores, which orders nothing; leave that metric out")
    gold_scores, rows = scores[0], [standardise(row) for row in scores[1:]]
    number, turned = _units(cluster_numbers(clusters, len(gold))[items], gold_scores, *rows)
    found_a, found_b, hit = _observed_and_test(measure, gold_scores, rows[0], rows[1])
    masks = swap_masks(int(number.max()) + 1, draws, np.random.default_rng(seed))
    hits = sum(hit(swap.astype(bool)[number] ^ turned) for batch in masks for swap in batch)
    return CorrelationPermutation(
        p_value=(hits + 1) / (draws + 1),
        a=found_a,
        b=found_b,
        difference=found_a - found_b,
        n=len(items),
        left_out=len(gold) - len(items),
        clusters=int(number.max()) + 1,
        draws=draws,
        measure=measure,
    )


def _units(number: NDArray[np.intp], gold: Row, a: Row, b: Row) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the clusters numbered by content, whichever metric is first, and of which items that is b.

    A draw then swaps the same scores in any order of the items and of the metrics.
    """
    number = np.unique(number, return_inverse=True)[1]
    first, second = np.unique(np.concatenate([a, b]), return_inverse=True)[1].reshape(2, -1)
    keys, turned = content_keys(number, gold, first, second), content_keys(number, gold, second, first)
    return by_content(number, np.minimum(keys, turned)[number]), (keys > turned)[number]


def standardise(scores: Row) -> Row:
    """Return scores with mean 0 and population deviation 1, to about 7 digits; all 0 if they are constant.

    Scale and shift have few bits, so that equal differences of integers (severity scores) stay exactly equal, because
    tie calibration groups pairs by their difference.
    """
    spread = np.ptp(scores)
    if spread == 0:
        return np.zeros(len(scores))
    moved = np.ldexp(scores - scores.min(), -np.frexp(spread)[1])  # no overflow in squares
    ordered = np.sort(moved)  # sums are rounded alike in any order
    scale = _round_to_bits(1 / float(ordered.std()))
    return moved * scale - _round_to_bits(float(ordered.mean()) * scale)


def _round_to_bits(value: float) -> float:
    mantissa, exponent = np.frexp(value)
    return float(np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS))


def _items_with_both_scores(gold: Numbers, a: Scores, b: Scores) -> tuple[NDArray[np.intp], list[Row]]:
    """Return the indices of items that both metrics scored, and their gold scores and both metrics' scores."""
    if not len(gold) == len(a) == len(b):
        raise InputInvalid(f"got {len(gold)} gold scores and {len(a)} and {len(b)} scores, expected equally many")
    places = np.array([i for i, pair in enumerate(zip(a, b, strict=True)) if None not in pair], dtype=np.intp)
    if len(places) < 2:
        raise InputInvalid(f"{len(places)} of {len(gold)} items have a score from both metrics, expected two or more")
    gold_scores, first = score_vectors([gold[i] for i in places], [a[i] for i in places])
    return places, [gold_scores, first, score_vectors(gold_scores, [b[i] for i in places])[1]]


def _observed_and_test(measure: Measure, gold: Row, a: Row, b: Row) -> tuple[float, float, Hit]:
    """Return both observed correlations, and a function that tests whether a swap is as extreme."""
    if measure == "kendall":
        correlations = _taus_after_swapping(gold, a, b)
    else:
        swaps = SwappedPairs(gold, a, b)
        if swaps.fits_in_table:
            first, second = (tie_calibrated_accuracy(gold, scores).accuracy for scores in (a, b))
            agreeing = round(first * swaps.total) - round(second * swaps.total)  # as integers, so that ties are exact
            return first, second, partial(_calibrated_hit, swaps, agreeing)
        correlations = _accuracies_after_swapping(gold, a, b)
    first, second = correlations(np.zeros(len(gold), dtype=bool))

    def hit(swap: NDArray[np.bool_]) -> bool:
        swapped_first, swapped_second = correlations(swap)
        return abs(swapped_first - swapped_second) >= abs(first - second) - ROUNDING

    return first, second, hit


def _taus_after_swapping(gold: Row, a: Row, b: Row) -> Correlations:
    """Return a function from swaps to both metrics' tau-b; 0 if all scores of one are then equal."""
    pairs = GroupedPairs(np.concatenate([gold, gold]), np.concatenate([a, b]))
    first, second = pairs.cell[: len(gold)], pairs.cell[len(gold) :]
    both = np.bincount(pairs.cell, minlength=pairs.cells)

    def taus(swap: NDArray[np.bool_]) -> tuple[float, float]:
        items = np.bincount(np.where(swap, second, first), minlength=pairs.cells)
        return _tau(pairs.sums_of_cells(items)), _tau(pairs.sums_of_cells(both - items))

    return taus


def _tau(sums: PairSums) -> float:
    return 0.0 if np.isnan(sums.tau_b) else sums.tau_b


def _accuracies_after_swapping(gold: Row, a: Row, b: Row) -> Correlations:
    """Return a function from swaps to both metrics' tie-calibrated accuracy, for gold scores with very many values."""

    def accuracies(swap: NDArray[np.bool_]) -> tuple[float, float]:
        first, second = (np.where(swap, *rows) for rows in ((b, a), (a, b)))
        return tie_calibrated_accuracy(gold, first).accuracy, tie_calibrated_accuracy(gold, second).accuracy

    return accuracies


def _calibrated_hit(swaps: SwappedPairs, observed: int, swap: NDArray[np.bool_]) -> bool:
    """Return whether a swap is as extreme, refining both calibrations only as far as needed; ties are exact."""
    if observed == 0:
        return True
    first, second = (AgreementSearch(drawn) for drawn in swaps.after_swapping(swap))
    least = abs(observed)
    while True:
        low, high = first.best - second.bound, first.bound - second.best
        if low >= least or high <= -least:
            return True
        if -least < low and high < least:
            return False
        max(first, second, key=lambda search: search.slack).refine()

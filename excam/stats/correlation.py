"""Agreement of a metric's ranking with gold scores: Kendall's tau and tie-calibrated pairwise accuracy.

Tie-calibrated accuracy (Deutsch et al. 2023, acc23) treats two samples as tied by the metric if their scores differ by
at most epsilon, with the epsilon for which most pairs agree with the gold scores. The implementation is exact over all
pairs, without enumerating them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.best_epsilon import best_candidate, best_epsilon
from excam.stats.clusters import by_content, cluster_numbers
from excam.stats.pairs import Pairs, in_units

PAIRS_AT_ONCE = 1 << 18  # of rows of one item, held in memory

Numbers = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
Scores = Sequence[float | None] | NDArray[np.floating] | NDArray[np.integer]  # None: the item has no score


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The share of all pairs on which metric and gold agree (0 to 1), and the smallest epsilon that reaches it."""

    accuracy: float
    epsilon: float


def kendall(gold: Numbers, metric: Numbers, variant: Literal["b", "c", "23"] = "b") -> float:
    """Return Kendall's tau of two score vectors, -1 to 1.

    `b` and `c` as in scipy, NaN if a vector is constant; `23` is (C + T_both - D - T_gold - T_metric) / all pairs
    (Deutsch et al. 2023). Differences of the metric are rounded as `pairs` says. Raise InputInvalid for unequal
    lengths, fewer than two items, NaN or infinity.
    """
    gold_scores, scores = score_vectors(gold, metric)
    if variant not in ("b", "c", "23"):
        raise InputInvalid(f"variant: found {variant}; expected b, c or 23")
    pairs = Pairs(gold_scores, scores)
    counts = pairs.counts_at(0.0)
    if variant == "23":
        return 2 * counts.agreeing / pairs.total - 1
    tied = [int((many * (many - 1)).sum()) // 2 for many in pairs.items_of_values()]
    if pairs.total in tied:
        return float("nan")
    lead = 2 * counts.concordant - (pairs.total - sum(tied) + counts.ties)  # concordant minus discordant pairs
    if variant == "c":
        fewest = min(pairs.classes, len(pairs.ranked))
        return lead * 2 / (pairs.items**2 * (fewest - 1) / fewest)
    return max(-1.0, min(1.0, lead / sqrt(pairs.total - tied[0]) / sqrt(pairs.total - tied[1])))


def tie_calibrated_accuracy(gold: Numbers, metric: Numbers) -> TieCalibration:
    """Return the maximum of (C + T_both) / all pairs over epsilon in {0, every |difference| of the metric}.

    The smallest best epsilon is returned. Gold ties are exact; differences are rounded as `pairs` says. The
    value is in-sample, as in the reference: epsilon is chosen on the same pairs. Raise InputInvalid as `kendall` does.
    """
    pairs = Pairs(*score_vectors(gold, metric))
    agreeing, epsilon = best_epsilon(pairs)
    return TieCalibration(agreeing / pairs.total, pairs.converted(abs(epsilon)))


def tie_calibration_by_item(gold: Numbers, metric: Numbers, items: Sequence[str]) -> TieCalibration | None:
    """Return the mean over items of the share of agreeing pairs within one, at the common epsilon that is best for it.

    As mt-metrics-eval averages by item, e.g. segments that several systems translated. Items with one row have no pair
    and are left out; None if that is all of them. Pairs are enumerated: items should
    have at most thousands of rows. Raise InputInvalid as `kendall` does.
    """
    if len(items) < 2:
        return None
    gold_scores, scores = score_vectors(gold, metric)
    scores, converted = in_units(scores)
    if len(items) != len(scores):
        raise InputInvalid(f"got {len(scores)} scores and {len(items)} items, expected equally many")
    number = by_content(cluster_numbers(items, len(items)), gold_scores, scores)
    by_item = np.argsort(number, kind="stable")
    sizes = np.bincount(number)
    pairs = sizes * (sizes - 1) // 2
    if not pairs.any():
        return None
    weights = np.divide(1, pairs, out=np.zeros(len(pairs)), where=pairs > 0) / np.count_nonzero(pairs)
    differences, gains, start = [], [], 0.0
    for first, after in _pairs_in_items(sizes):
        left = np.repeat(np.arange(first, first + len(after)), after)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(after) - after, after)
        item = number[by_item[left]]
        step = np.rint(scores[by_item[right]] - scores[by_item[left]])
        order = np.sign(gold_scores[by_item[right]] - gold_scores[by_item[left]])
        is_right = np.sign(step) == order
        agreeing = np.bincount(item, weights=is_right, minlength=len(sizes))
        start = float(np.cumsum(np.r_[start, (weights * agreeing)[item[0] : item[-1] + 1]])[-1])  # one after the other
        matters = (step != 0) & ((order == 0) | is_right)
        differences.append(np.abs(step[matters]))
        gains.append(np.where(order == 0, weights[item], -weights[item])[matters])
    steps, at = np.unique(np.concatenate(differences), return_inverse=True)
    shares = start + np.r_[0.0, np.cumsum(np.bincount(at, np.concatenate(gains), len(steps)))]
    best = int(np.argmax(shares > shares.max() - 1e-9))  # the smallest epsilon, whatever the sums are rounded to
    return TieCalibration(float(shares[best]), converted(float(np.r_[0.0, steps][best])))


def _pairs_in_items(sizes: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield rows of whole items, by the first of them, and of each row how many of its item come after it.

    Rows are sorted by item; at most about `PAIRS_AT_ONCE` pairs, but at least those of an item.
    """
    ends = np.cumsum(sizes)
    after = np.repeat(ends, sizes) - np.arange(1, ends[-1] + 1)
    part = np.cumsum(sizes * (sizes - 1) // 2) // PAIRS_AT_ONCE
    last = np.flatnonzero(np.r_[np.diff(part) != 0, True])
    for begin, end in pairwise([0, *ends[last].tolist()]):
        if after[begin:end].any():
            yield begin, after[begin:end]


def sampled_tie_calibration(gold: Numbers, metric: Numbers, pairs: int = 10**6, seed: int = 0) -> TieCalibration:
    """Return the tie-calibrated accuracy on about `pairs` random pairs, the limit of ExCAM §4.

    Each pair is sampled with equal probability; exact if there are no more pairs. Raise InputInvalid as `kendall` does,
    or for `pairs` below 1.
    """
    if pairs < 1:
        raise InputInvalid(f"sampled tie calibration got pairs={pairs}, expected at least 1")
    gold_scores, scores = score_vectors(gold, metric)
    total = len(scores) * (len(scores) - 1) // 2
    if total <= pairs:
        return tie_calibrated_accuracy(gold_scores, scores)
    by_content = np.lexsort((scores, gold_scores))  # so that the order of items decides nothing
    (scores, converted), gold_scores = in_units(scores[by_content]), gold_scores[by_content]
    left, right = _random_pairs(len(scores), pairs / total, np.random.default_rng(seed))
    step, order = np.rint(scores[right] - scores[left]), np.sign(gold_scores[right] - gold_scores[left])
    tied = order == 0
    concordant = ~tied & (np.sign(step) == order)
    start = int(np.count_nonzero(concordant | (tied & (step == 0))))
    matters = (tied | concordant) & (step != 0)
    candidate = best_candidate(np.abs(step[matters]), np.where(tied, 1, -1)[matters], start)
    agreeing, epsilon = max((start, 0.0), candidate or (start, 0.0))
    return TieCalibration(agreeing / max(len(step), 1), converted(abs(epsilon)))


def score_vectors(gold: ArrayLike, metric: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both as float64 vectors. Raise InputInvalid unless both have the same two or more finite numbers."""
    rows = []
    for name, values in (("gold", gold), ("metric", metric)):
        try:
            scores = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InputInvalid(f"{name} scores are not numbers ({problem}); leave failures out first") from problem
        with np.errstate(over="ignore", invalid="ignore"):
            if scores.ndim != 1 or len(scores) < 2 or not np.isfinite(np.ptp(scores)):
                raise InputInvalid(
                    f"{name} scores must be one row of two or more finite numbers; leave others out first"
                )
        rows.append(scores)
    if len(rows[0]) != len(rows[1]):
        raise InputInvalid(f"got {len(rows[0])} gold and {len(rows[1])} metric scores, expected equally many")
    return rows[0], rows[1]


def _random_pairs(items: int, chance: float, generator: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return random index pairs i < j, each with probability `chance`; the gaps between them are geometric."""
    expected = items * (items - 1) // 2 * chance
    places = np.cumsum(generator.geometric(chance, size=int(expected + 10 * expected**0.5 + 10))) - 1
    end = np.cumsum(np.arange(items - 1, 0, -1))
    places = places[places < end[-1]]
    left = np.searchsorted(end, places, side="right")
    return left, items - (end[left] - places)

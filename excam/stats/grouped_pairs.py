"""Pairs of items inside groups (a language, a question), and how often a metric orders them as the labels do.

All numbers follow from C (concordant pairs), D (discordant), and the pairs whose labels or scores differ: Kendall's
tau-b is (C - D) / sqrt(different labels x different scores), and the share of ordered pairs, ties half, is
(1 + (C - D) / different labels) / 2, which is the AUC for labels of two values. Items may have weights, so a draw of a
bootstrap is a vector of counts and not a copy of the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.stats.clusters import cluster_numbers
from excam.stats.correlation import Numbers, kendall, score_vectors

TABLE = 1 << 21  # cells of scores x labels that are counted at once; larger ones are sorted in each draw
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class PairSums:
    """Weighted numbers of pairs inside each group, each of shape (groups,)."""

    balance: Floats  # concordant minus discordant
    labels_differ: Floats
    scores_differ: Floats

    @property
    def tau_b(self) -> float:
        """Return Kendall's tau-b of the pairs of all groups, -1 to 1; NaN where labels or scores never differ."""
        untied = float(self.labels_differ.sum()) * float(self.scores_differ.sum())
        return float(self.balance.sum()) / untied**0.5 if untied > 0 else float("nan")

    @property
    def ordered(self) -> float:
        """Return the share of pairs with different labels that the scores order alike, ties half; NaN without any."""
        pairs = float(self.labels_differ.sum())
        return (1 + float(self.balance.sum()) / pairs) / 2 if pairs > 0 else float("nan")


class GroupedPairs:
    """The pairs of n items that are in one group; without `groups` all items are in one."""

    def __init__(self, gold: Numbers, scores: Numbers, groups: Sequence[Hashable] | None = None) -> None:
        """Prepare the counting. Raise InputInvalid for other than two or more finite numbers of equal length."""
        labels, values = score_vectors(gold, scores)
        self.n = len(labels)
        group = np.zeros(self.n, np.intp) if groups is None else cluster_numbers(groups, self.n)
        self.groups = int(group.max()) + 1
        self._level, level_group = _dense(group, values)
        self._label, self._classes = _ranks_in_groups(group, labels)
        self._first = np.searchsorted(level_group, np.arange(self.groups))
        self._start = self._first[level_group]  # of each level, the first level of its group
        self._fits = len(level_group) * self._classes <= TABLE
        self._sorted = None if self._fits else (labels, values, group)

    def sums(self, weights: Floats | None = None) -> PairSums:
        """Return the numbers of pairs where each item stands for `weights` items, by default one, shape (n,)."""
        weights = np.ones(self.n) if weights is None else np.asarray(weights, dtype=np.float64)
        cells = len(self._start)
        level = np.bincount(self._level, weights=weights, minlength=cells).astype(np.float64)
        of_scores = self._by_group(level)
        scores_differ = (of_scores**2 - self._by_group(level**2)) / 2
        if self._sorted is not None:
            return _sums_by_sorting(*self._sorted, weights, self.groups, scores_differ)
        places = self._level * self._classes + self._label
        table = np.bincount(places, weights=weights, minlength=cells * self._classes).reshape(cells, self._classes)
        label = np.add.reduceat(table, self._first, axis=0)
        before = np.cumsum(table, axis=0) - table  # items with lower scores, by label
        before -= before[self._start]
        lower = np.cumsum(before, axis=1)
        signed = 2 * lower - before - lower[:, -1:]  # with a lower label minus with a higher one
        return PairSums(
            balance=self._by_group((table * signed).sum(axis=1)),
            labels_differ=(of_scores**2 - (label**2).sum(axis=1)) / 2,
            scores_differ=scores_differ,
        )

    def _by_group(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self._first)


def _dense(group: NDArray[np.intp], values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of each item's pair of group and value, in their order, and the group of each number."""
    order = np.lexsort((values, group))
    new = np.r_[True, (np.diff(group[order]) != 0) | (np.diff(values[order]) != 0)]
    numbers = np.empty(len(order), np.intp)
    numbers[order] = np.cumsum(new) - 1
    return numbers, group[order][new]


def _ranks_in_groups(group: NDArray[np.intp], values: Floats) -> tuple[NDArray[np.intp], int]:
    """Return the rank of each item's value in its group, from 0, equal ones alike, and the number of ranks."""
    numbers, of_group = _dense(group, values)
    ranks = numbers - np.searchsorted(of_group, group)
    return ranks, int(ranks.max()) + 1


def _sums_by_sorting(
    labels: Floats, values: Floats, group: NDArray[np.intp], weights: Floats, groups: int, scores_differ: Floats
) -> PairSums:
    """Return the sums of items repeated by their whole weights, from scipy's tau-b of each group."""
    items = np.repeat(np.arange(len(labels)), weights.astype(np.intp))
    balance, labels_differ = np.zeros(groups), np.zeros(groups)
    for number in range(groups):
        rows = items[group[items] == number] if groups > 1 else items
        alike = np.unique(labels[rows], return_counts=True)[1].astype(np.float64)
        labels_differ[number] = (len(rows) ** 2 - (alike**2).sum()) / 2
        if labels_differ[number] and scores_differ[number]:
            untied = labels_differ[number] * scores_differ[number]
            balance[number] = round(kendall(labels[rows], values[rows]) * untied**0.5)
    return PairSums(balance, labels_differ, scores_differ)

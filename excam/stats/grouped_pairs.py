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
from excam.stats.correlation import Numbers, score_vectors

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
    """The pairs of n items that are in one group; without `groups` all items are in one.

    Items with equal group, score and label form a cell. Two labels of a group differ first in one bit of their ranks:
    for each bit, the cells with equal higher bits are sorted by score, so that a cumulative sum over those without the
    bit counts, for each cell with it, the items with a lower label and a lower or a higher score.
    """

    def __init__(self, gold: Numbers, scores: Numbers, groups: Sequence[Hashable] | None = None) -> None:
        """Prepare the counting. Raise InputInvalid for other than two or more finite numbers of equal length."""
        labels, values = score_vectors(gold, scores)
        self.n = len(labels)
        group = np.zeros(self.n, np.intp) if groups is None else cluster_numbers(groups, self.n)
        level, level_group = _dense(group, values)
        label, label_group = _dense(group, labels)
        width = len(label_group)
        places, self.cell = np.unique(level * width + label, return_inverse=True)  # of each item
        self.cells = len(places)
        level, self._label = np.divmod(places, width)
        every_group = np.arange(int(group.max()) + 1)
        self._first_cell = np.searchsorted(level, np.arange(len(level_group)))  # of each level
        self._first_level, first_label = (
            np.searchsorted(level_group, every_group),
            np.searchsorted(label_group, every_group),
        )
        self._first_label = first_label
        rank = self._label - first_label[label_group[self._label]]
        self._bits = [_Bit.of(rank >> bit, level_group[level], level) for bit in range(int(rank.max()).bit_length())]

    def sums(self, weights: Floats | None = None) -> PairSums:
        """Return the numbers of pairs where each item stands for `weights` items, whole numbers, shape (n,)."""
        return self.sums_of_cells(np.bincount(self.cell, weights=weights, minlength=self.cells))

    def sums_of_cells(self, items: NDArray[np.integer | np.floating]) -> PairSums:
        """Return the numbers of pairs where each cell has so many items, shape (cells,)."""
        items = items.astype(np.float64)
        level = np.add.reduceat(items, self._first_cell)
        label = np.bincount(self._label, weights=items)
        pairs = np.add.reduceat(level, self._first_level) ** 2
        balance = np.zeros(len(pairs))
        for bit in self._bits:
            balance += bit.balance(items, len(pairs))
        return PairSums(
            balance=balance,
            labels_differ=(pairs - np.add.reduceat(label**2, self._first_label)) / 2,
            scores_differ=(pairs - np.add.reduceat(level**2, self._first_level)) / 2,
        )


@dataclass(frozen=True, slots=True)
class _Bit:
    """Pairs of a cell with a bit and one without it, both with equal higher bits: a block of cells, sorted by score."""

    without: NDArray[np.intp]  # cells, block after block
    having: NDArray[np.intp]
    lower: NDArray[np.intp]  # of each cell of `having`: number of cells `without` before those of its score
    higher: NDArray[np.intp]  # and before those of a higher score
    block: NDArray[np.intp]  # first cell of `having` of each block that has one
    begin: NDArray[np.intp]  # first cell `without` of each of these blocks
    end: NDArray[np.intp]
    group: NDArray[np.intp]  # of each of these blocks

    @classmethod
    def of(cls, prefix: NDArray[np.intp], group: NDArray[np.intp], level: NDArray[np.intp]) -> _Bit:
        """Prepare the lowest bit of `prefix`; all cells are sorted by group and level."""
        block = group * (int(prefix.max()) + 2) + (prefix >> 1)
        order = np.argsort(block, kind="stable")
        has = (prefix[order] & 1).astype(bool)
        without, having = order[~has], order[has]
        width = len(level) + 1
        place, own = block[without] * width + level[without], block[having] * width + level[having]
        blocks, first = np.unique(block[having], return_index=True)
        return cls(
            without,
            having,
            lower=np.searchsorted(place, own),
            higher=np.searchsorted(place, own, side="right"),
            block=first,
            begin=np.searchsorted(place, blocks * width),
            end=np.searchsorted(place, (blocks + 1) * width),
            group=group[having][first],
        )

    def balance(self, items: Floats, groups: int) -> Floats:
        """Return the concordant minus the discordant pairs of each group."""
        before = np.zeros(len(self.without) + 1)
        items.take(self.without).cumsum(out=before[1:])
        own = items.take(self.having)
        twice = np.add.reduceat(own * (before.take(self.lower) + before.take(self.higher)), self.block)
        twice -= np.add.reduceat(own, self.block) * (before.take(self.begin) + before.take(self.end))
        return np.bincount(self.group, weights=twice, minlength=groups).astype(np.float64)


def _dense(group: NDArray[np.intp], values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of each item's pair of group and value, in their order, and the group of each number."""
    order = np.lexsort((values, group))
    new = np.r_[True, (np.diff(group[order]) != 0) | (np.diff(values[order]) != 0)]
    numbers = np.empty(len(order), np.intp)
    numbers[order] = np.cumsum(new) - 1
    return numbers, group[order][new]

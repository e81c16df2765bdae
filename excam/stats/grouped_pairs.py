"""Pairs of items inside groups (a language, a question), and how often a metric orders them as the labels do.

All numbers follow from C (concordant pairs), D (discordant), and the pairs whose labels or scores differ: Kendall's
tau-b is (C - D) / sqrt(different labels x different scores), and the share of ordered pairs, ties half, is
(1 + (C - D) / different labels) / 2, which is the AUC for labels of two values. Items may have weights, so a draw of
clusters is a vector of counts and not a copy of the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.stats import bootstrap
from excam.stats.clusters import by_content, cluster_numbers, content_keys
from excam.stats.correlation import Numbers, score_vectors
from excam.stats.few_clusters import Interval

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


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
        self._content = labels, values, content_keys(group, labels, values)[group]
        level, level_group = _dense(group, values)
        label, label_group = _dense(group, labels)
        width = len(label_group)
        places, self.cell = np.unique(level * width + label, return_inverse=True)  # of each item
        self.cells = len(places)
        self._items = np.argsort(self.cell, kind="stable")  # by cell
        self._first_item = np.searchsorted(self.cell[self._items], np.arange(self.cells))
        level, label = np.divmod(places, width)
        all_groups = np.arange(int(group.max()) + 1)
        self._first_cell = np.searchsorted(level, np.arange(len(level_group)))  # of each level
        self._first_level = np.searchsorted(level_group, all_groups)
        self._first_label = np.searchsorted(label_group, all_groups)
        rank = label - self._first_label[label_group[label]]
        self._bits = list(_bits(rank, level_group[level], level))
        self._first_by_label = np.searchsorted(np.sort(label), np.arange(width))  # cell of each label, behind all bits

    def sums(self, weights: NDArray[np.number] | None = None) -> PairSums:
        """Return the numbers of pairs where each item stands for `weights` items, whole numbers, shape (n,)."""
        if weights is None:
            return self.sums_of_cells(np.bincount(self.cell, minlength=self.cells))
        return self.sums_of_cells(_segments(weights.astype(np.int64).take(self._items), self._first_item))

    def intervals(self, clusters: Sequence[Hashable], draws: int, seed: int) -> tuple[Interval | None, Interval | None]:
        """Return the 95 % intervals of `tau_b` and `ordered` over whole clusters (`bootstrap.intervals`).

        Scores that are all equal order nothing, a tau of 0; left out, they would narrow the interval.
        """
        number = by_content(cluster_numbers(clusters, self.n), *self._content)
        cluster = number[self._items]

        def measures(times: NDArray[np.intp]) -> tuple[float, float]:
            sums = self.sums_of_cells(_segments(times.take(cluster), self._first_item))
            return (0.0 if np.isnan(sums.tau_b) else sums.tau_b), 2 * sums.ordered - 1

        size = int(number.max()) + 1
        tau, ordered = bootstrap.intervals(measures, size, draws=draws, seed=seed, scale="correlation")
        return tau, ordered and ((1 + ordered[0]) / 2, (1 + ordered[1]) / 2)

    def sums_of_cells(self, items: Integers) -> PairSums:
        """Return the numbers of pairs where each cell has so many items, shape (cells,)."""
        level = _segments(items, self._first_cell)
        pairs = np.add.reduceat(level, self._first_level) ** 2
        balance = np.zeros(len(pairs), np.int64)
        for bit in self._bits:
            items = items.take(bit.order)
            balance[bit.groups] += bit.balance(items)
        label = _segments(items, self._first_by_label)
        return PairSums(
            balance=balance.astype(np.float64),
            labels_differ=(pairs - np.add.reduceat(label * label, self._first_label)) / 2,
            scores_differ=(pairs - np.add.reduceat(level * level, self._first_level)) / 2,
        )


@dataclass(frozen=True, slots=True)
class _Bit:
    """Pairs of a cell with a bit and one without it, both with equal higher bits: those cells are a block.

    Each bit moves the cells of a block from their order by score to those without the bit and then those with it, each
    by score, so that a draw is read nearly in the order of memory. Places are between cells in the new order. Items are
    counted in integers, whose cumulative sum NumPy computes several times as fast as that of floats.
    """

    order: NDArray[np.intp]  # the places that the cells had in the order of the higher bit
    having: NDArray[np.intp]  # cells with the bit, of blocks with both kinds of cells
    lower: NDArray[np.intp]  # of each of these: behind the cells of its block without the bit that have a lower score
    higher: NDArray[np.intp]  # and before those of a higher one
    begin: NDArray[np.intp]  # of each block with both kinds of cells
    middle: NDArray[np.intp]  # before its first cell with the bit
    end: NDArray[np.intp]
    groups: NDArray[np.intp]  # those with such a block
    first: NDArray[np.intp]  # of `having`, of each of these groups
    first_block: NDArray[np.intp]

    def balance(self, items: Integers) -> Integers:
        """Return the concordant minus the discordant pairs of each of `groups`; `items` of cells in the new order."""
        before = np.empty(len(items) + 1, np.int64)
        before[0] = 0
        items.cumsum(out=before[1:])
        pairs = items.take(self.having) * (before.take(self.lower) + before.take(self.higher))
        middle = before.take(self.middle)
        all_pairs = (before.take(self.end) - middle) * (before.take(self.begin) + middle)
        return np.add.reduceat(pairs, self.first) - np.add.reduceat(all_pairs, self.first_block)


def _bits(rank: NDArray[np.intp], group: NDArray[np.intp], level: NDArray[np.intp]) -> Iterator[_Bit]:
    """Yield the bits of the ranks of labels, the highest first; all cells are sorted by group and level."""
    width = len(level) + 1
    for bit in reversed(range(int(rank.max()).bit_length())):
        prefix = rank >> bit
        order = np.argsort(group * (int(prefix.max()) + 1) + prefix, kind="stable")
        rank, group, level, prefix = rank[order], group[order], level[order], prefix[order]
        has = (prefix & 1).astype(bool)
        new = np.r_[True, (np.diff(group) != 0) | (np.diff(prefix >> 1) != 0)]
        block, begin = np.cumsum(new) - 1, np.flatnonzero(new)
        end = np.r_[begin[1:], len(rank)]
        middle = end - np.bincount(block, weights=has).astype(np.intp)
        both = (begin < middle) & (middle < end)
        having = np.flatnonzero(has & both[block])
        without, cells = block[~has] * width + level[~has], block[having] * width + level[having]
        skipped = np.r_[0, np.cumsum(end - middle)][block[having]]  # cells with the bit in the blocks before
        groups, first = np.unique(group[having], return_index=True)
        yield _Bit(
            order,
            having,
            lower=skipped + np.searchsorted(without, cells),
            higher=skipped + np.searchsorted(without, cells, side="right"),
            begin=begin[both],
            middle=middle[both],
            end=end[both],
            groups=groups,
            first=first,
            first_block=np.searchsorted(group[begin[both]], groups),
        )


def _segments(items: Integers, first: NDArray[np.intp]) -> Integers:
    """Return the sums of the segments that begin at `first`, none of them empty."""
    return items if len(first) == len(items) else np.add.reduceat(items, first)


def _dense(group: NDArray[np.intp], values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of each item's pair of group and value, in their order, and the group of each number."""
    order = np.lexsort((values, group))
    new = np.r_[True, (np.diff(group[order]) != 0) | (np.diff(values[order]) != 0)]
    numbers = np.empty(len(order), np.intp)
    numbers[order] = np.cumsum(new) - 1
    return numbers, group[order][new]

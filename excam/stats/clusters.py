"""Clusters: items that share content (pairs, translations of a question) and are resampled or swapped together.

Draws take clusters in the order of `content_keys`, so that neither the order of rows nor a name decides a digit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid

Keys = NDArray[np.uint64]


def cluster_numbers(clusters: Sequence[Hashable] | None, n: int) -> NDArray[np.intp]:
    """Return the cluster number of each of n items, in order of first appearance; None: one cluster per item.

    Raise InputInvalid if there are not n cluster names.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise InputInvalid(f"got {len(clusters)} cluster names for {n} items, expected one each")
    numbers: dict[Hashable, int] = {}
    return np.fromiter((numbers.setdefault(name, len(numbers)) for name in clusters), np.intp, n)


def content_keys(number: NDArray[np.intp], *columns: ArrayLike) -> Keys:
    """Return a key of each cluster that follows from the values of its items, in any order.

    `number` is the cluster of each item, `columns` have a value per item, of which the order counts, or a whole number,
    which counts itself. Clusters with equal items have equal keys;
    the sum of 64-bit hashes of items makes others equal with a chance of 1 in 10^19 a pair.
    """
    items = np.zeros(len(number), np.uint64)
    for column in map(np.asarray, columns):
        whole = column if column.dtype.kind in "ui" else np.unique(column, return_inverse=True)[1]
        items = _mixed(items + whole.astype(np.uint64))
    keys = np.zeros(int(number.max()) + 1 if len(number) else 0, np.uint64)
    np.add.at(keys, number, items)
    return keys


def by_content(number: NDArray[np.intp], *columns: ArrayLike) -> NDArray[np.intp]:
    """Return cluster numbers in the order of `content_keys`, with those in `number` for equal ones."""
    order = np.argsort(content_keys(number, *columns), kind="stable")
    return np.argsort(order)[number]


def table_by_content(
    row: NDArray[np.intp], column: NDArray[np.intp], *values: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows and columns of a table's cells, numbered by content, each with regard to the other."""
    rows = content_keys(row, content_keys(column, *values)[column], *values)
    column = by_content(column, rows[row], *values)
    return by_content(row, column, *values), column


def _mixed(values: Keys) -> Keys:
    """Return well-spread hashes of 64 bits, those of SplitMix64 (Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

"""Clusters: items that share content (twins, translations of a question) and are drawn or swapped as one (spec 54)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from excam.exceptions import InputInvalid


def cluster_numbers(clusters: Sequence[Hashable] | None, n: int) -> NDArray[np.intp]:
    """For each of n items the number of its cluster, 0 up in order of first appearance. None: each item its own.

    Raises InputInvalid when there are not n cluster names.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise InputInvalid(f"got {len(clusters)} cluster names for {n} items, expected one each")
    known: dict[Hashable, int] = {}
    return np.fromiter((known.setdefault(name, len(known)) for name in clusters), np.intp, n)

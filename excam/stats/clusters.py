"""Clusters: items that share content (pairs, translations of a question) and are resampled or swapped together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid


def cluster_numbers(clusters: Sequence[Hashable] | None, n: int) -> NDArray[np.intp]:
    """Return the cluster number of each of n items, in order of first appearance; None: one cluster per item.

    Raise InputInvalid if there are not n cluster names.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise InputInvalid(f"got {len(clusters)} cluster names for {n} items, expected one each")
    known: dict[Hashable, int] = {}
    return np.fromiter((known.setdefault(name, len(known)) for name in clusters), np.intp, n)

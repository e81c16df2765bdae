"""What each item adds to statistics of numbers that several raters gave: as sums, a draw of items is a sum too."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]


def item_sums(ratings: Sequence[Sequence[float]]) -> tuple[Column, Column, Column] | None:
    """Return of each item its number of ratings, their sum and their sum of squares, around the mean of all ratings.

    `ratings` are those of items with two or more. None without any, and where all are equal.
    """
    items = [np.sort(np.asarray(item, dtype=np.float64)) for item in ratings]  # sums are rounded alike in any order
    numbers = np.concatenate(items) if items else np.zeros(0)
    if len(numbers) == 0 or np.ptp(numbers) == 0:
        return None
    size = np.array([len(item) for item in items], dtype=np.float64)
    mean = fsum(numbers) / len(numbers)
    total = np.array([(item - mean).sum() for item in items])
    squares = np.array([np.square(item - mean).sum() for item in items])
    return size, total, squares

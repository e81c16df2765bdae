"""Intraclass correlations: of the mean of raters, and of tables without degrees of freedom."""

import warnings
from itertools import product

import numpy as np
import pytest

from excam.stats.icc import Icc, _icc_of_sums, icc21, icc_of_mean

# 1979, table 2
SHROUT_AND_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_mean_of_four_raters_by_hand():
    """By mean squares, as pingouin's ICC(A,k): (items - rest) / (items + (raters - rest) / n)."""
    table = np.array(SHROUT_AND_FLEISS, dtype=float)
    n, k = table.shape
    of_items, of_raters = table.mean(axis=1), table.mean(axis=0)
    items = k * ((of_items - table.mean()) ** 2).sum() / (n - 1)
    raters = n * ((of_raters - table.mean()) ** 2).sum() / (k - 1)
    rest = (((table - of_items[:, None] - of_raters + table.mean()) ** 2).sum()) / ((n - 1) * (k - 1))
    assert [round(square, 2) for square in (items, raters, rest)] == [11.24, 32.49, 1.02]
    of_all = icc_of_mean(icc21(SHROUT_AND_FLEISS), k)
    assert of_all.value == pytest.approx((items - rest) / (items + (raters - rest) / n))
    assert (of_all.value, of_all.low, of_all.high) == pytest.approx((0.62, 0.07, 0.93), abs=0.005)


def test_a_mean_without_a_positive_divisor_is_undefined():
    assert icc_of_mean(Icc(-2.0, None, None, 4), 2) == Icc(None, None, None, 4)
    assert icc_of_mean(Icc(0.5, -1.5, 0.8, 4), 2) == Icc(2 / 3, None, None, 4)


def test_no_table_of_small_numbers_warns_or_raises():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cells in product((1, 2, 3), repeat=6):
            for shape in ((3, 2), (2, 3)):
                icc = icc21(np.reshape(cells, shape).astype(float))
                assert (icc.low is None) == (icc.high is None)
    assert icc21([[1, 2], [2, 1], [1, 2], [2, 1]]) == Icc(-2.0, None, None, 4)


def test_the_icc_of_a_draws_sums_is_that_of_its_table():
    table = np.array(SHROUT_AND_FLEISS, dtype=float)
    sums = [*table.sum(axis=0), np.square(table).sum(), np.square(table.sum(axis=1)).sum(), len(table)]
    assert _icc_of_sums(np.array(sums)[:, None])[0] == pytest.approx(icc21(table).value)

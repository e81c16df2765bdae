"""Regressions on categories by hand: a table of two by two has closed forms for every number of a logit."""

import math

import numpy as np
import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.stats import regression

FIRST = [1, 1, 1, 1, 0, 0, 0, 0]
HIGH = [1, 1, 1, 0, 1, 0, 0, 0]  # 3 of 4 with the predictor, 1 of 4 without: odds 3 and 1/3
STEP = 1.959963985 * math.sqrt(1 / 3 + 1 + 1 + 1 / 3)  # Woolf's interval of the log odds ratio
NONE = 8 * math.log(1 / 2)  # log-likelihood without the predictor, and with it
FITTED = 6 * math.log(3 / 4) + 2 * math.log(1 / 4)


def test_levels_are_columns_without_the_first():
    assert regression.dummies(["b", "a", "c"]).tolist() == [[1, 0], [0, 0], [0, 1]]
    assert "one level" in line_of(InputInvalid, regression.dummies, ["a", "a"])


def test_least_squares_explain_the_variance_between_groups():
    columns = regression.dummies(["a"] * 3 + ["b"] * 3)
    assert regression.ols_r2([1, 2, 3, 4, 5, 6], columns) == pytest.approx(13.5 / 17.5)


def test_three_r2_of_two_log_likelihoods():
    r_squared = regression.pseudo_r2(-1.0, -2.0, 4)
    assert r_squared.mcfadden == 0.5
    assert r_squared.cox_snell == pytest.approx(1 - math.exp(-1 / 2))
    assert r_squared.nagelkerke == pytest.approx((1 - math.exp(-1 / 2)) / (1 - math.exp(-1)))


@pytest.mark.parametrize("fit", [regression.logit_r2, regression.proportional_odds_r2])
def test_a_rating_of_two_grades_has_the_r2_of_its_table(fit):
    r_squared = fit(HIGH, np.array(FIRST, dtype=float)[:, None])
    assert r_squared.mcfadden == pytest.approx(1 - FITTED / NONE, abs=1e-6)
    assert r_squared.cox_snell == pytest.approx(1 - math.exp((NONE - FITTED) / 4), abs=1e-6)
    assert r_squared.n == 8


def test_the_odds_ratio_of_a_table_has_its_interval():
    odds = regression.odds_ratio(HIGH, FIRST)
    assert odds.ratio == pytest.approx(9)
    assert [odds.low, odds.high] == pytest.approx([9 * math.exp(-STEP), 9 * math.exp(STEP)])
    assert odds.p_value == pytest.approx(math.erfc(math.log(9) / STEP * 1.959963985 / math.sqrt(2)))
    assert odds.n == 8


def test_rows_that_are_there_twice_in_a_cluster_narrow_nothing():
    rows = regression.odds_ratio(HIGH * 2, FIRST * 2)
    clustered = regression.gee_odds_ratio(HIGH * 2, FIRST * 2, list(range(8)) * 2)
    assert [clustered.low, clustered.high] == pytest.approx([9 * math.exp(-STEP), 9 * math.exp(STEP)], rel=1e-4)
    assert clustered.low < rows.low
    assert (clustered.ratio, clustered.n) == (pytest.approx(9), 16)


def test_what_separates_high_from_low_has_no_odds_ratio():
    assert regression.odds_ratio([1, 1, 1, 1, 1, 0, 0, 0], FIRST) is None
    assert regression.gee_odds_ratio([1, 1, 1, 1, 1, 0, 0, 0], FIRST, range(8)) is None
    assert regression.logit_r2([1, 1, 1, 1, 1, 0, 0, 0], np.array(FIRST, dtype=float)[:, None]) is None


@pytest.mark.parametrize("outcomes", [[[1], [0]], [1, 0, 1], [1, math.nan], [1, 1]])
def test_outcomes_that_are_none_are_refused(outcomes):
    assert "expected one each" in line_of(InputInvalid, regression.ols_r2, outcomes, np.array([[0.0], [1.0]]))

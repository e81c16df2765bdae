"""Ranking, calibration and abstention against scikit-learn, exact fractions over small cases, and values by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from excam.core.exceptions import InputInvalid
from excam.stats import (
    abstention,
    error_probabilities,
    fit_calibration,
    ranking,
    reliability,
    signed_certainty,
    uncalibrated_probabilities,
)

T, F = True, False


# --- the signed certainty


def test_verdict_and_certainty_become_one_number():
    assert signed_certainty([T, F, None, T], [0.9, 0.8, 0.7, None]) == [0.9, -0.8, None, None]


# --- reliability


def test_equal_width_bins_are_closed_on_the_right():
    diagram = reliability([T] * 5, [0.0, 0.1, 0.3, 0.30000000000000004, 1.0], bins=10)
    assert [b.n for b in diagram.bins] == [2, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    assert diagram.bins[1].observed is None
    assert (diagram.bins[0].low, diagram.bins[0].high, diagram.bins[9].high) == (0.0, 0.1, 1.0)
    assert len(reliability([T], [0.5], bins=1).bins) == 1


def test_equal_width_equals_scikit_learn():
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import brier_score_loss

    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 0.7, 3000)
    true = rng.random(3000) < p**2
    diagram = reliability(true, p, bins=15)
    observed, mean = calibration_curve(true, p, n_bins=15)
    assert [b.observed for b in diagram.bins] == pytest.approx(observed, abs=1e-12)
    assert [b.probability for b in diagram.bins] == pytest.approx(mean, abs=1e-12)
    assert diagram.brier == pytest.approx(brier_score_loss(true, p), abs=1e-12)


def test_equal_mass_bins_hold_equally_many_and_keep_ties_together():
    rng = np.random.default_rng(2)
    p = rng.random(103)
    diagram = reliability(rng.random(103) < p, p, bins=10, binning="equal-mass")
    assert sorted({b.n for b in diagram.bins}) == [10, 11]
    assert [b.low for b in diagram.bins[1:]] > [b.high for b in diagram.bins[:-1]]
    tied = [0.2] * 6 + [0.8, 0.9]
    bins = reliability([T, F] * 4, tied, 4, "equal-mass").bins
    assert [(b.n, b.low, b.high) for b in bins] == [(6, 0.2, 0.2), (2, 0.8, 0.9)]


@pytest.mark.parametrize("binning", ["equal-width", "equal-mass"])
def test_expected_error_in_fractions(binning):
    for case in itertools.product(
        ((T, Fraction(1, 4)), (F, Fraction(3, 4)), (T, Fraction(1)), (F, Fraction(0))), repeat=3
    ):
        true, p = [c[0] for c in case], [c[1] for c in case]
        bins = {}
        for outcome, value in case:
            below = sum(v < value for v in p)
            key = max(0, math.ceil(value * 2) - 1) if binning == "equal-width" else below * 2 // 3
            bins.setdefault(key, []).append((outcome, value))
        expected = sum(abs(sum(v for _, v in b) - sum(o for o, _ in b)) for b in bins.values()) / Fraction(3)
        diagram = reliability(true, [float(v) for v in p], bins=2, binning=binning)
        assert diagram.expected_error == pytest.approx(float(expected), abs=1e-12)


def test_nothing_to_measure_is_none_not_zero():
    diagram = reliability([T, F], [None, None])
    assert (diagram.expected_error, diagram.brier, diagram.n, diagram.unscored) == (None, None, 0, 2)
    assert reliability([T, F, T], [0.2, 0.2, None]).expected_error == pytest.approx(0.3)
    assert reliability([], [], binning="equal-mass").bins == ()
    assert abstention([T], [None], [0.9]).area is None


# --- the calibrated probability


def test_isotonic_applies_like_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(3)
    signed = np.round(rng.uniform(-0.9, 0.9, 400), 2)
    gold, new = rng.random(400) < (1 + signed) / 2, rng.uniform(-1, 1, 300)
    expected = IsotonicRegression(out_of_bounds="clip").fit(signed, gold).predict(new)
    assert error_probabilities(fit_calibration(gold, signed, "isotonic"), new) == pytest.approx(expected, abs=1e-12)


def test_platt_maximises_the_likelihood_of_its_smoothed_targets():
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    signed = rng.uniform(-1, 1, 300)
    for gold in (rng.random(300) < 1 / (1 + np.exp(-3 * signed + 0.5)), signed > 0):  # the second is separable
        positive = gold.sum()
        target = np.where(gold, (positive + 1) / (positive + 2), 1 / (300 - positive + 2))

        def loss(ab, target=target):
            z = ab[0] * signed + ab[1]
            return np.sum(np.logaddexp(0, z) - target * z)

        best = minimize(loss, [0.0, 0.0], tol=1e-12)
        calibration = fit_calibration(gold, signed, "platt")
        assert loss([calibration.slope, calibration.intercept]) <= best.fun + 1e-9
        assert (calibration.slope, calibration.intercept) == pytest.approx(tuple(best.x), rel=1e-3)


@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize(
    ("gold", "signed"), [([], []), ([T, T], [0.1, 0.2]), ([T, F], [0.3, 0.3]), ([T, F], [None] * 2)]
)
def test_what_cannot_be_fitted_is_none(method, gold, signed):
    assert fit_calibration(gold, signed, method) is None


# --- what is refused


@pytest.mark.parametrize(
    "work",
    [
        lambda: ranking([T, F], [0.1]),
        lambda: ranking([T, F], [0.1, math.nan]),
        lambda: ranking([T, F], [0.1, math.inf]),
        lambda: ranking([T, 1], [0.1, 0.2]),
        lambda: ranking([T, F], ["a", "b"]),
        lambda: reliability([T], [0.5], binning="quantile"),
        lambda: reliability([T], [0.5], bins=0),
        lambda: signed_certainty([T], []),
        lambda: abstention([], [], []),
        lambda: fit_calibration([T, F], [0.1, 0.2], "spline"),
        lambda: uncalibrated_probabilities([math.nan]),
    ],
)
def test_input_that_is_no_certainty_is_refused_in_one_line(work):
    with pytest.raises(InputInvalid) as caught:
        work()
    assert "\n" not in str(caught.value)

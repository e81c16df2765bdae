"""Ranking and calibration against scikit-learn, and values by hand."""

import math

import numpy as np
import pytest

from excam import stats
from excam.core.exceptions import InputInvalid
from excam.stats.binary_gold import auroc
from excam.stats.calibration import fit_calibration
from excam.stats.clusters import by_content

T, F = True, False


# --- ranking


def test_auroc_interval_is_that_of_scikit_learn_on_the_same_draws(monkeypatch):
    monkeypatch.setattr(stats.bootstrap, "FEW", 30)
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    gold, scores, groups = rng.random(120) < 0.5, rng.integers(-4, 3, 120).astype(float), np.arange(120) // 3
    values, number = [], by_content(groups, ~gold, np.unique(scores, return_inverse=True)[1])
    generator = np.random.default_rng(5)
    for _ in range(50):
        times = np.bincount(generator.integers(40, size=40), minlength=40)
        kept = np.repeat(np.arange(120), times[number])
        values.append(roc_auc_score(gold[kept], -scores[kept]))
    auc = auroc(gold.tolist(), scores.tolist(), groups.tolist(), draws=50, seed=5)
    assert (auc.low, auc.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)


@pytest.mark.nightly
def test_auroc_intervals_hold_the_truth_as_often_as_they_say():
    held, cases, truth = 0, 400, 0.7602499389065233  # P(a < b), normal, one deviation apart
    for case in range(cases):
        rng = np.random.default_rng(case)
        gold = np.arange(200) % 2 == 0
        auc = auroc(gold, rng.normal(size=200) - gold, draws=400, seed=case)
        held += auc.low <= truth <= auc.high
    assert 0.92 <= held / cases <= 0.975


# --- the calibrated probability


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
        calibration = fit_calibration(gold, signed)
        assert loss([calibration.slope, calibration.intercept]) <= best.fun + 1e-9
        assert (calibration.slope, calibration.intercept) == pytest.approx(tuple(best.x), rel=1e-3)


@pytest.mark.parametrize(
    ("gold", "signed"), [([], []), ([T, T], [0.1, 0.2]), ([T, F], [0.3, 0.3]), ([T, F], [None] * 2)]
)
def test_what_cannot_be_fitted_is_none(gold, signed):
    assert fit_calibration(gold, signed) is None


# --- what is refused


@pytest.mark.parametrize(
    "work",
    [
        lambda: auroc([T, F], [0.1]),
        lambda: auroc([T, F], [0.1, math.nan]),
        lambda: auroc([T, F], [0.1, math.inf]),
        lambda: auroc([T, 1], [0.1, 0.2]),
        lambda: auroc([T, F], ["a", "b"]),
    ],
)
def test_input_that_is_no_certainty_is_refused_in_one_line(work):
    with pytest.raises(InputInvalid) as caught:
        work()
    assert "\n" not in str(caught.value)

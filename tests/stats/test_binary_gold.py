"""Associations with a binary label against scipy and scikit-learn."""

import numpy as np
import pytest
from late import stats

from excam.core.exceptions import InputInvalid
from excam.stats.binary_gold import MEASURES, association


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_scipy_and_scikit_learn(seed):
    from sklearn.metrics import roc_auc_score

    generator = np.random.default_rng(seed)
    n = int(generator.integers(4, 80))
    gold = generator.random(n) < 0.4
    gold[:2] = True, False
    scores = generator.normal(size=n) if seed % 2 else generator.integers(0, 4, n).astype(float)
    scores[:2] = 0.0, 1.0
    measures = association(gold.tolist(), scores.tolist(), draws=5)
    assert measures.point_biserial.value == pytest.approx(stats.pointbiserialr(gold, scores).statistic)
    assert measures.spearman.value == pytest.approx(stats.spearmanr(gold, scores).statistic)
    assert measures.auc.value == pytest.approx(roc_auc_score(gold, scores))
    assert measures.tau_b.value == pytest.approx(stats.kendalltau(gold, scores).statistic)
    assert (measures.n, measures.unscored, measures.positives) == (n, 0, int(gold.sum()))


def test_failures_are_left_out_and_counted():
    gold, scores = [True, False, True, False, True], [0.9, 0.1, None, None, 0.8]
    measures = association(gold, scores)
    assert (measures.n, measures.unscored, measures.positives, measures.auc.value) == (3, 2, 2, 1.0)


@pytest.mark.parametrize(
    ("gold", "scores"), [([True, True], [1.0, 2.0]), ([True, False], [1.0, 1.0]), ([True, False], [None, None])]
)
def test_undefined_measures_are_none(gold, scores):
    measures = association(gold, scores)
    assert all(getattr(measures, name).value is None for name in MEASURES)


def test_intervals_resample_clusters():
    generator = np.random.default_rng(1)
    gold = [bool(label) for label in generator.random(60) < 0.5]
    scores = [label + generator.normal() for label in gold]
    alone = association(gold * 4, scores * 4)
    together = association(gold * 4, scores * 4, clusters=list(range(60)) * 4)
    once = association(gold, scores)

    def width(measures):
        return measures.tau_b.high - measures.tau_b.low

    assert width(together) == pytest.approx(width(once), rel=0.15), "copies of a row in its cluster add nothing"
    assert width(alone) < 0.7 * width(once)
    assert association(gold, scores) == once


@pytest.mark.usefixtures("bootstrap_above_30")
def test_draws_of_equal_scores_widen_the_interval():
    """One item of 40 has another score: a third of the draws has equal scores only."""
    gold, scores = [True] * 20 + [False] * 20, [1.0] * 39 + [0.0]
    measures = association(gold, scores)
    assert measures.tau_b.value > 0
    assert measures.tau_b.low == 0
    assert measures.auc.low == 0.5


def test_other_input_is_refused():
    for gold, scores in (([True], [1.0, 2.0]), ([1, 0], [1.0, 2.0]), ([True, False], [np.nan, 1.0])):
        with pytest.raises(InputInvalid):
            association(gold, scores)

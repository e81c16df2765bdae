"""Meta-evaluation against scipy, brute force over all pairs and swaps, and values worked out by hand."""

import itertools
import math

import null_cases
import numpy as np
import pytest
from late import stats

from excam.core.exceptions import InputInvalid
from excam.stats import kendall, paired_permutation, scaled_accuracy, tie_calibrated_accuracy
from excam.stats.accuracy import summarise_accuracy
from excam.stats.correlation import TieCalibration, sampled_tie_calibration, score_vectors

T, F = True, False


# --- accuracy


def test_scaled_accuracy_by_hand():
    assert scaled_accuracy([T, T, F, F], [T, T, F, F]) == 1
    assert scaled_accuracy([T, T, F, F], [F, F, T, T]) == -1
    assert scaled_accuracy([T, T, F, F], [T, F, F, F]) == 0.5
    assert scaled_accuracy([T, T, F, F], [T] * 4) == 0  # a constant judge on balanced data
    assert scaled_accuracy([T, T, F, F], [F] * 4) == 0
    assert scaled_accuracy(np.array([T, F]), np.array([T, F])) == 1


def test_a_failure_is_wrong_even_where_no_error_is_right():
    assert scaled_accuracy([F, F], [None, None]) == -1
    summary = summarise_accuracy([T, T, F, F], [T, None, F, None])
    assert (summary.n, summary.failures, summary.scaled, summary.scaled_excluding_failures) == (4, 2, 0, 1)
    assert summarise_accuracy([T, F], [None, None]).scaled_excluding_failures is None


@pytest.mark.parametrize(("gold", "predicted"), [([], []), ([T], [T, F]), ([T], [1]), ([None], [T]), ([T], [math.nan])])
def test_what_is_no_verdict_is_refused(gold, predicted):
    with pytest.raises(InputInvalid):
        scaled_accuracy(gold, predicted)


# --- correlation


def test_tie_calibration_by_hand():
    # Pairs: gold tie at difference .5, two concordant at 5.0 and 5.5. Epsilon .5 gets all three.
    assert tie_calibrated_accuracy([-5, 0, 0], [-5, 0, 0.5]) == TieCalibration(1.0, 0.5)
    # Two gold ties need epsilon 1, which loses both pairs at 1; nothing beats epsilon 0, and the smallest best wins.
    assert tie_calibrated_accuracy([0, 0, 1, 1], [0, 1, 2, 3]) == TieCalibration(5 / 6, 1.0)
    assert tie_calibrated_accuracy([0, 1], [0, 1]) == TieCalibration(1.0, 0.0)
    assert tie_calibrated_accuracy([0, 1], [1, 0]) == TieCalibration(0.0, 0.0)
    assert tie_calibrated_accuracy([3, 3, 3], [1, 5, 9]) == TieCalibration(1.0, 8.0)


def test_a_constant_metric_gets_the_share_of_gold_ties():
    gold = [0] * 50 + [-1] * 20 + [-5] * 30
    ties = math.comb(50, 2) + math.comb(20, 2) + math.comb(30, 2)
    assert tie_calibrated_accuracy(gold, [1.0] * 100).accuracy == pytest.approx(ties / math.comb(100, 2), abs=1e-12)


def test_sampled_pairs_agree_with_all_of_them():
    rng = np.random.default_rng(2)
    gold = rng.choice([0, -1, -5], 800, p=[0.5, 0.2, 0.3])
    metric = gold + rng.normal(0, 2, 800)
    exact = tie_calibrated_accuracy(gold, metric)
    sampled = sampled_tie_calibration(gold, metric, pairs=50_000, seed=1)
    assert sampled.accuracy == pytest.approx(exact.accuracy, abs=0.01)
    assert sampled == sampled_tie_calibration(gold, metric, pairs=50_000, seed=1)
    assert sampled_tie_calibration(gold, metric) == exact  # 319,600 pairs are fewer than a million


def test_kendall():
    rng = np.random.default_rng(3)
    gold, metric = rng.integers(0, 4, 60), np.round(rng.random(60), 1)
    for variant in ("b", "c"):
        assert kendall(gold, metric, variant) == stats.kendalltau(gold, metric, variant=variant).statistic
    step = np.sign(np.subtract.outer(gold, gold)) == np.sign(np.subtract.outer(metric, metric))
    assert kendall(gold, metric, "23") == pytest.approx(2 * step[np.triu_indices(60, 1)].mean() - 1, abs=1e-12)
    assert kendall([0, 0, 1], [2, 2, 3], "23") == 1  # a tie predicted as a tie counts as right
    assert math.isnan(kendall([0, 1], [1, 1]))


@pytest.mark.parametrize(
    ("gold", "metric", "why"),
    [
        ([0, 1], [0, math.nan], "metric scores must be one row of two or more finite"),
        ([0, math.inf], [0, 1], "gold scores must be one row of two or more finite"),
        ([0, 1], [0], "metric scores must be one row of two or more"),
        ([0, 1, 2], [0, 1], "got 3 gold and 2 metric scores"),
        ([], [], "two or more"),
        ([1], [1], "two or more"),
        ([0, 1], [None, 1], "two or more finite"),
        ([0, 1], ["a", "b"], "metric scores are not numbers"),
        ([0, 1], [1e308, -1e308], "two or more finite"),
        ([[0, 1], [2, 3]], [[0, 1], [2, 3]], "one row"),
    ],
)
def test_scores_that_are_no_scores_are_refused(gold, metric, why):
    assert [row.tolist() for row in score_vectors([0, 1], [2, 3])] == [[0, 1], [2, 3]]
    with pytest.raises(InputInvalid, match=why):
        score_vectors(gold, metric)


@pytest.mark.parametrize("measure", [kendall, tie_calibrated_accuracy, sampled_tie_calibration])
def test_measures_refuse_what_is_no_score(measure):
    with pytest.raises(InputInvalid, match="two or more finite"):
        measure([0, 1], [0, math.nan])


# --- permutation


def judges(rng, n, skill_a, skill_b):
    gold = rng.random(n) < 0.5
    return gold, *(np.where(rng.random(n) < skill, gold, ~gold) for skill in (skill_a, skill_b))


def test_at_row_level_the_exact_test_is_binomial():
    rng = np.random.default_rng(4)
    for n in (1, 5, 40, 300):
        gold, a, b = judges(rng, n, 0.8, 0.7)
        only_a, only_b = int(np.sum((a == gold) & (b != gold))), int(np.sum((a != gold) & (b == gold)))
        result = paired_permutation(gold, a, b)
        expected = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
        assert result.p_value == pytest.approx(expected, rel=1e-9)
        assert (result.n, result.clusters, result.discordant) == (n, n, only_a + only_b)
        assert result.difference == pytest.approx((only_a - only_b) / n)
        assert (result.draws, result.sides) == ("exact", "two-sided")


def test_the_clustered_test_equals_every_swap():
    rng = np.random.default_rng(6)
    for _ in range(30):
        n = int(rng.integers(8, 40))
        gold, a, b = judges(rng, n, 0.8, 0.5)
        clusters = rng.integers(0, 8, n)
        step = (a == gold).astype(int) - (b == gold)
        totals = [step[clusters == c].sum() for c in np.unique(clusters)]
        swaps = [abs(np.dot(signs, totals)) for signs in itertools.product((1, -1), repeat=len(totals))]
        result = paired_permutation(gold, a, b, clusters=clusters.tolist())
        assert result.p_value == pytest.approx(np.mean(np.array(swaps) >= abs(sum(totals))), rel=1e-9)
        assert result.clusters == len(totals)


@pytest.mark.variants
@pytest.mark.parametrize("line", null_cases.LINES)
def test_a_true_null_is_rejected_and_an_interval_misses_in_a_twentieth(line):
    """Some cases of each kind, within the binomial's own 99.9 % bounds; 2,000 of each came out .04 to .06."""
    cases = 160
    hits = sum(null_cases.LINES[line](seed) <= 0.05 for seed in range(cases))
    low, high = stats.binom.ppf([0.0005, 0.9995], cases, 0.05)
    assert low <= hits <= high


def test_a_failure_loses_against_an_answer():
    assert paired_permutation([F] * 6, [None] * 6, [F] * 6).difference == -1


def test_an_exact_p_is_never_zero():
    n = 4000
    assert 0 < paired_permutation([T] * n, [T] * n, [F] * n).p_value < 1e-300


def test_a_cluster_for_each_item_or_none():
    with pytest.raises(InputInvalid):
        paired_permutation([T, F], [T, F], [F, F], clusters=["x"])

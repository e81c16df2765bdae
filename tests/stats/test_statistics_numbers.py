"""Statistics: defaults, edges and small cases by hand."""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from late import stats
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap, correlation, paired_permutation, permutation, tie_calibrated_accuracy
from excam.stats.accuracy import accuracy_interval, summarise_accuracy
from excam.stats.binary_gold import Estimate, auroc
from excam.stats.calibration import error_probabilities, fit_calibration
from excam.stats.clusters import cluster_numbers
from excam.stats.correlation import _pairs_in_items, _random_pairs, sampled_tie_calibration
from excam.stats.few_clusters import jackknife
from excam.stats.pairs import Pairs, middle_difference
from excam.stats.permutation import holm
from excam.stats.permutation_correlation import correlation_permutation
from excam.stats.sign_permutation import pairwise_sign_permutation, sign_permutation
from excam.stats.swapped_pairs import AgreementSearch, SwappedPairs

DICE = np.random.default_rng(5)
GOLD = (DICE.random(90) < 0.5).tolist()
FOUND = np.where(DICE.random(90) < 0.7, GOLD, np.logical_not(GOLD)).tolist()
OTHER = np.where(DICE.random(90) < 0.6, GOLD, np.logical_not(GOLD)).tolist()
SCORES = (np.where(GOLD, -1.0, 0.0) + DICE.normal(size=90)).tolist()
ONES = [1.0] * 90
BY_THREE = [at // 3 for at in range(90)]


@pytest.mark.parametrize(
    ("call", "arguments", "stated"),
    [
        (accuracy_interval, (GOLD, FOUND), (None, 2000, 0)),
        (summarise_accuracy, (GOLD, FOUND), (None, 2000, 0)),
        (bootstrap.ratio_interval, (SCORES, ONES), (None, 2000, 0)),
        (bootstrap.interval, ([SCORES, ONES], bootstrap.ratio), (None, 2000, 0)),
        (auroc, (GOLD, SCORES), (None, 2000, 0)),
        (paired_permutation, (GOLD, FOUND, OTHER), {"clusters": range(90)}),
        (sign_permutation, (SCORES,), (range(90), 10_000, 0)),
        (correlation_permutation, (GOLD, SCORES, SCORES[::-1]), {"measure": "kendall", "draws": 1000, "seed": 0}),
        (sampled_tie_calibration, (np.arange(1500) % 7, np.arange(1500) % 11), (1_000_000, 0)),
    ],
)
def test_what_is_not_said_is_as_documented(call, arguments, stated):
    names = stated if isinstance(stated, dict) else {}
    assert call(*arguments) == call(*arguments, *(() if names else stated), **names)


# --- accuracy and bootstrap


@pytest.mark.usefixtures("bootstrap_above_30")
def test_an_interval_is_the_quantiles_of_its_draws():
    """One cluster of 40 counts, and a draw has it k times with the chances of 40 trials of 1/40: .36, .74, .92, .98."""
    ones, lots = [1.0] * 40, [*[0.0] * 39, 40.0]
    assert bootstrap.ratio_interval(lots, ones) == (0.0, 3.0)
    assert bootstrap.ratio_interval([*[0.0] * 39, -40.0], ones) == (-3.0, 0.0)
    assert bootstrap.ratio_interval(ones, ones) is None, "all alike"
    assert bootstrap.ratio_interval(ones, [0.0] * 40) is None, "undefined"
    low, high = bootstrap.ratio_interval([*[1.0, 3.0] * 4, *[0.0] * 92], [*[1.0] * 8, *[0.0] * 92])
    assert 1 <= low < 2 < high <= 3, "draws of the others alone are left out"
    assert "draws=0, expected 1 or more" in line_of(InputInvalid, bootstrap.ratio_interval, lots, ones, draws=0)
    assert bootstrap.ratio_interval(lots, ones, draws=1) is None, "one draw equals itself"


def test_an_interval_of_few_clusters_is_that_of_the_jackknife():
    """Of a mean, the t interval; with skewness also Hall's, here of 0, ..., 0, 10: longer to the side of the 10."""
    even = [-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0]
    half = stats.t.ppf(0.975, 7) * np.std(even, ddof=1) / 8**0.5
    assert bootstrap.ratio_interval(even, [1.0] * 8) == pytest.approx((-half, half))
    assert bootstrap.ratio_interval(even[:7], [1.0] * 7) is None, "too few clusters"
    assert bootstrap.ratio_interval(even * 2, [1.0] * 16, list(range(8)) * 2) == pytest.approx((-half, half))
    low, high = bootstrap.ratio_interval([*[0.0] * 9, 10.0], [1.0] * 10)
    assert low == pytest.approx(1 - stats.t.ppf(0.975, 9))
    assert high > 1 + 2 * stats.t.ppf(0.975, 9)
    assert bootstrap.ratio_interval([1.0] * 9, [1.0] * 9) is None, "all alike"
    tau = jackknife(0.9, np.array([0.88, 0.9, 0.92] * 4), scale="correlation")
    assert 0.5 < tau[0] < 0.9
    assert tau[1] == 1


def test_a_share_has_an_interval_of_any_number_of_items():
    """Wilson's of 0, 3 and 8 of 8 (Brown, Cai and DasGupta 2001), of alike clusters as if each were an item."""
    assert bootstrap.share_interval([0] * 8) == pytest.approx((0, 0.3244), abs=1e-4)
    assert bootstrap.share_interval([1] * 3 + [0] * 5) == pytest.approx((0.1368, 0.6943), abs=1e-4)
    assert bootstrap.share_interval([1] * 8) == pytest.approx((0.6756, 1), abs=1e-4)
    assert bootstrap.share_interval([1] * 40, None, list(range(8)) * 5) == pytest.approx((0.6756, 1), abs=1e-4)
    assert bootstrap.share_interval([1, 0], None, ["a", "a"]) == (0, 1), "one cluster says nothing"
    twice, once = bootstrap.share_interval([1, 1, 0, 0] * 6, None, [at // 2 for at in range(24)]), (0.2538, 0.7462)
    assert twice[0] < once[0] < once[1] < twice[1], "no more than twelve items say"
    assert bootstrap.share_interval([1] * 3 + [0] * 98) == bootstrap.ratio_interval([1] * 3 + [0] * 98, [1] * 101)
    assert bootstrap.share_interval([1] * 100)[0] == pytest.approx(0.963, abs=1e-3)
    pairs = bootstrap.share_interval([1, 0] * 50, None, [at // 2 for at in range(100)])
    assert pairs == pytest.approx((0.4038, 0.5962), abs=1e-4), "each pair is half right: as of 100 items"
    assert bootstrap.share_interval([]) is bootstrap.share_interval([0.0], [0.0]) is None
    assert accuracy_interval([True] * 4, [False] * 4) == pytest.approx((-1, -0.0202), abs=1e-4)
    assert "hits that are not from 0 to the size" in line_of(InputInvalid, bootstrap.share_interval, [2.0])


@pytest.mark.usefixtures("bootstrap_above_30")
@pytest.mark.parametrize("draws", [249, 250, 300, 600])
def test_as_many_draws_as_asked_for(draws):
    """The statistic of all items first, then of the draws in batches."""
    sizes = []

    def statistic(sums):
        sizes.append(sums.shape[1])
        return bootstrap.ratio(sums)

    bootstrap.interval([SCORES, ONES], statistic, draws=draws)
    assert (sizes[0], sum(sizes[1:])) == (1, draws)


def test_many_kinds_of_clusters_are_drawn_one_by_one_with_the_same_chances(monkeypatch):
    generator, size = np.random.default_rng(1), 600
    values, weights = generator.normal(size=size), generator.integers(1, 4, size)
    monkeypatch.setattr(bootstrap, "NUMBERS_AT_ONCE", 7 * size)
    low, high = bootstrap.ratio_interval(values, weights)

    ascending = np.argsort(values)
    drawn = ascending[np.random.default_rng(0).integers(size, size=(2000, size))]
    means = values[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    assert (low, high) == pytest.approx(np.quantile(means, [0.025, 0.975]))
    of_ones = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    assert bootstrap.ratio_interval(values, np.ones(size)) == pytest.approx(of_ones)
    assert bootstrap.ratio_interval(values[::-1], weights[::-1]) == pytest.approx((low, high)), "in any order"
    monkeypatch.setattr(bootstrap, "KIND_COST", 1)
    assert bootstrap.ratio_interval(values, weights) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_an_estimate_and_its_interval():
    told = bootstrap.estimate([[1.0, 3.0] * 20, [1.0] * 40], bootstrap.ratio, list(range(40)), 0)
    assert told["value"] == 2
    assert 1.5 < told["low"] < 2 < told["high"] < 2.5
    assert bootstrap.estimate([[1.0], [0.0]], bootstrap.ratio, ["a"], 0) == {"value": None, "low": None, "high": None}
    assert bootstrap.estimate([[], []], bootstrap.ratio, [], 0) == {"value": None, "low": None, "high": None}
    for columns in ([[1.0], [1.0, 2.0]], [[math.nan], [1.0]]):
        assert "expected one length and finite numbers" in line_of(InputInvalid, bootstrap.ratio_interval, *columns)


def test_clusters_are_numbered_as_they_appear():
    assert cluster_numbers(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert cluster_numbers(None, 3).tolist() == [0, 1, 2]
    assert "got 1 cluster names for 2 items" in line_of(InputInvalid, cluster_numbers, ["a"], 2)


# --- permutation


def test_one_draw_is_enough_and_the_exact_test_draws_nothing():
    assert paired_permutation([True], [True], [False]).p_value == 1.0
    assert paired_permutation([True] * 2, [True, False], [False, True]).p_value == 1.0
    values = [[1.0, 2.0, 4.0], [3.0, 3.0, 3.5]]
    assert {*pairwise_sign_permutation(values, draws=1)} <= {0.5, 1.0}
    assert "0 draws" in line_of(InputInvalid, pairwise_sign_permutation, values, draws=0)


def test_swaps_in_batches_are_those_drawn_at_once(monkeypatch):
    monkeypatch.setattr(permutation, "BATCH", 4)
    masks = list(permutation.swap_masks(3, 10, np.random.default_rng(0)))
    assert [len(mask) for mask in masks] == [4, 4, 2]
    assert (np.concatenate(masks) == np.random.default_rng(0).integers(0, 2, (10, 3), dtype=np.int8)).all()


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.0, 1.0]) == [0.0, 1.0]
    assert holm([]) == []
    for wrong in (-0.01, 1.01, math.nan):
        assert "expected values from 0 to 1" in line_of(InputInvalid, holm, [wrong])


def test_signs_by_hand():
    """Four equal differences: 2 of 16 swaps are as large; 1 and 2 and -3 sum to 0, which every swap reaches."""
    assert sign_permutation([1.0] * 4) == pytest.approx(2 / 16, abs=0.01)
    assert sign_permutation([-1.0] * 4, draws=1000) == sign_permutation([1.0] * 4, draws=1000)
    assert sign_permutation([0.1, 0.2, -0.3]) == 1.0, "but for rounding"
    assert sign_permutation([3.0, 1.0, 1.0]) == pytest.approx(2 / 8, abs=0.02)
    assert sign_permutation([3.0, 1.0, -1.0]) == pytest.approx(6 / 8, abs=0.02)
    assert sign_permutation([1.0] * 4, ["a", "a", "b", "b"]) == pytest.approx(1 / 2, abs=0.02)
    assert sign_permutation([5.0], draws=1) == 1.0
    assert sign_permutation([1.0] * 60, draws=99) == 0.01
    assert sign_permutation([1.7e308] * 2) == pytest.approx(1 / 2, abs=0.02)
    assert sign_permutation([0.1] * 10) == sign_permutation([1.0] * 10), "but for rounding"
    signs = np.array([1, 1, -1, 1, 1])
    assert {sign_permutation(signs * unit) for unit in (1e308, 5e-324, 1e-3)} == {sign_permutation(signs)}
    assert sign_permutation(signs) > 0.3
    assert sign_permutation(np.zeros(5)) == 1
    for differences in ([], [math.nan]):
        assert "expected finite numbers" in line_of(InputInvalid, sign_permutation, differences)
    assert "got 1 differences and 0 draws" in line_of(InputInvalid, sign_permutation, [1.0], draws=0)


def test_all_pairs_at_once_are_tested_as_each_pair_alone():
    values = np.random.default_rng(4).normal([0, 0.5, 0.5, 0.4], 1, (60, 4))
    p_values = pairwise_sign_permutation(values, draws=500, seed=2)
    assert p_values == [sign_permutation(a - b, draws=500, seed=2) for a, b in combinations(values.T, 2)]
    assert pairwise_sign_permutation([[1, 0], [1, 0], [1, 0], [1, 0], [7, 7]]) == [pytest.approx(2 / 16, abs=0.01)]
    assert pairwise_sign_permutation([[0.1, 0], [0.2, 0], [0, 0.3]]) == [1.0], "but for rounding"
    for refused in ([[1.0], [2.0]], [[1.0, np.nan]], np.zeros((0, 2))):
        assert "two finite columns" in line_of(InputInvalid, pairwise_sign_permutation, refused)


# --- pairs and correlation


def test_all_pairs_are_drawn_with_certainty():
    left, right = _random_pairs(6, 1.0, np.random.default_rng(0))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == list(combinations(range(6), 2))
    left, right = _random_pairs(400, 0.1, np.random.default_rng(0))
    assert abs(len(left) - 7980) < 400
    assert (left < right).all()
    assert (left.min(), right.max()) == (0, 399)
    assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == len(left)
    last = [_random_pairs(400, 0.1, np.random.default_rng(seed))[0].max() for seed in range(20)]
    assert min(last) > 380, "none of the last 190 pairs: once in 10 ** 9"


def test_as_many_pairs_as_there_are_is_exact():
    gold, metric = [0, 0, 1, 1], [0.0, 1.0, 2.0, 3.0]
    assert sampled_tie_calibration(gold, metric, 6).accuracy == 5 / 6
    assert "got pairs=0, expected at least 1" in line_of(InputInvalid, sampled_tie_calibration, gold, metric, 0)
    told = sampled_tie_calibration([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], 5)
    assert (told.accuracy, told.epsilon) == (1.0, 0.0)


def test_counts_by_hand():
    """Gold 0 0 1 1, metric 0 1 1 3: a gold tie at distance 1, one at 2; concordant at 1, 3, 2, and one metric tie."""
    pairs = Pairs(np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 1, 3]))
    unit = 3 / pairs.widest
    counts = [pairs.counts_at(epsilon / unit) for epsilon in (0.0, 0.9, 1.0, 2.0, 3.0)]
    numbers = [(count.ties, count.concordant, count.agreeing) for count in counts]
    assert numbers == [(0, 3, 3), (0, 3, 3), (1, 2, 3), (2, 1, 3), (2, 0, 2)]
    assert pairs.total == 6
    below = [pairs.converted(pairs.next_below(epsilon / unit)) for epsilon in (3.0, 2.0, 1.5, 1.0)]
    assert below == [2.0, 1.0, 1.0, 0.0]
    none, whole = pairs.counts_at(0.0), pairs.counts_at(pairs.widest)
    assert pairs.converted(middle_difference(pairs, none.reach, whole.reach - none.reach)) in (1.0, 2.0)


def test_differences_one_apart_are_tied_one_after_the_other():
    """Whole scores, as no standardised ones are."""
    for seed in range(60):
        dice = np.random.default_rng(seed)
        gold = dice.integers(0, 3, 12) * 1.0
        scores = 2 * gold + dice.integers(0, 3, 12)
        search = AgreementSearch(SwappedPairs(gold, scores, gold).after_swapping(np.zeros(12, dtype=bool))[0])
        while search.slack:
            search.refine()
        assert search.best / 66 == tie_calibrated_accuracy(gold, scores).accuracy


# --- ranking, calibration


@pytest.mark.usefixtures("bootstrap_above_30")
def test_auroc_by_hand():
    """Errors -5 and 0, correct 0 and 1: 1 + 1 + 1/2 + 1 of 4 pairs; one error without a score."""
    assert auroc([True, True, False, False, True], [-5.0, 0.0, 0.0, 1.0, None]) == Estimate(0.875, None, None)
    estimate = auroc(GOLD, SCORES, BY_THREE)
    assert estimate.low < estimate.value < estimate.high
    for gold, scores in (([True, False], [None, None]), ([True, True], [1.0, 2.0]), ([], [])):
        assert auroc(gold, scores).value is None
    assert auroc([True, False], [1.0, 1.0]).value == 0.5, "equal scores order nothing"
    assert auroc([True, False], [1.0, 2.0], ["a", "a"]).low is None
    assert auroc(GOLD, SCORES, draws=1).low is None, "one draw equals itself"


@pytest.mark.parametrize(
    ("use", "low"),
    [
        (lambda score: fit_calibration([True, False], [score, 0.5]), -1.0),
        (lambda score: error_probabilities(fit_calibration([True, False], [1.0, -1.0]), [score]), -1.0),
    ],
)
def test_bounds_of_certainties_are_allowed_and_nothing_beyond(use, low):
    assert use(low)
    assert use(1.0)
    for wrong in (low - 0.01, 1.01, math.inf):
        with pytest.raises(InputInvalid, match=re.escape(f"not within {low} to 1.0")):
            use(wrong)


def test_probabilities_by_hand():
    platt = fit_calibration([True, True, True, False, True], [0.5, 0.5, 0.5, -0.5, None])
    assert (platt.n, platt.unscored, platt.errors) == (4, 1, 3)
    *probabilities, unknown = error_probabilities(platt, [0.5, -0.5, None])
    assert unknown is None
    assert probabilities == pytest.approx([4 / 5, 1 / 3]), "Platt's targets: (3 + 1) / (3 + 2), 1 / (1 + 2)"


# --- agreement of raters


def test_pairs_are_taken_together_for_whole_items_up_to_a_limit(monkeypatch):
    """Items of 2, 3 and 1 rows have 1, 3 and 0 pairs; each row is with the number of rows behind it in its item."""
    sizes = np.array([2, 3, 1])
    assert [(first, after.tolist()) for first, after in _pairs_in_items(sizes)] == [(0, [1, 0, 2, 1, 0, 0])]
    monkeypatch.setattr(correlation, "PAIRS_AT_ONCE", 3)
    assert [(first, after.tolist()) for first, after in _pairs_in_items(sizes)] == [(0, [1, 0]), (2, [2, 1, 0, 0])]

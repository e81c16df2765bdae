"""The correlation tests against every swap in exact fractions, scipy, and the existing exact tie calibration."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from excam.core.exceptions import InputInvalid
from excam.stats import kendall, swapped_pairs, tie_calibrated_accuracy
from excam.stats import permutation_correlation as tested
from excam.stats.permutation_correlation import correlation_permutation, standardise
from excam.stats.swapped_pairs import AgreementSearch, SwappedPairs

MEASURES = ["kendall", "tie-calibrated"]


# --- the common scale


def test_standardised_scores_have_mean_0_and_deviation_1():
    from scipy.stats import zscore

    rng = np.random.default_rng(1)
    for row in (rng.normal(3, 7, 90), rng.integers(-9, 1, 90) * 1.0, rng.normal(0, 1e200, 50), rng.random(50) * 1e-200):
        with np.errstate(over="ignore", invalid="ignore"):
            expected = zscore(row / np.ptp(row))
        assert standardise(row) == pytest.approx(expected, abs=1e-6)
    assert (standardise(np.full(4, 0.3)) == 0).all()


def test_equal_differences_of_severity_scores_stay_equal():
    """0 - -5 and -5 - -10 are one epsilon; a z-score rounded by float64 would make them two."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        scores = rng.choice([0.0, -1, -2, -5, -6, -10, -11, -47], 40)
        scaled = standardise(scores)
        raw, new = np.subtract.outer(scores, scores), np.subtract.outer(scaled, scaled)
        assert len({(r, n) for r, n in zip(raw.ravel(), new.ravel(), strict=True)}) == len(set(raw.ravel()))
    gold = rng.choice([0.0, -1, -5], 40)
    assert tie_calibrated_accuracy(gold, scaled).accuracy == tie_calibrated_accuracy(gold, scores).accuracy


# --- counts of one draw against the definitions


SCORES = {
    "few values": lambda rng, gold: rng.choice([0.0, -1, -5, -6], len(gold)),
    "continuous": lambda rng, gold: gold + rng.normal(0, 2, len(gold)),
    "excam": lambda rng, gold: np.where(
        rng.random(len(gold)) < 0.5, rng.choice([-10.0, -5, -1], len(gold)), rng.random(len(gold))
    ),
    "constant": lambda rng, gold: np.full(len(gold), 0.3),
}


@pytest.mark.parametrize("leaf", [1, 1 << 13])
@pytest.mark.parametrize(("name", "other"), itertools.combinations_with_replacement(SCORES, 2))
def test_a_draw_counts_like_the_swapped_vectors(monkeypatch, leaf, name, other):
    monkeypatch.setattr(swapped_pairs, "LEAF", leaf)
    rng = np.random.default_rng(len(name) * 31 + len(other))
    for _ in range(4):
        n = int(rng.integers(2, 40))
        gold = rng.integers(-3, rng.integers(-2, 4), n) * 1.0
        a, b = (standardise(SCORES[kind](rng, gold)) for kind in (name, other))
        swaps = SwappedPairs(gold, a, b)
        for _ in range(3):
            swap = rng.random(n) < 0.5
            swapped = (np.where(swap, b, a), np.where(swap, a, b))
            for drawn, scores in zip(swaps.after_swapping(swap), swapped, strict=True):
                search = AgreementSearch(drawn)
                exact = tie_calibrated_accuracy(gold, scores).accuracy * swaps.total
                while search.slack:
                    assert search.best <= exact + 1e-6
                    assert exact - 1e-6 <= search.bound
                    search.refine()
                assert search.best / swaps.total == pytest.approx(exact / swaps.total, abs=1e-12)


# --- the whole test against every swap, in fractions


def tau_parts(gold, scores):
    """Concordant minus discordant pairs and the squared denominator of tau-b: integers."""
    pairs = list(itertools.combinations(range(len(gold)), 2))
    sign = [(np.sign(gold[i] - gold[j]), np.sign(scores[i] - scores[j])) for i, j in pairs]
    return int(sum(g * s for g, s in sign)), sum(g != 0 for g, _ in sign) * sum(s != 0 for _, s in sign)


def calibrated(gold, scores):
    pairs = list(itertools.combinations(range(len(gold)), 2))
    counts = []
    for epsilon in {Fraction(0)} | {abs(scores[i] - scores[j]) for i, j in pairs}:
        right = 0
        for i, j in pairs:
            g, s = gold[i] - gold[j], scores[i] - scores[j]
            tied = abs(s) <= epsilon
            right += tied if g == 0 else (not tied and (g > 0) == (s > 0))
        counts.append(right)
    return Fraction(max(counts), len(pairs))


def every_swap(gold, a, b, clusters, measure):
    """Differences of the measure under all 2^clusters swaps, on scores as exact fractions."""
    names = sorted(set(clusters))
    differences = []
    for swap in itertools.product((False, True), repeat=len(names)):
        swapped = [swap[names.index(c)] for c in clusters]
        first = [y if s else x for x, y, s in zip(a, b, swapped, strict=True)]
        second = [x if s else y for x, y, s in zip(a, b, swapped, strict=True)]
        if measure == "tie-calibrated":
            differences.append(calibrated(gold, first) - calibrated(gold, second))
        else:
            parts = [(*tau_parts(gold, first), 1), (*tau_parts(gold, second), -1)]
            differences.append(math.fsum(top / below**0.5 * s if below else 0 for top, below, s in parts))
    return differences


@pytest.mark.parametrize("measure", MEASURES)
def test_the_p_value_is_the_share_of_swaps_as_extreme(monkeypatch, measure):
    """With every swap as the draws, p is (hits + 1) / (2^clusters + 1)."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        clusters = [0, 0, 1, 2, 2, 3, 4]
        gold = rng.choice([0, -1, -5], 7).tolist()
        gold[:2] = [0, -5]
        a, b = (rng.choice([0.0, -1, -5, 0.7], 7) for _ in range(2))
        a[:2], b[:2] = [0.7, -1], [-5, 0]
        masks = np.array(list(itertools.product((0, 1), repeat=5)), dtype=np.int8)
        monkeypatch.setattr(tested, "swap_masks", lambda n, draws, generator, masks=masks: iter([masks]))
        comparison = correlation_permutation(gold, a, b, measure=measure, clusters=clusters, draws=32)
        exact = [[Fraction(float(v)) for v in standardise(row)] for row in (a, b)]
        differences = every_swap(gold, *exact, clusters, measure)
        observed = differences[0]  # no cluster swapped
        hits = sum(abs(d) >= abs(observed) - Fraction(1, 10**12) for d in differences)
        assert comparison.p_value == (hits + 1) / 33
        assert comparison.difference == pytest.approx(float(observed), abs=1e-12)
        assert (comparison.n, comparison.clusters) == (7, 5)


def test_the_shared_tables_change_no_p_value(monkeypatch):
    rng = np.random.default_rng(4)
    gold = rng.choice([0.0, -1, -5], 60)
    a, b = (SCORES["excam"](rng, gold) for _ in range(2))
    fast = correlation_permutation(gold, a, b, measure="tie-calibrated", draws=60, seed=5)
    monkeypatch.setattr(swapped_pairs, "TABLE", 0)
    slow = correlation_permutation(gold, a, b, measure="tie-calibrated", draws=60, seed=5)
    assert (fast.p_value, fast.n, fast.draws) == (slow.p_value, slow.n, slow.draws)
    assert fast.difference == pytest.approx(slow.difference, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_large_difference_is_found_and_signed(measure):
    rng = np.random.default_rng(6)
    gold = rng.choice([0.0, -1, -5], 300)
    good, bad = gold + rng.normal(0, 0.5, 300), rng.normal(0, 1, 300)
    both = correlation_permutation(gold, good, bad, measure=measure, draws=99)
    assert both.p_value == 0.01
    assert both.difference > 0.1
    assert both.difference == pytest.approx(both.a - both.b, abs=1e-12)
    assert correlation_permutation(gold, bad, good, measure=measure, draws=99).p_value == 0.01
    assert correlation_permutation(gold, good, good, measure=measure, draws=99).p_value == 1.0


def test_an_item_without_a_score_is_left_out_for_both_and_counted():
    gold, a, b = [0, -1, -5, 0, -5], [0, -1, -5, None, -1], [0.5, None, -5, 0, 0]
    comparison = correlation_permutation(gold, a, b, draws=9, clusters=list("vvxyz"))
    assert (comparison.n, comparison.left_out, comparison.clusters) == (3, 2, 3)
    assert comparison.a == pytest.approx(kendall([0, -5, -5], [0, -5, -1]), abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "a", "b", "more"),
    [
        ([0, 1], [0, 1], [0], {}),
        ([0, 1], [0, None], [1, 0], {}),
        ([], [], [], {}),
        ([0, 1, 2], [0, math.nan, 1], [0, 1, 2], {}),
        ([0, 1, 2], [0, math.inf, 1], [0, 1, 2], {}),
        ([0, 0, 0], [0, 1, 2], [0, 1, 2], {}),
        ([0, 1, 2], [5, 5, 5], [0, 1, 2], {}),
        ([0, 1, 2], [0, 1, 2], [0, 2, 1], {"draws": 0}),
        ([0, 1, 2], [0, 1, 2], [0, 2, 1], {"measure": "pearson"}),
        ([0, 1, 2], [0, 1, 2], [0, 2, 1], {"clusters": ["x"]}),
    ],
)
def test_what_cannot_be_tested_is_refused_in_one_line(gold, a, b, more):
    with pytest.raises(InputInvalid) as caught:
        correlation_permutation(gold, a, b, **more)
    assert "\n" not in str(caught.value)


def test_a_constant_metric_has_a_tie_calibration_but_orders_nothing():
    comparison = correlation_permutation([0, 0, -1, -5], [0.3] * 4, [1, 2, 3, 4], measure="tie-calibrated", draws=19)
    assert comparison.a == pytest.approx(1 / 6)

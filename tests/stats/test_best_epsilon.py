"""Tie calibration is exact: every pair enumerated says the same, however it is searched for."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from excam.stats import best_epsilon, tie_calibrated_accuracy
from excam.stats import pairs as numbers
from excam.stats.pairs import Pairs, in_units

SMALLEST = 5e-324
METRICS = {
    "continuous": lambda rng, gold: gold + rng.normal(0, 2, len(gold)),
    "unrelated": lambda rng, gold: rng.random(len(gold)),
    "against": lambda rng, gold: rng.normal(0, 1, len(gold)) - gold,
    "heavy tails": lambda rng, gold: gold + rng.standard_cauchy(len(gold)),
    "few values": lambda rng, gold: rng.integers(0, 5, len(gold)) * 1.0,
    "excam": lambda rng, gold: np.where(
        rng.random(len(gold)) < 0.5, rng.choice([-10, -5, -1], len(gold)), rng.random()
    ),
    "excam +p": lambda rng, gold: np.where(rng.random(len(gold)) < 0.5, gold - 1, rng.random(len(gold))),
    "decimals": lambda rng, gold: np.round(rng.random(len(gold)), 1),  # 0.3 - 0.2 != 0.2 - 0.1 in float64
    "steps": lambda rng, gold: np.arange(len(gold)) * 0.1,
    "close": lambda rng, gold: rng.integers(0, 3, len(gold)) + rng.random(len(gold)) * 1e-9,
    "last bits": lambda rng, gold: 1 + rng.integers(0, 30, len(gold)) * 2.0**-52,
    "far from 0": lambda rng, gold: 1e15 + rng.integers(0, 9, len(gold)) / 8,
    "many scales": lambda rng, gold: rng.choice([1e16, -1e16, 3, 1e-9, 0.1, 0.2, 0.3, SMALLEST, -0.0, 0.0], len(gold)),
    "all scales": lambda rng, gold: rng.choice([-1, 1], len(gold)) * np.exp(rng.normal(0, 100, len(gold))),
    "smallest": lambda rng, gold: rng.integers(-40, 40, len(gold)) * SMALLEST,
    "largest": lambda rng, gold: 8e307 * (rng.random(len(gold)) ** 9 - 0.5),
    "as large as can be": lambda rng, gold: np.r_[np.finfo(float).max, 0, rng.random(len(gold))][: len(gold)],
    "constant": lambda rng, gold: np.full(len(gold), 0.3),
}
MOST = (1, 8, 1 << 20)  # pairs that are enumerated: nearly none, few, all


def by_pairs(gold, metric):
    """Pair by pair, in integers: the share agreeing and the smallest best epsilon."""
    agreeing, gains = 0, Counter({0.0: 0})
    metric, converted = in_units(metric)
    for (gold_i, i), (gold_j, j) in itertools.combinations(zip(gold.tolist(), metric.tolist(), strict=True), 2):
        step = round(i - j)
        concordant = (gold_i > gold_j and step > 0) or (gold_i < gold_j and step < 0)
        agreeing += concordant
        gains[abs(step)] += (gold_i == gold_j) - concordant
    best = (-1, 0.0)
    for epsilon in sorted(gains):
        agreeing += gains[epsilon]
        best = max(best, (agreeing, -epsilon))
    return Fraction(best[0], len(gold) * (len(gold) - 1) // 2), converted(abs(best[1]))


def by_differences(gold, metric):
    """The same in NumPy, for hundreds of items."""
    first, second = np.triu_indices(len(gold), 1)
    metric, converted = in_units(metric)
    step, order = np.rint(metric[second] - metric[first]), np.sign(gold[second] - gold[first])
    tied, concordant = order == 0, (order != 0) & (np.sign(step) == order)
    epsilons = np.unique(np.r_[0, np.abs(step)])
    counts = [np.searchsorted(np.sort(np.abs(step[kind])), epsilons, side="right") for kind in (tied, concordant)]
    agreeing = counts[0] + concordant.sum() - counts[1]
    return agreeing.max() / len(first), converted(float(epsilons[np.argmax(agreeing)]))


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("name", METRICS)
def test_equals_all_pairs(monkeypatch, name, most):
    monkeypatch.setattr(best_epsilon, "MOST_SORTED", most)
    rng = np.random.default_rng([len(name), most])
    for round_ in range(40):
        n = int(rng.integers(2, 30))
        gold = rng.random(n) if round_ % 8 == 0 else rng.integers(-3, rng.integers(-2, 5), n) * 1.0
        metric = METRICS[name](rng, gold)
        calibration = tie_calibrated_accuracy(gold, metric)
        accuracy, epsilon = by_pairs(gold, metric)
        assert calibration.accuracy == float(accuracy)
        assert calibration.epsilon == epsilon


@pytest.mark.parametrize("most", [64, 1 << 20])
@pytest.mark.parametrize("name", ["continuous", "unrelated", "heavy tails", "excam +p", "decimals", "all scales"])
def test_equals_all_pairs_of_hundreds_of_items(monkeypatch, name, most):
    monkeypatch.setattr(best_epsilon, "MOST_SORTED", most)
    rng = np.random.default_rng([len(name), most])
    for classes in (2, 5, 30):
        gold = -rng.integers(0, classes, int(rng.integers(300, 600))) * 1.0
        metric = METRICS[name](rng, gold)
        calibration = tie_calibrated_accuracy(gold, metric)
        assert (calibration.accuracy, calibration.epsilon) == by_differences(gold, metric)


@pytest.mark.parametrize("batch", [1, 7, 1 << 15])
def test_every_pair_that_matters_is_listed_once(monkeypatch, batch):
    monkeypatch.setattr(numbers, "BATCH", batch)
    rng = np.random.default_rng(batch)
    for classes in (1, 2, 3, 8):
        pairs = Pairs(rng.integers(0, classes, 60) * 1.0, np.round(rng.random(60), 1))
        low, high = pairs.reach(1e11), pairs.reach(5e11)
        signed_pairs = [
            (i, j, sign)
            for left, right, sign in pairs.pairs_between(low, high)
            for i, j in zip(left.tolist(), right.tolist(), strict=True)
        ]
        step = {(i, j): pairs.gold[j] - pairs.gold[i] for i in range(len(low)) for j in range(low[i], high[i])}
        assert sorted(signed_pairs) == sorted((*pair, -1 if up else 1) for pair, up in step.items() if up >= 0)


@pytest.mark.parametrize("name", ["continuous", "unrelated", "heavy tails"])
def test_few_pairs_are_listed(monkeypatch, name):
    """The point of the bounds, without a clock: seconds would differ between machines."""
    monkeypatch.setattr(best_epsilon, "MOST_SORTED", 1 << 14)
    listed, counted = [], []
    pairs_between, counts_at = Pairs.pairs_between, Pairs.counts_at
    monkeypatch.setattr(Pairs, "pairs_between", lambda *of: listed.append((of[2] - of[1]).sum()) or pairs_between(*of))
    monkeypatch.setattr(Pairs, "counts_at", lambda *of: counted.append(of) or counts_at(*of))
    rng = np.random.default_rng(1)
    gold = rng.choice([0.0, -1, -2, -5, -10], 4000, p=[0.5, 0.1, 0.1, 0.25, 0.05])
    tie_calibrated_accuracy(gold, METRICS[name](rng, gold))
    assert 0 < sum(listed) < 0.1 * 4000 * 3999 / 2
    assert len(counted) < 200

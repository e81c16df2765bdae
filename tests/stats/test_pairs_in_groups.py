"""Pairs inside groups, and words: each number beside a calculation that lists everything."""

from itertools import combinations

import numpy as np
import pytest

from excam.stats import bootstrap, correlation
from excam.stats.clusters import by_content, cluster_numbers, content_keys
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.words_regression import predictions_from_words, words


def listed(gold, scores, groups, weights):
    """C - D, pairs with different labels and pairs with different scores, from all pairs."""
    balance = labels = values = 0
    for i, j in combinations(range(len(gold)), 2):
        if groups[i] == groups[j]:
            times = weights[i] * weights[j]
            balance += times * np.sign(gold[i] - gold[j]) * np.sign(scores[i] - scores[j])
            labels += times * (gold[i] != gold[j])
            values += times * (scores[i] != scores[j])
    return balance, labels, values


@pytest.mark.parametrize("label_values", [1, 2, 4, 9, 1000])
def test_pairs_of_groups_are_those_of_a_list(label_values):
    draw = np.random.default_rng(label_values)
    for _ in range(40):
        n = int(draw.integers(2, 20))
        gold, scores = draw.integers(0, label_values, n) / 3, draw.integers(0, draw.integers(1, 20), n) * 0.1
        groups, weights = draw.integers(0, 3, n).tolist(), draw.integers(0, 3, n).astype(float)
        sums = GroupedPairs(gold, scores, groups).sums(weights)
        totals = sums.balance.sum(), sums.labels_differ.sum(), sums.scores_differ.sum()
        assert totals == pytest.approx(listed(gold, scores, groups, weights))
        balance, labels, values = listed(gold, scores, groups, weights)
        assert sums.tau_b == pytest.approx(
            balance / (labels * values) ** 0.5 if labels * values else np.nan, nan_ok=True
        )
        assert sums.ordered == pytest.approx((1 + balance / labels) / 2 if labels else np.nan, nan_ok=True)
        whole = GroupedPairs(gold, scores).sums()
        assert whole.tau_b == pytest.approx(correlation.kendall(gold, scores), nan_ok=True)


@pytest.mark.usefixtures("bootstrap_above_30")
@pytest.mark.parametrize("label_values", [2, 5, 1000])
@pytest.mark.parametrize(("in_groups", "many"), [(False, 25), (True, 25), (True, 50)])
def test_a_draw_of_clusters_is_a_copy_of_their_rows(label_values, in_groups, many, monkeypatch):
    """Also one without a cluster, by which few clusters are judged."""
    rng = np.random.default_rng(label_values)
    gold, scores = rng.integers(0, label_values, 90) * 1.0, rng.integers(0, 30, 90) * 1.0
    clusters, groups = rng.integers(0, many, 90).tolist(), rng.integers(0, 4 if in_groups else 1, 90)
    seen = []
    whole = bootstrap.intervals

    def intervals(measures, size, **settings):
        return whole(lambda times: seen.append((times, sums := measures(times))) or sums, size, **settings)

    monkeypatch.setattr(bootstrap, "intervals", intervals)
    GroupedPairs(gold, scores, groups.tolist()).intervals(clusters, 20, seed=1)
    size = len(set(clusters))
    number = by_content(cluster_numbers(clusters, 90), gold, scores, content_keys(groups, gold, scores)[groups])
    assert len(seen) == 1 + (20 if size > 30 else size)
    for times, (tau, ordered) in seen:
        rows = np.concatenate([np.flatnonzero(number == cluster) for cluster in np.repeat(np.arange(size), times)])
        copied = GroupedPairs(gold[rows], scores[rows], groups[rows].tolist()).sums()
        assert times.sum() in (size - 1, size)
        assert (tau, (1 + ordered) / 2) == pytest.approx((copied.tau_b, copied.ordered))


@pytest.mark.parametrize("at_once", [1, 20, 1 << 18])
def test_ties_inside_items_are_calibrated_on_the_listed_pairs(at_once, monkeypatch):
    """Items of many sizes, some with one row, mixed in the file: every epsilon is tried."""
    monkeypatch.setattr(correlation, "PAIRS_AT_ONCE", at_once)
    rng = np.random.default_rng(at_once)
    gold, scores, items = rng.integers(0, 4, 50), rng.integers(0, 12, 50) / 4, rng.integers(0, 20, 50).tolist()
    pairs = [pair for pair in combinations(range(50), 2) if items[pair[0]] == items[pair[1]]]

    def agreeing(epsilon):
        shares: dict[int, list[bool]] = {}
        for i, j in pairs:
            step = scores[i] - scores[j] if abs(scores[i] - scores[j]) > epsilon else 0
            shares.setdefault(items[i], []).append(np.sign(step) == np.sign(gold[i] - gold[j]))
        return np.mean([np.mean(of_item) for of_item in shares.values()])

    best = max(agreeing(epsilon) for epsilon in {0.0, *(abs(scores[i] - scores[j]) for i, j in pairs)})
    calibrated = correlation.tie_calibration_by_item(gold, scores, items)
    assert calibrated is not None
    assert calibrated.accuracy == pytest.approx(best)
    assert agreeing(calibrated.epsilon) == pytest.approx(best)


def test_words_are_learnt_from_other_groups_only():
    texts = [f"{'good' if n % 2 else 'bad'} text n{n % 7}" for n in range(40)]
    labels = [n % 2 for n in range(40)]
    predictions = predictions_from_words(texts, labels, list(range(40)))
    assert GroupedPairs(labels, predictions).sums().ordered == 1
    own = [f"w{n}" for n in range(40)]
    assert np.ptp(predictions_from_words(own, labels, list(range(40)))) == 0, "a word of one group says nothing"
    assert predictions_from_words(texts, labels, ["one"] * 40).tolist() == [0] * 40
    assert predictions_from_words(["", " "], [0, 1], [0, 1]).tolist() == [0, 0]
    assert words("Größe हिन्दी 日本 x1") == ["grösse", "हिन्दी", "日", "本", "x1"]
    marked = ("தமிழ்", "العَرَبِيَّة", "naïve", "e\u0301tat", "42")
    assert words(" ".join(marked)) == list(marked), "a mark ends no word"

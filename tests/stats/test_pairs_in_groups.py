"""Pairs inside groups, systems and words: each number beside a calculation that lists everything."""

from itertools import combinations, product

import numpy as np
import pytest
from one_line_errors import line_of
from sklearn.feature_extraction.text import TfidfVectorizer

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap, correlation
from excam.stats.clusters import by_content, cluster_numbers, content_keys
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.system_level import better_p_values, system_level
from excam.stats.words_regression import _bags, predictions_from_words, words


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
        assert GroupedPairs(gold, scores).sums().tau_b == pytest.approx(correlation.kendall(gold, scores), nan_ok=True)


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


def test_p_values_of_systems_tend_to_those_of_all_swaps():
    grid = np.array([[3.0, 1, 2], [2, 2, np.nan], [5, 1, 4], [1, 0, 2], [2, 3, 2]])
    p_values = better_p_values(grid, draws=20_000)
    for a, b in product(range(3), repeat=2):
        if a == b:
            assert np.isnan(p_values[a, b])
            continue
        steps = [step for step in grid[:, a] - grid[:, b] if not np.isnan(step)]
        sums = [np.dot(signs, steps) for signs in product((-1, 1), repeat=len(steps))]
        assert p_values[a, b] == pytest.approx(np.mean(np.array(sums) >= sum(steps)), abs=0.012)


def test_soft_pairwise_accuracy_is_that_of_the_p_values_and_not_of_the_order():
    """The definition of Thompson et al., over one order of each pair, on scores without ties."""
    draw = np.random.default_rng(5)
    labels = draw.normal(size=(5, 60)) + np.arange(5)[:, None] / 10
    scores = labels / 3 + draw.normal(size=(5, 60))
    systems, items = np.repeat(list("edcba"), 60).tolist(), np.tile(np.arange(60), 5).tolist()
    agreement = system_level(labels.ravel(), scores.ravel(), systems, items, draws=4000)
    apart = np.abs(better_p_values(labels.T, 4000) - better_p_values(scores.T, 4000))
    assert agreement.soft == pytest.approx(1 - apart[np.triu_indices(5, 1)].mean(), abs=1e-3)
    means = labels.mean(axis=1), scores.mean(axis=1)
    signs = [[np.sign(mean[i] - mean[j]) for i, j in combinations(range(5), 2)] for mean in means]
    agree = np.equal(*signs)
    assert (agreement.systems, agreement.items, agreement.tested, agreement.accuracy) == (5, 60, 10, np.mean(agree))
    assert agreement.pearson == pytest.approx(np.corrcoef(*means)[0, 1])
    assert agreement.kendall == pytest.approx(correlation.kendall(*means))


def test_a_constant_knows_no_system_whatever_their_order():
    labels = [1.0, 2, 3, 4, 5, 6]
    for systems in ("aabbcc", "ccbbaa"):
        agreement = system_level(labels, [0.0] * 6, list(systems), [0, 1] * 3)
        assert (agreement.accuracy, agreement.pearson, agreement.kendall) == (0.0, None, None)
        assert agreement.soft == pytest.approx(0.5, abs=0.15), "swaps of two items are few"
    alone = system_level(labels, labels, ["a"] * 6, list(range(6)))
    assert (alone.systems, alone.accuracy, alone.soft) == (1, None, None)
    assert "expected as many systems and items as rows" in line_of(InputInvalid, system_level, labels, labels, "a", [1])


def test_words_are_learnt_from_other_groups_only():
    texts = [f"{'good' if n % 2 else 'bad'} text n{n % 7}" for n in range(40)]
    labels = [n % 2 for n in range(40)]
    assert GroupedPairs(labels, predictions_from_words(texts, labels, list(range(40)))).sums().ordered == 1
    own = [f"w{n}" for n in range(40)]
    assert np.ptp(predictions_from_words(own, labels, list(range(40)))) == 0, "a word of one group says nothing"
    assert predictions_from_words(texts, labels, ["one"] * 40).tolist() == [0] * 40
    assert predictions_from_words(["", " "], [0, 1], [0, 1]).tolist() == [0, 0]
    assert words("Größe हिन्दी 日本 x1") == ["grösse", "हिन्दी", "日", "本", "x1"]
    marked = ("தமிழ்", "العَرَبِيَّة", "naïve", "e\u0301tat", "42")
    assert words(" ".join(marked)) == list(marked), "a mark ends no word"


def test_bags_of_words_are_those_of_scikit_learn():
    texts = ["tea tea with milk", "mate with friends", "tea", "coffee and cake"]
    peer = TfidfVectorizer(binary=True).fit_transform(texts).toarray()
    assert np.sort(_bags(texts).toarray(), axis=1) == pytest.approx(np.sort(peer, axis=1))

"""Draws follow the content: neither the order of rows, nor a name, nor which side comes first decides a digit."""

import numpy as np
import pytest

from excam.stats import agreement, bootstrap, paired_permutation, tie_calibrated_accuracy
from excam.stats.accuracy import summarise_accuracy
from excam.stats.binary_gold import association, auroc
from excam.stats.correlation import sampled_tie_calibration, tie_calibration_by_item
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.icc import icc11, icc21_bootstrap
from excam.stats.permutation_correlation import correlation_permutation
from excam.stats.sign_permutation import pairwise_sign_permutation, sign_permutation
from excam.stats.system_level import system_level
from excam.stats.words_regression import predictions_from_words

WORDS = ["greet", "bow", "shake", "hands", "kiss", "cheek", "nod"]


def made(clusters, seed):
    """Return rows: label, two scores, cluster, group, system, item, text; scores are decimals with many ties."""
    dice = np.random.default_rng([clusters, seed])
    return [
        (
            float(dice.integers(0, 3)),
            float(dice.integers(-9, 10)) / 10,
            float(dice.integers(-9, 10)) / 10,
            f"c{cluster}",
            f"g{dice.integers(0, 3)}",
            f"s{row}",
            f"i{cluster}",
            " ".join(dice.choice(WORDS, 3)),
        )
        for cluster in range(clusters)
        for row in range(3)
    ]


def statistics(rows):
    gold, a, b, cluster, group, system, item, text = map(list, zip(*rows, strict=True))
    yes, predicted, other = ([value > 0 for value in column] for column in (gold, a, b))
    step, ones = np.subtract(a, b), [1.0] * len(a)
    by_cluster = {name: [row[1] for row in rows if row[3] == name] for name in dict.fromkeys(cluster)}
    words = [[str(value) for value in three] for three in zip(gold, a, b, strict=True)]
    values = sorted({value for three in words for value in three})
    graded = [tuple("low" if value < 0 else "high" for value in pair) for pair in zip(a, b, strict=True)]
    by_words = predictions_from_words(text, gold, cluster)
    return {
        "mean": bootstrap.mean(a, cluster, 1),
        "share": bootstrap.share(predicted, cluster, 1),
        "difference": bootstrap.ratio_interval(step, ones, cluster),
        "difference of means": bootstrap.difference_of_means(a, yes, cluster, 1),
        "accuracy": summarise_accuracy(yes, predicted, cluster),
        "alpha": agreement.alpha(words, values, "ordinal", 1),
        "alpha of numbers": agreement.alpha_of_numbers(list(by_cluster.values()), 1),
        "kappa": agreement.kappa(words, values, 3, 1),
        "Cohen's kappa": agreement.cohens_kappa(graded, 1),
        "ICC(1,1)": icc11(list(by_cluster.values()), 1),
        "AUROC": auroc(yes, a, cluster),
        "association": association(yes, a, cluster),
        "tau-b": GroupedPairs(gold, a).intervals(cluster, 200, 1),
        "pairs in groups": GroupedPairs(gold, a, group).intervals(cluster, 200, 1),
        "signs": sign_permutation(step, cluster, 500),
        "accuracies": paired_permutation(yes, predicted, other, clusters=cluster),
        "taus": correlation_permutation(gold, a, b, clusters=cluster, draws=100),
        "tie-calibrated": correlation_permutation(gold, a, b, clusters=cluster, draws=20, measure="tie-calibrated"),
        "tie-calibrated by item": tie_calibration_by_item(gold, a, group),
        "sampled pairs": sampled_tie_calibration(gold, a, 200),
        "systems": system_level(gold, a, system, item, draws=100),
        "words": sorted(zip(text, np.round(by_words, 6).tolist(), strict=True)),
    }


@pytest.mark.parametrize("clusters", [9, 45])
@pytest.mark.parametrize("seed", range(4))
def test_rows_in_another_order_under_other_names(clusters, seed):
    rows = made(clusters, seed)
    dice = np.random.default_rng(seed)
    systems = dict(zip(("s0", "s1", "s2"), dice.permutation(["x", "y", "z"]).tolist(), strict=True))
    mixed = [rows[at] for at in dice.permutation(len(rows))]
    renamed = [(*row[:3], row[3][::-1], row[4] * 2, systems[row[5]], row[6][::-1], row[7]) for row in mixed]
    expected, mixed_up = statistics(rows), statistics(renamed)
    for name, value in expected.items():
        assert mixed_up[name] == value, name


@pytest.mark.parametrize("clusters", [9, 45])
@pytest.mark.parametrize("seed", range(4))
def test_b_and_a_for_a_and_b(clusters, seed):
    rows = made(clusters, seed)
    there, back = (statistics(side) for side in (rows, [(row[0], row[2], row[1], *row[3:]) for row in rows]))
    low, high = there["difference"]
    assert back["difference"] == (-high, -low)
    for name in ("signs", "Cohen's kappa"):
        assert back[name] == there[name], name
    for name in ("accuracies", "taus", "tie-calibrated"):
        assert back[name].p_value == there[name].p_value, name
    a, is_first, cluster = [row[1] for row in rows], [row[0] > 0 for row in rows], [row[3] for row in rows]
    turned = bootstrap.difference_of_means(a, np.logical_not(is_first), cluster, 1)
    assert (-turned["high"], -turned["low"]) == tuple(there["difference of means"].values())[1:]
    table = np.array([row[:3] for row in rows])
    first, second, third = pairwise_sign_permutation(table, 200)
    assert pairwise_sign_permutation(table[::-1, [2, 0, 1]], 200) == [second, third, first]
    assert icc21_bootstrap(table, 1) == icc21_bootstrap(table[::-1, [2, 0, 1]], 1)


@pytest.mark.parametrize("clusters", [20, 300])
@pytest.mark.parametrize("sizes", [1, 4])
def test_of_mirrored_differences_the_interval_is_symmetric(clusters, sizes):
    dice = np.random.default_rng(clusters)
    steps = dice.integers(1, 40, clusters // 2) / 10
    step, size = np.concatenate([steps, -steps]), dice.integers(1, 1 + sizes, clusters)
    low, high = bootstrap.ratio_interval(step, size)
    assert bootstrap.ratio_interval(-step, size) == (-high, -low)
    assert (low == -high) == (sizes == 1)


@pytest.mark.parametrize("unit", [1000, 0.1, 3, 1e-9])
def test_ties_of_decimals_are_the_same_in_any_unit(unit):
    for seed in range(20):
        columns = zip(*((row[0], row[1], row[4], row[6]) for row in made(20, seed)), strict=True)
        gold, scores, groups, items = map(list, columns)
        levels = [system_level([size * score for score in scores], gold, items, groups) for size in (1, unit)]
        assert levels[0].soft == levels[1].soft
        told = tie_calibrated_accuracy(gold, scores)
        scaled = [unit * score for score in scores]
        for other in (scaled, [score + 0.1 for score in scores]):
            assert tie_calibrated_accuracy(gold, other).accuracy == told.accuracy
            by_item = [tie_calibration_by_item(gold, numbers, items).accuracy for numbers in (scores, other)]
            assert by_item[0] == by_item[1]
        assert tie_calibrated_accuracy(gold, scaled).epsilon == pytest.approx(unit * told.epsilon)

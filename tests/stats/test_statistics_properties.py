"""Statistics are of the values: not of the order of rows, of names, or of which system comes first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from excam.stats import (
    holm,
    kendall,
    paired_permutation,
    ranking,
    scaled_accuracy,
    tie_calibrated_accuracy,
    tie_calibration_by_item,
)
from excam.stats.words_regression import words

NEAR = 1e-9
SCORES = st.sampled_from((-10.0, -5.0, -1.0, 0.0, 0.1, 0.25, 0.5, 1.0))
ROWS = st.lists(st.tuples(SCORES, SCORES, SCORES, st.sampled_from("abc")), min_size=2, max_size=14)


def shuffled(rows, chance):
    rows = list(rows)
    chance.shuffle(rows)
    return rows


def near(first, second):
    return first == second or (np.isnan(first) and np.isnan(second)) or abs(first - second) < NEAR


@given(ROWS, st.randoms())
def test_correlations_are_not_of_the_order_nor_of_the_metrics_unit(rows, chance):
    gold, metric, _, items = zip(*rows, strict=True)
    mixed_gold, mixed, _, mixed_items = zip(*shuffled(rows, chance), strict=True)
    for variant in ("b", "c", "23"):
        tau = kendall(gold, metric, variant)
        assert near(tau, kendall(mixed_gold, mixed, variant))
        assert near(tau, kendall(metric, gold, variant)) or variant == "c"
        assert near(tau, kendall(gold, [8 * score for score in metric], variant))
    assert near(kendall(gold, metric), -kendall(gold, [-score for score in metric]))
    calibrated, again = tie_calibrated_accuracy(gold, metric), tie_calibrated_accuracy(mixed_gold, mixed)
    assert calibrated == again
    assert 0 <= (kendall(gold, metric, "23") + 1) / 2 <= calibrated.accuracy + NEAR <= 1 + 2 * NEAR
    by_item = tie_calibration_by_item(gold, metric, items)
    renamed = tie_calibration_by_item(mixed_gold, mixed, [f"x{item}" for item in mixed_items])
    assert (by_item is None) == (renamed is None)
    assert by_item is None or near(by_item.accuracy, renamed.accuracy)


JUDGED = st.lists(
    st.tuples(st.booleans(), st.sampled_from((True, False, None)), st.sampled_from((True, False, None)), SCORES),
    min_size=1,
    max_size=20,
)


@given(JUDGED)
def test_accuracy_and_auroc_are_the_same_of_doubled_items(rows):
    gold, predicted, _, scores = zip(*rows, strict=True)
    accuracy = scaled_accuracy(gold, predicted)
    assert -1 <= accuracy <= 1
    assert near(accuracy, scaled_accuracy(gold * 2, predicted * 2))
    auroc = ranking(gold, scores)
    assert auroc.auroc == ranking(gold * 2, scores * 2).auroc
    if auroc.auroc is not None:
        assert near(auroc.auroc, 1 - ranking(gold, [-score for score in scores]).auroc)
        assert near(auroc.auroc, 1 - ranking([not error for error in gold], scores).auroc)


@given(JUDGED, st.randoms())
def test_a_paired_test_changes_its_sign_with_the_order_of_the_systems(rows, chance):
    gold, a, b, _ = zip(*rows, strict=True)
    there, back = paired_permutation(gold, a, b), paired_permutation(gold, b, a)
    assert (there.difference, there.p_value) == (-back.difference, back.p_value)
    assert 0 < there.p_value <= 1
    mixed = [*zip(*shuffled(rows, chance), strict=True)]
    assert paired_permutation(*mixed[:3]) == there
    assert paired_permutation(gold, a, a).p_value == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_corrected_p_values_keep_their_order_and_are_not_of_the_order_of_tests(p_values, chance):
    adjusted = holm(p_values)
    assert all(p <= more <= 1 for p, more in zip(p_values, adjusted, strict=True))
    assert [adjusted[at] for at in np.argsort(p_values, kind="stable")] == sorted(adjusted)
    pairs = shuffled(zip(p_values, adjusted, strict=True), chance)
    assert holm([p for p, _ in pairs]) == [more for _, more in pairs]


@given(st.lists(st.sampled_from(("हिन्दी", "தமிழ்", "العَرَبِيَّة", "naïve", "e\u0301tat", "42")), max_size=6))
def test_marks_end_no_word(listed):
    assert words(" ".join(listed)) == [word.casefold() for word in listed]

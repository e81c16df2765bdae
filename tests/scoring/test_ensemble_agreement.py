"""Several judgements as one: combinations by hand, shares of characters, flips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.error_reports.records import CulturalError, Report
from excam.scoring.agreement import COMBINE, Marked, agreement, combined


def report(*spans, where="output", severity="major"):
    return Report(tuple(CulturalError(where, "x", severity, "t", start, end) for start, end in spans))


@pytest.mark.parametrize(
    ("scores", "how", "expected"),
    [
        ([-5.0, 1.0], "mean", -2.0),
        ([-5.0, 0.9, 0.8], "median", 0.8),
    ],
)
def test_combinations_by_hand(scores, how, expected):
    assert combined(scores, how) == pytest.approx(expected)


scores = st.lists(st.floats(-100, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("how", COMBINE)
@given(values=scores, seed=st.randoms())
def test_a_combination_is_between_its_scores_and_their_order_is_nothing(how, values, seed):
    score = combined(values, how)
    assert min(values) - 1e-6 <= score <= max(values) + 1e-6
    seed.shuffle(values)
    assert combined(values, how) == pytest.approx(score, abs=1e-6)


def test_shares_of_characters():
    result = agreement([report((0, 5)), report((3, 8), severity="minor"), Report()], [-5.0, -1.0, 0.9], [None] * 3)
    third = pytest.approx(1 / 3)
    assert result.spans == (
        Marked("output", 0, 3, third, third),
        Marked("output", 3, 5, pytest.approx(2 / 3), third),
        Marked("output", 5, 8, third, 0.0),
    )
    assert (result.judgements, result.found, result.against, result.share) == (3, 2, 1, pytest.approx(2 / 3))
    assert result.spread == pytest.approx((9.07) ** 0.5)


def test_one_judgement_that_marks_a_word_twice_counts_once():
    result = agreement([report((0, 5), (0, 5)), report((0, 5))], [-10.0, -5.0], [None, None])
    assert result.spans == (Marked("output", 0, 5, 1.0, 1.0),)


def test_spans_without_a_place_in_the_text_are_left_out_of_agreement():
    result = agreement([report((0, 2), (6, 8), (-1, -1)), report()], [-15.0, 0.9], [None, None])
    assert [(mark.start, mark.end) for mark in result.spans] == [(0, 2), (6, 8)]
    both = agreement([report((0, 2), where="instruction"), report((0, 2))], [-5.0, -5.0], [None, None])
    assert [(mark.where, mark.share) for mark in both.spans] == [("instruction", 0.5), ("output", 0.5)]


def test_failures_are_no_judgements():
    result = agreement([None, report((0, 1))], [None, -5.0], ["no-json", None])
    assert (result.judgements, result.found, result.share, result.spread) == (1, 1, 1.0, None)
    assert (result.scores, result.failures) == ((None, -5.0), ("no-json",))
    nothing = agreement([None], [None], ["no-json"])
    assert (nothing.judgements, nothing.share, nothing.spans) == (0, None, ())


span = st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(st.lists(span, max_size=4), min_size=1, max_size=5))
def test_shares_are_those_of_a_count_character_by_character(spans):
    reports = [report(*some) for some in spans]
    result = agreement(reports, [0.0] * len(reports), [None] * len(reports))
    for at in range(32):
        share = sum(any(a <= at < b for a, b in some) for some in spans) / len(spans)
        shares = [mark.share for mark in result.spans if mark.start <= at < mark.end]
        assert shares == ([pytest.approx(share)] if share else [])

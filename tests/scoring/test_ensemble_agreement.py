"""Combined judgements of a row, calculated by hand, and judges that disagree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.error_reports.records import CulturalError, Report
from excam.scoring.agreement import COMBINE, agreement, combined


def report(*spans, where="output", severity="major"):
    return Report(tuple(CulturalError(where, "x", severity, "t", start, end) for start, end in spans))


def test_combinations_by_hand():
    assert combined([-5.0, 1.0], "mean") == pytest.approx(-2.0)
    assert combined([-5.0, 0.9, 0.8], "median") == pytest.approx(0.8)


scores = st.lists(st.floats(-100, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("how", COMBINE)
@given(values=scores, seed=st.randoms())
def test_a_combination_is_between_its_scores_and_their_order_is_nothing(how, values, seed):
    score = combined(values, how)
    assert min(values) - 1e-6 <= score <= max(values) + 1e-6
    seed.shuffle(values)
    assert combined(values, how) == pytest.approx(score, abs=1e-6)


def test_judgements_are_counted():
    minor = report((3, 8), severity="minor")
    result = agreement([(report((0, 5)), -5.0, None), (minor, -1.0, None), (Report(), 0.9, None)])
    assert (result.judgements, result.found, result.against, result.share) == (3, 2, 1, pytest.approx(2 / 3))
    assert result.spread == pytest.approx((9.07) ** 0.5)


def test_failures_are_no_judgements():
    result = agreement([(None, None, "no-json"), (report((0, 1)), -5.0, None)])
    assert (result.judgements, result.found, result.share, result.spread) == (1, 1, 1.0, None)
    assert (result.scores, result.failures) == ((None, -5.0), ("no-json",))
    nothing = agreement([(None, None, "no-json")])
    assert (nothing.judgements, nothing.share) == (0, None)

"""Eq. 1 and the certainty: what they are on the paper's own cases, and where a number must not come out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam import scoring
from excam.records import CulturalError, Report, Verdict

MINOR = CulturalError("output", "a", "minor", "t")
MAJOR = CulturalError("instruction", "b", "major", "t")


def test_severities_add_up_without_a_cap():
    assert scoring.deductions(Report()) == 0
    assert scoring.deductions(Report((MINOR, MAJOR, MAJOR))) == -11
    assert scoring.deductions(Report((MAJOR,) * 20)) == -100  # GEMBA-MQM would stop at -25


def test_equation_1():
    assert scoring.score(Report((MINOR,)), 0.99) == -1.0
    assert scoring.score(Report(), 0.99) == 0.99
    assert scoring.score(Report(), 1.0) == 1.0  # the best possible score
    assert scoring.score(Report(), None) == 0.0


def test_certainty_is_the_geometric_mean_of_token_probabilities():
    assert scoring.certainty([math.log(0.5), math.log(0.125)]) == pytest.approx(0.25)
    assert scoring.certainty([0.0] * 300) == 1.0
    assert scoring.certainty([1e-7]) == 1.0
    assert scoring.certainty([0.0, -math.inf]) == 0.0


@pytest.mark.parametrize("logprobs", [None, (), [math.nan, -1.0]])
def test_no_certainty_without_log_probabilities(logprobs):
    assert scoring.certainty(logprobs) is None


@given(st.lists(st.floats(max_value=1e-6, allow_nan=False), min_size=1))
def test_certainty_is_a_probability(logprobs):
    assert 0.0 <= scoring.certainty(logprobs) <= 1.0


def test_combined_adds_the_fallback_to_any_judge():
    assert scoring.combined(Verdict(errors_found=2, score=-2.0, certainty=0.9)) == -2.0
    assert scoring.combined(Verdict(errors_found=0, score=0.0, certainty=0.9)) == 0.9
    assert scoring.combined(Verdict(errors_found=0, score=0.0)) == 0.0


def test_a_failure_has_no_score():
    assert scoring.combined(Verdict(errors_found=None, score=None, certainty=0.9, failure="no-json")) is None

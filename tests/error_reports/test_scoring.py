"""Eq. 1 and the certainty: what they are on the paper's own cases, and where a number must not come out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.core import tables
from excam.error_reports import judges, record_files, scoring
from excam.error_reports.records import CulturalError, Report, Verdict, unlabelled
from excam.inference import Completion, transcript
from scripts.judging import score

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


def answer(logprobs, end_logprob=None):
    return Completion("x", logprobs, end_logprob, "stop", 1, 1)


def certainty(*logprobs):
    return scoring.certainty(answer(logprobs))


def test_certainty_is_the_geometric_mean_of_token_probabilities():
    assert certainty(math.log(0.5), math.log(0.125)) == pytest.approx(0.25)
    assert certainty(*[0.0] * 300) == 1.0
    assert certainty(1e-7) == 1.0
    assert certainty(0.0, -math.inf) == 0.0
    assert certainty(-1.7e308, -1.7e308, -math.inf) == 0.0


def test_the_end_of_the_turn_is_a_token_where_it_is_wanted_and_known():
    known = answer((math.log(0.5), math.log(0.5)), math.log(0.0625))
    assert scoring.certainty(known) == pytest.approx(0.25)
    assert scoring.certainty(known, end_token=False) == pytest.approx(0.5)
    unknown = answer((math.log(0.5),))
    assert scoring.certainty(unknown) == scoring.certainty(unknown, end_token=False) == pytest.approx(0.5)
    assert scoring.certainty(answer((), math.log(0.5))) == pytest.approx(0.5)
    assert scoring.certainty(answer((), math.log(0.5)), end_token=False) is None
    assert scoring.certainty(answer((0.0,), -math.inf)) == 0.0
    assert scoring.certainty(answer((0.0,), math.nan)) is None


@pytest.mark.parametrize(
    "logprobs", [None, (), (math.nan, -1.0), (-1.0, math.nan), (-1.0, math.inf), (-math.inf, math.inf)]
)
def test_no_certainty_without_log_probabilities(logprobs):
    assert scoring.certainty(answer(logprobs)) is None


def test_an_end_token_alone_has_no_certainty():
    assert scoring.certainty(answer(None, -1.0)) is None


@given(
    st.lists(st.floats(max_value=1e-6, allow_nan=False), min_size=1),
    st.none() | st.floats(max_value=1e-6, allow_nan=False),
)
def test_certainty_is_a_probability(logprobs, end):
    assert 0.0 <= scoring.certainty(answer(tuple(logprobs), end)) <= 1.0


def test_combined_adds_the_fallback_to_any_judge():
    assert scoring.combined(Verdict(errors_found=2, score=-2.0, certainty=0.9)) == -2.0
    assert scoring.combined(Verdict(errors_found=0, score=0.0, certainty=0.9)) == 0.9
    assert scoring.combined(Verdict(errors_found=0, score=0.0)) == 0.0


def test_a_failure_has_no_score():
    assert scoring.combined(Verdict(errors_found=None, score=None, certainty=0.9, failure="no-json")) is None


@pytest.mark.parametrize(("wanted", "expected"), [("yes", 0.25), ("no", 0.5)])
def test_the_rule_writes_the_certainty_that_is_wanted(tmp_path, wanted, expected):
    """From a transcript to the table; the one without the end of the turn is given too."""
    sample = unlabelled("a/right", "i", "o")
    said = Completion("COUNT: 0", (math.log(0.5), math.log(0.5)), math.log(0.0625), "stop", 9, 3)
    _, entries = transcript.record(judges.load("count").judge, [sample], lambda requests: [said for _ in requests])
    transcript.write(tmp_path / "t.jsonl", entries)
    record_files.write_samples(tmp_path / "s.parquet", [sample])
    files = {"samples": "s.parquet", "transcripts": "t.jsonl", "judgements": "j.parquet"}
    options = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]
    score(["--judge", "count", *options, "--end-token", wanted])
    (row,) = tables.read_frame(tmp_path / "j.parquet").iter_rows(named=True)
    assert (row["score"], row["failure"]) == (0.0, None)
    assert row["certainty"] == pytest.approx(expected)
    assert row["certainty_without_end"] == pytest.approx(0.5)

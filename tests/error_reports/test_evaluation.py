"""The numbers of one cell, worked out by hand: nothing dropped uncounted, a failure is never a score."""

import math

import polars as pl
import pytest
from late import stats

from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files, scoring
from excam.error_reports.evaluation import verdicts
from excam.error_reports.records import CulturalError, Report, Verdict

# id, base, language, gold_score, errors_found, score, certainty, failure
ROWS = [
    ("a/right", "a", "Greek", 0, 0, 0.0, 0.9, None),  # right
    ("a/wrong", "a", "Greek", -5, 2, -10.0, 0.8, None),  # right
    ("b/right", "b", "Greek", 0, 1, -1.0, 0.7, None),  # a false alarm
    ("b/wrong", "b", "Greek", -1, 0, 0.0, 0.4, None),  # missed
    ("c/right", "c", "Greek", 0, 0, 0.0, None, None),  # right, a backend without probabilities
    ("c/wrong", "c", "Greek", -1, None, None, 0.3, "no-json"),
    ("d/right", "d", "Greek", 0, None, None, None, "no-json"),
    ("d/wrong", "d", "Greek", -5, None, None, 0.2, "truncated"),
]


def frame_of(rows=ROWS, **columns) -> pl.DataFrame:
    names = ("id", "base", "language", "gold_score", "errors_found", "score", "certainty", "failure")
    lines = [
        dict(zip(names, row, strict=True))
        | {
            "pair": row[1],
            "group": row[1],
            "dataset": "blend",
            "origin": "hard",
            "culture": "",
            "gold_error": row[3] < 0,
        }
        for row in rows
    ]
    return pl.DataFrame(lines, schema=record_files.JUDGEMENT_SCHEMA, orient="row").with_columns(**columns)


def many(pairs: int) -> list[tuple]:
    """Right answers to every pair, in two languages."""
    rows = []
    for number in range(pairs):
        language = "Greek" if number % 2 else "Turkish"
        rows += [
            (f"{number}/right", str(number), language, 0, 0, 0.0, 0.9, None),
            (f"{number}/wrong", str(number), language, -5, 1, -5.0, 0.9, None),
        ]
    return rows


def test_counts():
    numbers = verdicts.evaluate(frame_of(), seed=1)
    assert (numbers["n"], numbers["base_samples"], numbers["groups"], numbers["gold_errors"]) == (8, 4, 4, 4)
    assert numbers["failures"] == {"no-json": 2, "truncated": 1}
    assert numbers["correlation"]["n"] == 5


def test_a_failure_is_wrong_in_the_strict_accuracy_and_out_of_the_other():
    accuracy = verdicts.evaluate(frame_of(), seed=1)["accuracy"]
    assert accuracy["scaled"] == pytest.approx(2 * 3 / 8 - 1)
    assert accuracy["excluding"] == pytest.approx(2 * 3 / 5 - 1)
    assert accuracy["failures"] == 3
    assert accuracy["low"] <= accuracy["scaled"] <= accuracy["high"]


def test_a_failure_is_not_taken_for_no_error():
    """An unreadable answer to an erroneous row would otherwise count as missed, to a right one as found right."""
    assert verdicts.predicted_errors(frame_of()) == [False, True, True, False, False, None, None, None]


def test_rates():
    assert verdicts.evaluate(frame_of(), seed=1)["rates"] == {
        "error_free": {"n": 4, "no_error_reported": 2, "error_reported": 1, "unreadable": 1},
        "erroneous": {"n": 4, "no_error_reported": 1, "error_reported": 1, "unreadable": 2},
    }


def test_the_certainty_is_the_score_where_no_error_was_found():
    """Eq. 1, and exactly what `scoring` says of each verdict."""
    read = frame_of().filter(pl.col("failure").is_null())
    scores = verdicts.with_certainty(read).to_list()
    assert scores == [0.9, -10.0, -1.0, 0.4, 0.0]
    judged = [Verdict(row["errors_found"], row["score"], row["certainty"]) for row in read.iter_rows(named=True)]
    assert scores == [scoring.combined(verdict) for verdict in judged]
    assert scores[1] == scoring.score(Report((CulturalError("output", "x", "major", "t"),) * 2), 0.8)


def test_correlations_leave_failures_out():
    correlation = verdicts.evaluate(frame_of(), seed=1)["correlation"]
    gold = [0, -5, 0, -1, 0]
    for name, metric in (("score", [0, -10, -1, 0, 0]), ("score_p", [0.9, -10, -1, 0.4, 0])):
        assert correlation[name]["kendall_b"] == pytest.approx(stats.kendalltau(gold, metric).statistic)
        assert 0 <= correlation[name]["tie_calibrated"] <= 1
    assert correlation["score_p"]["kendall_b"] != correlation["score"]["kendall_b"]


def test_the_floor_is_over_every_row():
    """A metric that says nothing agrees on the ties of the gold scores; it fails on no row."""
    constant = verdicts.evaluate(frame_of(), seed=1)["correlation"]["constant"]
    tied = math.comb(4, 2) + math.comb(2, 2) + math.comb(2, 2)  # gold 0, -1, -5
    assert constant["tie_calibrated"] == pytest.approx(tied / math.comb(8, 2))
    assert constant["kendall_b"] is None, "it orders nothing"
    assert constant["epsilon"] == 0


def test_mean_certainty_and_its_count():
    certainty = verdicts.evaluate(frame_of(), seed=1)["certainty"]
    assert certainty == {"mean": pytest.approx((0.9 + 0.8 + 0.7 + 0.4) / 4), "n": 4}


def test_what_was_overlooked_and_spans_that_are_nowhere():
    """Over the five answers that could be read: three reports, and two of a judge that writes none."""
    frame = frame_of(
        recovered=pl.Series(["", "fence,case", "case", None, "", "", None, ""]),
        spans_not_found=pl.Series([0, 2, 0, None, None, None, None, None], dtype=pl.Int64),
    )
    numbers = verdicts.evaluate(frame, seed=1)
    assert numbers["recovered"] == {"n": 5, "answers": 2, "kinds": {"case": 2, "fence": 1}}
    assert numbers["spans"] == {"n": 3, "not_found": 2, "reports": 3, "reports_with_not_found": 1}


def test_nothing_was_overlooked():
    numbers = verdicts.evaluate(frame_of(), seed=1)
    assert numbers["recovered"] == {"n": 5, "answers": 0, "kinds": {}}
    assert numbers["spans"] == {"n": 0, "not_found": 0, "reports": 0, "reports_with_not_found": 0}


def test_nothing_could_be_read():
    numbers = verdicts.evaluate(frame_of([(*row[:4], None, None, None, "no-json") for row in ROWS]), seed=1)
    assert numbers["accuracy"]["scaled"] == -1
    assert numbers["accuracy"]["excluding"] is None
    assert numbers["failures"] == {"no-json": 8}
    assert numbers["correlation"]["score"] == {"kendall_b": None, "tie_calibrated": None, "epsilon": None}
    assert numbers["certainty"] == {"mean": None, "n": 0}
    assert numbers["recovered"] == {"n": 0, "answers": 0, "kinds": {}}


def test_no_rows_are_no_numbers():
    with pytest.raises(InputInvalid):
        verdicts.evaluate(frame_of([]), seed=1)


def test_sections_stand_beside_their_counts():
    assert verdicts.evaluate(frame_of(), seed=1)["by_language"] == {}, "8 rows are none of their own"
    numbers = verdicts.evaluate(frame_of([*many(20), ("x", "x", "Thai", 0, 0, 0.0, 0.9, None)]), seed=1)
    assert list(numbers["by_language"]) == ["Greek", "Turkish"]
    assert {section["n"] for section in numbers["by_language"].values()} == {20}
    assert numbers["by_language"]["Greek"]["scaled"] == 1.0
    assert numbers["by_dataset"]["blend"]["n"] == 41


def test_the_smallest_section():
    for rows, sections in ((verdicts.MIN_SECTION, {"blend"}), (verdicts.MIN_SECTION - 2, set())):
        assert set(verdicts.evaluate(frame_of(many(rows // 2)), seed=1)["by_dataset"]) == sections


def test_the_order_of_rows_changes_no_number():
    frame = frame_of(many(15) + ROWS)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5)
    numbers, other = verdicts.evaluate(frame, seed=3), verdicts.evaluate(shuffled, seed=3)
    assert verdicts.evaluate(frame, seed=3) == numbers
    for name in ("n", "failures", "rates", "correlation"):
        assert numbers[name] == other[name]
    assert list(numbers["by_language"]) == list(other["by_language"])
    assert numbers["accuracy"]["scaled"] == other["accuracy"]["scaled"]


def test_the_interval_draws_whole_groups():
    """Rows that share content are not independent: with clusters the interval is wider."""
    rows = [(f"{n}/{m}", str(n), "Greek", 0, n % 2, 0.0, 0.9, None) for n in range(10) for m in range(8)]
    clustered = verdicts.evaluate(frame_of(rows), seed=1)["accuracy"]
    alone = verdicts.evaluate(frame_of(rows, group=pl.col("id")), seed=1)["accuracy"]
    assert clustered["high"] - clustered["low"] > 2 * (alone["high"] - alone["low"])


def test_sampled_pairs_change_the_tie_calibrated_accuracy_alone():
    frame = frame_of()
    exact, sampled = (verdicts.evaluate(frame, seed=1, pairs=pairs) for pairs in (None, 4))
    assert "pairs" not in exact["correlation"]
    assert sampled["correlation"].pop("pairs") == 4
    assert sampled["correlation"] != exact["correlation"], "of four pairs"
    for name in ("score", "score_p", "constant"):
        assert sampled["correlation"][name]["kendall_b"] == exact["correlation"][name]["kendall_b"]
    assert sampled | {"correlation": None} == exact | {"correlation": None}

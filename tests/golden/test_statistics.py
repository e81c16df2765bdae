"""Statistics against values that others published: mt-metrics-eval's own tests, and Shrout and Fleiss's table."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from excam.cli import app
from excam.core.exceptions import InputInvalid
from excam.scoring.results import Result
from excam.stats import kendall, tie_calibrated_accuracy
from excam.stats.correlation import tie_calibration_by_item
from excam.stats.icc import Icc, icc11, icc21

# mt-metrics-eval (google-research, commit 0b82d96): tau_optimization_test.py and stats_test.py. Gold, metric, values.
TIE_CALIBRATED = [
    ([1, 2, 3, 4], [0, 2, 6, 8], 1.0, 0),
    ([1, 1, 1, 4], [0, 2, 6, 8], 4 / 6, 4),
    ([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], 0.7, 0.5),
]
KENDALL = [
    ([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7], "b", 0.552, 5e-4),
    ([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7], "c", 0.556, 5e-4),
    ([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], "b", 0.316227766, 1e-9),
    ([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], "c", 0.32, 1e-12),
    ([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], "23", 0.2, 1e-12),
    ([1, 1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 4, 3, 3], "23", (14 - 7) / 21, 1e-12),
]
# The rows of that module's regression example, gold and metric, without the items that lack a score.
ROWS = [([1, 5, 2, 1, 1], [0, 5, 2, 3, 2]), ([2, 2, 1, 4], [2, 1, 5, 3])]
ROWS += [([5, 9, 2, 8, 7], [9, 1, 5, 3, 8]), ([7, 6, 3, 2], [9, 3, 4, 1])]

# Shrout and Fleiss (1979), Table 2: six targets, four judges; Table 4 gives ICC(2,1) = .29.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


@pytest.mark.parametrize(("gold", "metric", "accuracy", "epsilon"), TIE_CALIBRATED)
def test_tie_calibration_of_mt_metrics_eval(gold, metric, accuracy, epsilon):
    calibration = tie_calibrated_accuracy(gold, metric)
    assert calibration.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert calibration.epsilon == epsilon


@pytest.mark.parametrize(("gold", "metric", "variant", "value", "tolerance"), KENDALL)
def test_kendall_of_mt_metrics_eval(gold, metric, variant, value, tolerance):
    assert kendall(gold, metric, variant) == pytest.approx(value, abs=tolerance)


def test_rows_of_mt_metrics_evals_regression_example():
    """The mean over rows at one common epsilon, as that module averages: .4667 at 0, .4917 at 1, its best."""
    at_0 = [(1 + kendall(gold, metric, "23")) / 2 for gold, metric in ROWS]
    assert np.mean(at_0) == pytest.approx(0.4666666666666667)
    gold, metric, items = ([value for row in rows for value in row] for rows in _by_item())
    calibration = tie_calibration_by_item(gold, metric, items)
    assert (calibration.accuracy, calibration.epsilon) == (pytest.approx(0.4916666666666668), 1)


def test_that_example_through_the_command(tmp_path):
    """Segments of several systems, as labelled rows and a scored file."""
    labels, rows = tmp_path / "gold.jsonl", tmp_path / "metric.jsonl"
    systems = [enumerate(zip(*row, strict=True)) for row in ROWS]
    cells = [(f"{at}/{system}", *pair) for at, row in enumerate(systems) for system, pair in row]
    gold = [{"id": name, "label": label, "segment": name[0]} for name, label, _ in cells]
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in gold))
    scored = [Result(id=name, score=float(score), signature="metric|1").to_dict() for name, _, score in cells]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in scored))
    result = CliRunner().invoke(app, ["meta", str(labels), str(rows), "--item", "segment", "--jsonl"])
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    (own,) = (line for line in lines if line.get("metric") == "metric" and line.get("on") == "own")
    assert own["tie_calibrated"] == pytest.approx(0.4916666666666668)


def _by_item():
    """Gold scores, metric scores and items of `ROWS`, each by row."""
    gold, metric = zip(*ROWS, strict=True)
    return gold, metric, [[f"{at}"] * len(row) for at, row in enumerate(gold)]


@pytest.mark.parametrize("seed", range(5))
def test_one_item_is_calibrated_as_all_pairs_are(seed):
    rng = np.random.default_rng(seed)
    gold, metric = rng.integers(0, 4, 30), rng.integers(0, 9, 30) / 4
    calibration, expected = tie_calibration_by_item(gold, metric, ["x"] * 30), tie_calibrated_accuracy(gold, metric)
    assert (calibration.accuracy, calibration.epsilon) == (pytest.approx(expected.accuracy), expected.epsilon)


def test_items_of_one_row_have_no_pair():
    assert tie_calibration_by_item([1, 2, 3], [1, 2, 3], ["a", "b", "c"]) is None
    calibration = tie_calibration_by_item([1, 2, 9], [2, 1, 5], ["a", "a", "b"])
    assert (calibration.accuracy, calibration.epsilon) == (0, 0)
    with pytest.raises(InputInvalid, match="got 3 scores and 2 items"):
        tie_calibration_by_item([1, 2, 3], [1, 2, 3], ["a", "a"])


def test_shrout_and_fleiss():
    """The value of their Table 4; its interval as R's psych package prints it for the same table."""
    correlation = icc21(SHROUT_FLEISS)
    assert correlation.value == pytest.approx(0.29, abs=5e-3)
    assert correlation.value == pytest.approx(0.2897637795, abs=1e-9)
    assert (correlation.low, correlation.high) == pytest.approx((0.019, 0.761), abs=5e-4)
    assert correlation.n == 6


def test_shrout_and_fleiss_where_raters_differ():
    """The value of their Table 4, which does not know who gave a rating; of unequal items, from the mean squares."""
    icc = icc11([*SHROUT_FLEISS, [5]], 0)
    assert (round(icc.value, 2), icc.n) == (0.17, 6)
    assert (icc.low, icc.high) == (None, None), "six items"
    more = icc11([*SHROUT_FLEISS] * 2, 0)
    assert more.low < more.value < more.high
    assert icc11([[1, 3], [5, 5, 5], [9, 8]], 0).value == pytest.approx(0.9350122, abs=1e-6)
    assert icc11([[0.1, 0.1], [0.1, 0.1]], 0) == Icc(None, None, None, 2)


def test_items_without_a_rating_are_dropped():
    correlation = icc21([*SHROUT_FLEISS, [1, None, 2, 3], [1, float("nan"), 2, 3]])
    assert correlation == icc21(SHROUT_FLEISS)


@pytest.mark.parametrize(
    ("ratings", "n"),
    [([[3, 3], [3, 3], [3, 3]], 3), ([[1, 2]], 1), ([[1], [2]], 2), ([[1, None], [None, 2]], 0), ([[1, 2], [2, 1]], 2)],
)
def test_where_it_is_undefined(ratings, n):
    assert icc21(ratings) == Icc(None, None, None, n)


def test_raters_who_agree_fully():
    assert icc21([[1, 1], [2, 2], [5, 5]]).value == 1
    assert icc21([[1, 2], [2, 3], [4, 5]]).value == pytest.approx(14 / 17)  # one is a point above the other throughout


@pytest.mark.parametrize("ratings", [[[1, 2], [1]], [["a", "b"], ["c", "d"]], [[float("inf"), 1], [2, 3]], [1, 2, 3]])
def test_what_is_no_table_of_ratings(ratings):
    with pytest.raises(InputInvalid, match="ratings: "):
        icc21(ratings)


def test_the_interval_covers():
    """95 % intervals of 400 simulated tables hold the true value in 93 to 97 of 100."""
    rng = np.random.default_rng(5)
    true = 1.0 / (1.0 + 0.3 + 0.5)  # variances of items, raters, rest
    hits = []
    for _ in range(400):
        table = rng.normal(size=(30, 1)) + rng.normal(size=(1, 20)) * 0.3**0.5 + rng.normal(size=(30, 20)) * 0.5**0.5
        correlation = icc21(table)
        hits.append(correlation.low <= true <= correlation.high)
    assert 0.93 <= np.mean(hits) <= 0.97

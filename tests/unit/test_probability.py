"""The probability of an error: fitted on rows whose truth is known, beside one adapter, refused beside another."""

import json
import math
from pathlib import Path

import pytest
import test_metric as room
from test_metric import adapter, backend  # noqa: F401  # fixtures
from typer.testing import CliRunner

from excam import cli
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.error_reports.metric import probability
from excam.error_reports.metric.scorer import Metric
from excam.error_reports.records import CulturalError, Report

FOUND = Report((CulturalError("output", "x", "major", "t"),), "")
ADAPTER = "results/adapters/tiny/all"


def rows(n=40):
    """Dishes, every second of them Sushi, which the model of `test_metric` calls an error."""
    return [{"id": str(at), "output": f"{'Sushi' if at % 2 else 'Moussaka'} {at}"} for at in range(n)]


def fit(folder, method="platt", wrong=5):
    """Calibrated on rows of which the model gets every `wrong`-th wrong."""
    judge = Metric.open(folder, calibration=None)
    truth = {row["id"]: bool(at % 2) ^ (at % wrong == 0) for at, row in enumerate(rows())}
    made = probability.fitted(judge.score(rows()), truth, method, judge.signature)
    made["adapter"] = room.sha256(folder / "adapter_model.safetensors")
    (folder / probability.FILE).write_text(json.dumps(made))
    return made


@pytest.mark.parametrize(
    ("report", "chance", "expected"),
    [
        (None, None, None),
        (None, 0.9, None),
        (FOUND, None, "error"),
        (Report(), None, "clean"),
        (FOUND, 0.39, "clean"),
        (FOUND, 0.4, "unsure"),
        (Report(), 0.6, "unsure"),
        (Report(), 0.61, "error"),
    ],
)
def test_verdicts(report, chance, expected):
    assert probability.verdict(report, chance, (0.4, 0.6)) == expected


def test_without_a_calibration_there_is_no_probability(adapter, backend):  # noqa: F811
    judge = Metric.open(adapter)
    assert "|cal:none|" in judge.signature
    scored = list(judge.score([{"output": "Sushi"}, {"output": "x"}, {"output": "mumble"}]))
    assert [(one.probability, one.verdict) for one in scored] == [(None, "error"), (None, "clean"), (None, None)]


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_calibration_gives_each_row_a_probability(adapter, backend, method):  # noqa: F811
    made = fit(adapter, method)
    judge = Metric.open(adapter)
    digest = room.sha256(adapter / probability.FILE)[:8]
    assert f"|cal:{method}@{digest},band0.4-0.6|" in judge.signature
    good, bad, unread = judge.score([{"output": "x"}, {"output": "Sushi"}, {"output": "mumble"}])
    assert 0 <= good.probability < bad.probability <= 1
    assert (unread.probability, unread.verdict) == (None, None)
    assert (made["calibration"]["n"], made["calibration"]["errors"]) == (40, 20)
    assert 0 < made["brier_here"] < made["brier_of_the_share"]


def test_platt_is_its_formula(adapter, backend):  # noqa: F811
    curve = fit(adapter)["calibration"]
    (scored,) = Metric.open(adapter).score([{"output": "x"}])
    expected = 1 / (1 + math.exp(curve["slope"] * scored.certainty - curve["intercept"]))
    assert scored.probability == pytest.approx(expected)


def test_the_band_is_asked_for(adapter, backend):  # noqa: F811
    fit(adapter)
    judge = Metric.open(adapter, band=(0, 1))
    assert {one.verdict for one in judge.score(rows())} == {"unsure"}
    assert ",band0-1|" in judge.signature
    assert "unsure" not in {one.verdict for one in Metric.open(adapter, band=(0.5, 0.5)).score(rows())}


@pytest.mark.parametrize("band", [(0.6, 0.4), (-0.1, 0.5), (0.5, 1.1), (math.nan, 0.5)])
def test_no_band(adapter, band):  # noqa: F811
    assert "expected two probabilities" in room.line_of(InputInvalid, Metric.open, adapter, band=band)


def test_a_calibration_of_another_adapter_is_refused(adapter, backend):  # noqa: F811
    fit(adapter)
    weights = adapter / "adapter_model.safetensors"
    weights.write_bytes(b"others")
    room.put(adapter, outputs={weights.name: room.sha256(weights)})
    line = room.line_of(ModelInvalid, Metric.open, adapter)
    assert f"expected adapter {room.sha256(weights)};" in line
    assert list(Metric.open(adapter, calibration=None).score([{"output": "x"}]))


def test_an_adapter_is_known_by_its_whole_digest(adapter, backend):  # noqa: F811
    """The signature has eight characters of it."""
    made = fit(adapter)
    (adapter / probability.FILE).write_text(json.dumps({**made, "adapter": made["adapter"][:8] + "0" * 56}))
    assert f"expected adapter {made['adapter']};" in room.line_of(ModelInvalid, Metric.open, adapter)


def test_a_calibration_of_another_way_of_judging_is_refused(adapter, backend):  # noqa: F811
    made = fit(adapter)
    made["judged"] = made["judged"].replace("judge:report.", "judge:report.9")
    (adapter / probability.FILE).write_text(json.dumps(made))
    assert "made with excam|model:tiny" in room.line_of(ModelInvalid, Metric.open, adapter)


@pytest.mark.parametrize(
    "damage",
    [
        lambda made: "",
        lambda made: "[]",
        lambda made: "{",
        lambda made: json.dumps({**made, "calibration": {}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "slope": None}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "method": "magic"}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "probability": ["x"]}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "slope": "steep"}}),
        lambda made: json.dumps({"calibration": made["calibration"]}),
    ],
)
def test_what_is_no_calibration_is_refused(adapter, backend, damage):  # noqa: F811
    made = fit(adapter)
    (adapter / probability.FILE).write_text(damage(made))
    assert "no calibration; expected what `excam calibrate` wrote" in room.line_of(ModelInvalid, Metric.open, adapter)


def test_an_answer_that_is_drawn_has_no_probability(adapter, backend):  # noqa: F811
    """The map was fitted on greedy answers."""
    fit(adapter)
    judge = Metric.open(adapter).sampled(0.7, 3)
    assert "|cal:none|temp:0.7,seed3|" in judge.signature
    assert {one.probability for one in judge.score(rows())} == {None}


def test_rows_of_another_judge_are_not_fitted(adapter, backend):  # noqa: F811
    judge = Metric.open(adapter)
    results = list(judge.sampled(1, 0).score(rows()))
    line = room.line_of(InputInvalid, probability.fitted, results, {}, "platt", judge.signature)
    assert line.startswith("row 0: scored by excam|model:tiny")


@pytest.mark.parametrize("truth", [True, False])
def test_one_class_is_nothing_to_fit(adapter, backend, truth):  # noqa: F811
    judge = Metric.open(adapter)
    gold = {row["id"]: truth for row in rows()}
    line = room.line_of(InputInvalid, probability.fitted, judge.score(rows()), gold, "platt", judge.signature)
    assert line.startswith("40 rows: nothing to fit")


# --- the command


@pytest.fixture
def here(adapter, backend, own_environment, tmp_path, monkeypatch):  # noqa: F811
    """In a folder with an adapter; the process's environment stays as it was."""
    monkeypatch.chdir(tmp_path)


def excam(*words: str):
    return CliRunner().invoke(cli.app, list(words))


def texts(*rows, name="texts.jsonl"):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def stopped(*words: str) -> str:
    result = excam(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()[-1]


def written(column="error", value=lambda at: bool(at % 2) ^ (at % 5 == 0), name="gold.jsonl"):
    texts(*({"id": row["id"], column: value(at)} for at, row in enumerate(rows())), name=name)
    return name


def scored():
    texts(*rows())
    assert excam("score", "texts.jsonl", "--adapter", ADAPTER, "--to", "scored.jsonl").exit_code == 0
    return "scored.jsonl"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("error", lambda at: bool(at % 2) ^ (at % 5 == 0)),
        ("gold", lambda at: "yes" if at % 2 else " No"),
        ("score", lambda at: -5.0 * (at % 2)),
        ("label", lambda at: at % 2),
    ],
)
def test_calibrate_and_score(here, column, value):
    name = written(column, value)
    result = excam("calibrate", scored(), "--gold", name, "--adapter", ADAPTER, "--column", column)
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert made == json.loads(Path(ADAPTER, probability.FILE).read_text())
    assert (made["rows"], made["gold"]) == (room.sha256(Path("scored.jsonl")), room.sha256(Path(name)))
    assert made["calibration"]["errors"] == 20
    assert "fitted on 40 rows: rough" in result.stderr
    again = excam("score", "texts.jsonl", "--adapter", ADAPTER, "--band", ".2", ".3")
    row = json.loads(again.stdout.splitlines()[0])
    assert 0 < row["probability"] < 1
    assert ",band0.2-0.3|" in row["signature"]


def test_calibrating_again_replaces_what_was_there(here):
    for _ in range(2):
        assert excam("calibrate", scored(), "--gold", written(), "--adapter", ADAPTER).exit_code == 0


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (["--method", "magic"], "excam: --method: found magic; expected platt or isotonic"),
        (
            ["--column", "truth"],
            "excam: gold.jsonl:1: no id or no truth; expected both; name them with --id and --column",
        ),
        (["--column", "id"], "excam: gold.jsonl:3: id is 2; expected true or false, 1 or 0, or a score of 0 or less"),
    ],
)
def test_what_cannot_be_fitted_is_said(here, more, line):
    name = written()
    scored()
    assert stopped("calibrate", "scored.jsonl", "--gold", name, "--adapter", ADAPTER, *more) == line
    assert not Path(ADAPTER, probability.FILE).exists()


def test_every_scored_row_needs_its_truth(here):
    scored()
    texts({"id": "0", "error": True}, name="gold.jsonl")
    line = stopped("calibrate", "scored.jsonl", "--gold", "gold.jsonl", "--adapter", ADAPTER)
    assert line == "excam: row 1: no gold verdict; expected one for every scored row"
    texts({"id": "0", "error": True}, {"id": 0, "error": False}, name="gold.jsonl")
    line = stopped("calibrate", "scored.jsonl", "--gold", "gold.jsonl", "--adapter", ADAPTER)
    assert line == "excam: gold.jsonl:2: id 0 occurs twice; expected one truth for each row"


def test_truth_as_text_and_an_adapter_by_name(here):
    lines = "".join(f"{row['id']},{'-5' if at % 2 else '0.0'}\n" for at, row in enumerate(rows()))
    Path("gold.csv").write_text("id,error\n" + lines)
    result = excam("calibrate", scored(), "--gold", "gold.csv", "--adapter", "tiny/all")
    assert result.exit_code == 0, result.stderr
    assert Path(ADAPTER, probability.FILE).exists()

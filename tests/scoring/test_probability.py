"""The probability of an error: fitted on rows whose truth is known, of one judge, refused for another."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import test_scorer as room
from test_scorer import adapter, backend  # noqa: F401  # fixtures

import excam
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.scoring import calibration, metric
from excam.scoring.results import Result
from tests.cli.test_cli import excam as excam_
from tests.cli.test_cli import stopped, texts

Q = {"instruction": "A?"}

EXCAM = metric.load("excam")
ADAPTER = "results/adapters/tiny/all"
BESIDE = f"{ADAPTER}/{calibration.FILE}"


def rows(n=40):
    """Dishes, every second of them Sushi, which the model of `test_scorer` calls an error."""
    return [{"id": str(at), "instruction": f"A {at}?", "output": f"{('Tea', 'Sushi')[at % 2]} {at}"} for at in range(n)]


def fit(folder, wrong=5):
    """Calibrated on rows of which the model gets every `wrong`-th wrong."""
    judge = excam.load(folder)
    truth = {row["id"]: bool(at % 2) ^ (at % wrong == 0) for at, row in enumerate(rows())}
    made = calibration.fitted(list(judge.score(rows())), truth, EXCAM)
    (folder / calibration.FILE).write_text(json.dumps(made))
    return made


@pytest.mark.parametrize(
    ("has_errors", "chance", "expected"),
    [
        (None, None, None),
        (None, 0.9, "error"),  # of a metric that lists no errors
        (None, 0.5, "unsure"),
        (True, None, "error"),
        (False, None, "clean"),
        (True, 0.39, "clean"),
        (True, 0.4, "unsure"),
        (False, 0.6, "unsure"),
        (False, 0.61, "error"),
    ],
)
def test_verdicts(has_errors, chance, expected):
    assert calibration.verdict(has_errors, chance, (0.4, 0.6)) == expected


def test_without_a_calibration_there_is_no_probability(adapter, backend):  # noqa: F811
    judge = excam.load(adapter)
    assert "|cal:none|" in judge.signature
    scored = list(judge.score([{**Q, "output": "Sushi"}, {**Q, "output": "x"}, {**Q, "output": "mumble"}]))
    assert [(row.probability, row.verdict) for row in scored] == [(None, "error"), (None, "clean"), (None, None)]


def test_a_calibration_gives_each_row_a_probability(adapter, backend):  # noqa: F811
    made = fit(adapter)
    judge = excam.load(adapter)
    digest = room.sha256(adapter / calibration.FILE)[:8]
    assert f"|cal:platt@{digest},band0.4-0.6|" in judge.signature
    good, bad, unread = judge.score([{**Q, "output": "x"}, {**Q, "output": "Sushi"}, {**Q, "output": "mumble"}])
    assert 0 <= good.probability < bad.probability <= 1
    assert (unread.probability, unread.verdict) == (None, None)
    assert made["measured"] == good.metric.measured != ""
    assert "judge-unqualified" not in good.warnings
    assert (made["calibration"]["n"], made["calibration"]["errors"]) == (40, 20)
    assert 0 < made["brier_here"] < made["brier_of_the_share"]


def test_platt_is_its_formula(adapter, backend):  # noqa: F811
    curve = fit(adapter)["calibration"]
    (scored,) = excam.load(adapter).score([{**Q, "output": "x"}])
    expected = 1 / (1 + math.exp(curve["slope"] * scored.certainty - curve["intercept"]))
    assert scored.probability == pytest.approx(expected)


def test_the_band_is_asked_for(adapter, backend):  # noqa: F811
    fit(adapter)
    judge = excam.load(adapter, band=(0, 1))
    assert {result.verdict for result in judge.score(rows())} == {"unsure"}
    assert ",band0-1|" in judge.signature
    assert "unsure" not in {result.verdict for result in excam.load(adapter, band=(0.5, 0.5)).score(rows())}


def test_a_band_without_a_calibration_is_refused(adapter):  # noqa: F811
    assert "expected two probabilities" in room.line_of(InputInvalid, excam.load, adapter, band=(0.6, 0.4))
    line = room.line_of(InputInvalid, excam.load, adapter, band=(0.1, 0.9))
    assert line == "--band: no calibration to use it with; expected one; give --calibration, or leave it out"


def test_a_calibration_of_another_adapter_is_refused(adapter, backend):  # noqa: F811
    fit(adapter)
    weights = adapter / "adapter_model.safetensors"
    weights.write_bytes(b"others")
    room.change_manifest(adapter, outputs={weights.name: room.sha256(weights)})
    line = room.line_of(ModelInvalid, excam.load, adapter)
    assert f"expected excam|model:tiny@cccccccc|on:all@{room.sha256(weights)[:8]}|" in line
    (adapter / calibration.FILE).unlink()
    assert list(excam.load(adapter).score([{**Q, "output": "x"}]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda made: "",
        lambda made: "{",
        lambda made: json.dumps({**made, "calibration": {}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "method": "magic"}}),
        lambda made: json.dumps({**made, "calibration": {**made["calibration"], "slope": "x"}}),
        lambda made: json.dumps({"calibration": made["calibration"]}),
    ],
)
def test_an_invalid_calibration_file_is_refused(adapter, backend, damage):  # noqa: F811
    made = fit(adapter)
    (adapter / calibration.FILE).write_text(damage(made))
    assert "no calibration; expected what `excam calibrate` wrote" in room.line_of(ModelInvalid, excam.load, adapter)


def test_an_answer_that_is_drawn_has_no_probability(adapter, backend):  # noqa: F811
    """The map was fitted on greedy answers."""
    fit(adapter)
    judge = excam.load(adapter).sampled(0.7, 3)
    assert "|cal:none|temp:0.7,seed3|" in judge.signature
    drawn = list(judge.score(rows()))
    assert {(result.probability, result.metric.measured) for result in drawn} == {(None, "")}
    assert all("judge-unqualified" in result.warnings for result in drawn)


def test_a_calibration_in_a_file_of_its_own(adapter, backend, tmp_path):  # noqa: F811
    fit(adapter)
    beside = list(excam.load(adapter).score(rows()))
    kept = tmp_path / "kept.json"
    (adapter / calibration.FILE).rename(kept)
    assert {result.probability for result in excam.load(adapter).score(rows())} == {None}
    assert list(excam.load(adapter, calibration=kept).score(rows())) == beside
    line = room.line_of(InputInvalid, excam.load, adapter, calibration=kept, temperature=0.5)
    assert "--calibration: found beside --temperature" in line
    line = room.line_of(ModelInvalid, excam.load, adapter, calibration=tmp_path / "absent.json")
    assert "absent.json: no such file; expected what" in line


@pytest.mark.parametrize("truth", [True, False])
def test_one_class_is_nothing_to_fit(adapter, backend, truth):  # noqa: F811
    judge = excam.load(adapter)
    gold = {row["id"]: truth for row in rows()}
    line = room.line_of(InputInvalid, calibration.fitted, list(judge.score(rows())), gold, EXCAM)
    assert line.startswith("40 rows: nothing to fit")
    silent = [replace(result, certainty=None) for result in judge.score(rows())]
    line = room.line_of(InputInvalid, calibration.fitted, silent, gold, EXCAM)
    assert line == "no row has a certainty: the server sends no log-probabilities; calibrate needs them"


def scores(*ratings):
    """Results of the rubric, with a score each."""
    kept = {"signature": "rubric|model:m|metric:1|cal:none|v:1"}
    return [Result(id=str(at), score=float(score), **kept) for at, score in enumerate(ratings)]


def test_any_metric_with_a_range_is_calibrated_by_its_score(tmp_path):
    """The lower the rating, the likelier is an error; one without a range cannot be calibrated."""
    results = scores(*[1, 2, 3, 4, 5] * 8)
    truth = {result.id: result.score < 3 for result in results} | {"2": True}
    made = calibration.fitted(results, truth, metric.load("rubric"))
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(made))
    read = calibration.read(file, results[0].signature, (0.4, 0.6))
    chances = [read.probability(metric.load("rubric").error_signal(score, None)) for score in (1.0, 2.0, 3.0, 4.0, 5.0)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.9
    assert chances[-1] < 0.1
    line = room.line_of(InputInvalid, calibration.fitted, results, truth, WithoutRange())
    assert line.startswith("metric without-range: it states no range of its scores")


class WithoutRange(metric.Metric):
    name, version, columns = "without-range", 1, ("output",)


# --- the command


@pytest.fixture
def here(adapter, backend, own_environment, tmp_path, monkeypatch):  # noqa: F811
    """In a folder with an adapter; the process's environment stays as it was."""
    monkeypatch.chdir(tmp_path)


def labels_file(column="error", value=lambda at: bool(at % 2) ^ (at % 5 == 0)):
    return texts(*({"id": row["id"], column: value(at)} for at, row in enumerate(rows())), name="gold.jsonl")


def scored():
    result = excam_("score", texts(*rows()), "--adapter", ADAPTER, "--to", "scored.jsonl")
    assert result.exit_code == 0, result.stderr
    return "scored.jsonl"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("error", lambda at: bool(at % 2) ^ (at % 5 == 0)),
        ("gold", lambda at: " No" if at % 2 else "yes"),
        ("score", lambda at: -5.0 * (at % 2)),
        ("label", lambda at: 1 - at % 2),  # more is better, as in `excam meta`
    ],
)
def test_calibrate(here, column, value):
    name = labels_file(column, value)
    result = excam_("calibrate", scored(), "--gold", name, "--to", BESIDE, "--label", column)
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert made == json.loads(Path(ADAPTER, calibration.FILE).read_text())
    assert (made["rows"], made["gold"]) == (room.sha256(Path("scored.jsonl")), room.sha256(Path(name)))
    assert made["calibration"]["errors"] == 20
    first, *others = result.stderr.splitlines()
    assert "better than guessing on 40 labelled rows: right in " in first
    assert made["measured"] in first
    taken = "in the column error more is worse" if column == "error" else f"more of {column} is taken as better"
    assert taken in others[-2]
    assert others[-2].endswith(": 20 with an error")
    assert others[-1].startswith("fitted on 40 rows: rough")


def test_a_calibration_of_its_own_is_written_and_not_over_another_file(here):
    words = ("calibrate", scored(), "--gold", labels_file())
    assert json.loads(excam_(*words, "--to", "kept.json").stdout) == json.loads(Path("kept.json").read_text())
    assert stopped(*words, "--to", "kept.json").startswith("excam: kept.json: is there already; expected none; name")
    assert excam_(*words, "--to", "kept.json", "--overwrite").exit_code == 0


def test_calibrating_again_replaces_what_was_there(here):
    words = ("calibrate", scored(), "--gold", labels_file(), "--to", BESIDE)
    Path(BESIDE).write_text("{}")
    assert excam_(*words, "--overwrite").exit_code == 0
    assert json.loads(Path(ADAPTER, calibration.FILE).read_text())["calibration"]["method"] == "platt"
    line = stopped("score", "texts.jsonl", "--adapter", ADAPTER, "--to", "scored.jsonl")
    assert line.startswith("excam: scored.jsonl: has results of excam|model:tiny@"), "those without a probability stay"


def test_rows_without_a_truth_are_left_out_and_counted(here):
    scored()
    some = [{"id": str(at), "error": at % 2 == 0} for at in range(20)]
    texts(*some, {"id": "20", "error": None}, {"id": "21", "error": " "}, name="gold.jsonl")
    result = excam_("calibrate", "scored.jsonl", "--gold", "gold.jsonl", "--to", BESIDE)
    assert result.exit_code == 0, result.stderr
    first, slope, rows, truths, *_ = result.stderr.splitlines()
    assert first.startswith("scored.jsonl: worse than guessing on 20 labelled rows: right in 0")
    assert re.match(r"slope -.*: the fit turns the judge round", slope)
    assert rows == "scored.jsonl: 40 rows: 20 fitted, 0 failed, 0 without p(R), 20 without a truth."
    assert truths == "gold.jsonl: 22 rows: 20 with a truth, 0 of them without a scored row"
    texts({"id": "0", "error": True}, {"id": 0, "error": False}, name="gold.jsonl")
    line = stopped("calibrate", "scored.jsonl", "--gold", "gold.jsonl", "--to", "other.json")
    assert line == "excam: gold.jsonl:2: id 0 occurs twice; expected one label for each row"


def test_truth_as_text_with_ids_of_another_form(here):
    Path("gold.csv").write_text("id,error\n" + "".join(f"{at}.0,{'-5' if at % 2 else '0.0'}\n" for at in range(40)))
    result = excam_("calibrate", scored(), "--gold", "gold.csv", "--to", BESIDE)
    assert result.exit_code == 0, result.stderr
    assert "40 ids joined although they differ in form ('0' as '0.0')" in result.stderr
    assert Path(ADAPTER, calibration.FILE).exists()

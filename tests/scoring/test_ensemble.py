"""Several judgements of one row, by two adapters or by repetition: resumed, displayed, combined."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import test_scorer as room
from test_scorer import adapter, line_of  # noqa: F401  # adapter: a fixture
from typer.testing import CliRunner

import excam
from excam import cli
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import backend_factory, fake
from excam.scoring import files, metric, results
from excam.scoring.calibration import FILE
from excam.scoring.ensemble import Ensemble
from excam.scoring.opening import open_scorer
from excam.scoring.options import Options
from excam.scoring.rows import RowFile
from excam.scoring.scorer import Scorer

Q = {"instruction": "A?"}

ROWS = [
    {"id": "both", **Q, "output": "Greeks eat Sushi daily."},
    {"id": "one", **Q, "output": "Greeks eat Ramen daily."},
    {"id": "none", **Q, "output": "Greeks eat Moussaka daily."},
    {"id": "half", **Q, "output": "mumble Ramen"},
    {"id": "unread", **Q, "output": "mumble mumble"},
]


def answer_of_model(name: str, request) -> str:
    """Both models know Sushi; only the second knows Ramen, and reads what the first mumbles about."""
    text = request.messages[-1].content
    second = name == "second"
    if "mumble mumble" in text or ("mumble" in text and not second):
        return "I think there is no error."
    spans = {"Sushi": ("Sushi", "major"), "Ramen": ("eat Ramen" if "Greeks" in text else "Ramen", "minor")}
    known = ("Sushi", "Ramen") if second else ("Sushi",)
    errors = tuple(CulturalError("output", *spans[word], "wrong dish") for word in known if word in text)
    return report.write(Report(errors, "Japanese." if errors else ""))


@pytest.fixture
def loaded(monkeypatch):
    """Which models are in memory, as they are opened and closed; `most` at once, `order` of opening."""
    state = {"now": set(), "most": 0, "order": [], "asked": []}

    class Backend(fake.Backend):
        def generate(self, requests, sampling):
            state["asked"].append((self.identity, sampling.seed, sampling.temperature, len(requests)))
            return super().generate(requests, sampling)

    def open_(lazily):
        state["order"].append(lazily.name)
        state["now"].add(lazily.name)
        state["most"] = max(state["most"], len(state["now"]))
        return Backend(lambda request: answer_of_model(lazily.name, request), lazily.name)

    closing = backend_factory.LazyBackend.close

    def close(lazily):
        state["now"].discard(lazily.name)
        closing(lazily)

    monkeypatch.setattr(backend_factory.LazyBackend, "_open", open_)
    monkeypatch.setattr(backend_factory.LazyBackend, "close", close)
    return state


@pytest.fixture
def two_adapters(adapter):  # noqa: F811
    """Two adapters of one base, as the workflow lays them out; the models of tests go by the name in the manifest."""
    second = room.make(adapter.parents[2], trained_on="without-blend")
    room.change_manifest(second, model="second", weights="tiny")
    return [adapter, second]


def by_id(scored):
    return {result.id: result for result in scored}


def rows_file(folder: Path) -> RowFile:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return RowFile(folder / "rows.jsonl", metric.load("excam"))


def test_two_adapters_judge_one_after_another(two_adapters, loaded):
    results_by_id = by_id(excam.load(two_adapters).score(ROWS))
    assert list(results_by_id) == [row["id"] for row in ROWS]
    assert (loaded["most"], loaded["order"], loaded["now"]) == (1, ["tiny", "second"], set())
    both, single, none, half, unread = results_by_id.values()
    assert (both.score, both.verdict, both.agreement.share, both.agreement.spread) == (-5.0, "error", 1.0, 0.0)
    counted = single.agreement
    assert (single.verdict, counted.found, counted.against, counted.share) == ("unsure", 1, 1, 0.5)
    first = counted.scores[0]
    assert counted.scores == (first, -1.0)
    assert single.score == pytest.approx((first - 1) / 2)
    assert counted.spread == pytest.approx((first + 1) / 2**0.5)
    assert (none.verdict, none.agreement.share, none.report.errors) == ("clean", 0.0, ())
    assert (half.score, half.failure, half.verdict) == (-1.0, None, "error")
    assert (half.agreement.judgements, half.agreement.failures) == (1, ("no-json",))
    assert (unread.score, unread.failure, unread.verdict, unread.agreement.judgements) == (None, "no-json", None, 0)


def test_the_report_is_that_of_the_majority_and_nearest_in_score(two_adapters, loaded):
    (result,) = excam.load(two_adapters, combine="median").score([{**Q, "output": "Sushi and Ramen"}])
    assert result.score == -5.5
    assert len(result.report.errors) == 1, "-5 and -6 are equally near: the first is kept"
    (result,) = excam.load([*reversed(two_adapters)]).score([{**Q, "output": "Sushi and Ramen"}])
    assert len(result.report.errors) == 2
    third = room.make(two_adapters[0].parents[2], trained_on="without-epic")  # knows what the first knows
    room.change_manifest(third, model="third", weights="tiny")
    (result,) = excam.load([*reversed(two_adapters), third]).score([{**Q, "output": "Sushi and Ramen"}])
    assert len(result.report.errors) == 1, "-5 is nearer to the mean than -6"


def test_where_it_is_even_what_was_found_is_shown(two_adapters, loaded):
    """A score below 0 beside a report of nothing would leave nothing to look at."""
    for adapters in (two_adapters, two_adapters[::-1]):
        (result,) = excam.load(adapters).score([ROWS[1]])
        assert [error.span for error in result.report.errors] == ["eat Ramen"]


def test_the_signature_names_every_judge(two_adapters, loaded):
    opened = excam.load(two_adapters, repeat=3, temperature=0.7, combine="median")
    singles = [excam.load(folder).described for folder in two_adapters]
    version = excam.load(two_adapters[0]).signature.rpartition("|")[2]
    times = "|rep:3,temp:0.7"
    judges = f"{{{singles[0]}{times}}}+{{{singles[1]}{times}}}"
    assert opened.signature == f"excam|combine:median|{judges}|{version}"
    assert {result.signature for result in opened.score(ROWS)} == {opened.signature}
    assert excam.load(two_adapters).signature == f"excam|combine:mean|{{{singles[0]}}}+{{{singles[1]}}}|{version}"
    short = excam.load(two_adapters, max_tokens=64)
    assert short.signature == f"excam|combine:mean|{{{singles[0]}|max:64}}+{{{singles[1]}|max:64}}|{version}"


def test_one_model_asked_again(adapter, loaded):  # noqa: F811
    results_by_id = by_id(excam.load(adapter, repeat=4, temperature=0.9).score(ROWS))
    assert loaded["order"] == ["tiny"], "loaded once"
    assert [(seed, temperature) for _, seed, temperature, _ in loaded["asked"]] == [(seed, 0.9) for seed in range(4)]
    shown = results_by_id["both"].agreement
    assert (shown.judgements, shown.found, shown.against, shown.scores) == (4, 4, 0, (-5.0,) * 4)


def test_a_single_judgement_is_the_default_and_no_ensemble(adapter, loaded, tmp_path):  # noqa: F811
    opened = excam.load([adapter])
    assert isinstance(opened, Scorer)
    scored = list(files.results(opened, rows_file(tmp_path), len(ROWS)))
    assert scored == list(excam.load(adapter).score(ROWS))
    assert {result.agreement for result in scored} == {None}
    assert "temp" not in opened.signature
    sampled = excam.load(adapter, temperature=0.7)
    assert isinstance(sampled, Scorer)
    assert "|temp:0.7,seed0|" in sampled.signature


@pytest.mark.parametrize(
    ("several", "part"),
    [
        ({"repeat": 3}, "greedy answers are all the same"),
        ({"repeat": 0}, "expected 1 or more"),
        ({"temperature": -1}, "temperature -1: expected 0 or more"),
        ({"combine": "max", "repeat": 2, "temperature": 1}, "combine: found max; expected mean, median"),
        ({"combine": "mean"}, "--combine: found for one judgement; expected --repeat or several models; leave it out"),
    ],
)
def test_what_makes_no_sense_is_refused(adapter, several, part):  # noqa: F811
    assert part in line_of(InputInvalid, excam.load, adapter, **several)


def test_the_same_judge_twice_is_refused(adapter):  # noqa: F811
    assert "one judge twice" in line_of(InputInvalid, excam.load, [adapter, adapter])


def test_bases_are_none_or_one_each(two_adapters, tmp_path):
    base = two_adapters[0].parents[2] / "models/tiny"

    def opened(*bases):
        return open_scorer(Options(models=tuple(two_adapters), bases=bases))

    assert "1 bases of 2 models" in line_of(InputInvalid, opened, base)
    assert "1 bases of 2 models" in line_of(InputInvalid, excam.load, two_adapters, base=base)
    assert isinstance(opened(base, base), Ensemble)
    line_of(ModelInvalid, opened, base, tmp_path)


def test_a_row_that_cannot_be_scored_is_a_failure_of_every_judge_without_a_request(two_adapters, loaded):
    rows = [{"id": "1", **Q, "output": "Sushi"}, {"text": "b"}, {"id": "1", **Q, "output": "a"}]
    scored = list(excam.load(two_adapters).score(rows))
    assert [(result.id, result.failure) for result in scored] == [
        ("1", None),
        ("#2", "missing-instruction"),
        ("1#3", "duplicate-id"),
    ]
    assert [result.agreement.failures for result in scored] == [(), ("missing-instruction",) * 2, ("duplicate-id",) * 2]
    assert [rows for *_, rows in loaded["asked"]] == [1, 1]
    line_of(InputInvalid, excam.load(two_adapters).score, [{"text": "b"}])
    assert len(loaded["asked"]) == 2


def test_nothing_to_judge(two_adapters, loaded):
    assert list(excam.load(two_adapters).score([])) == []


def test_a_warning_of_several_judges_is_listed_once(two_adapters, loaded):
    room.change_manifest(two_adapters[1], languages=["Yoruba"])
    (result,) = excam.load(two_adapters).score([{**Q, "output": "Sushi", "language": "English"}])
    assert result.warnings == ("language-untested", "judge-unqualified")


def test_a_probability_is_the_mean_of_all_or_none(two_adapters, loaded):
    def fitted(folder, intercept):
        curve = {"method": "platt", "n": 9, "unscored": 0, "errors": 4, "certainty": [], "probability": []}
        curve |= {"slope": 0.0, "intercept": intercept}
        judged = excam.load(folder).signature.partition("|cal:")[0]
        (folder / FILE).write_text(json.dumps({"judged": judged, "calibration": curve}))

    fitted(two_adapters[0], 0.0)  # .5, whatever is said
    assert {result.probability for result in excam.load(two_adapters).score(ROWS)} == {None}
    fitted(two_adapters[1], 2.0)
    both, single, _, half, unread = excam.load(two_adapters).score(ROWS)
    sure = 1 / (1 + 2.718281828459045**-2)
    assert both.probability == single.probability == pytest.approx((0.5 + sure) / 2)
    assert (both.verdict, single.verdict) == ("error", "error")
    assert half.probability == pytest.approx(sure), "of what could be read"
    assert (unread.probability, unread.verdict) == (None, None)
    assert excam.load(two_adapters, band=(0.1, 0.9)).score(ROWS[:1])[0].verdict == "unsure"


def test_how_far_judgements_agree_is_said_to_people(two_adapters, loaded):
    lines = {result.id: results.confidence_lines(result) for result in excam.load(two_adapters).score(ROWS)}
    assert lines["one"] == ["1 of 2 readable judgements found an error: unsure; scores 0.646, -1.000, spread 1.164"]
    assert lines["half"] == ["1 of 1 readable judgements found an error; scores none, -1.000"]
    assert lines["unread"] == ["0 of 0 readable judgements found an error; scores none, none"]
    alone = excam.load(two_adapters[0]).score(ROWS)[0]
    assert results.confidence_lines(alone) == []
    shown = replace(alone, probability=0.55, verdict="unsure")
    assert results.confidence_lines(shown) == ["probability of an error 0.55: unsure"]


# --- the command


def test_the_command(two_adapters, loaded, own_environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps({**row, "language": "xx"}) + "\n" for row in ROWS))
    adapters = [word for folder in two_adapters for word in ("--adapter", str(folder))]
    words = ["score", "rows.jsonl", *adapters, "--repeat", "2", "--temperature", ".5", "--combine", "median"]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["agreement"]["judgements"] for row in rows] == [4, 4, 4, 2, 0]
    assert "warning: language-untested (5 rows): in a language" in result.stderr
    assert "5 rows: 3 with errors, 1 not judged" in result.stderr
    result = CliRunner().invoke(cli.app, [*words, "--to", "out.jsonl"])
    assert [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()] == rows
    shown = CliRunner().invoke(cli.app, ["explain", "out.jsonl"], env={"COLUMNS": "110"}).stdout
    assert "   4 of 4 readable judgements found an error; scores -5.000, -5.000, -5.000, -5.000, spread" in shown
    assert "   warnings: language-untested, judge-unqualified\n" in shown


# --- the embedded model

"""Several judgements of one pair, by two adapters or by repetition: resumed, displayed, combined."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import test_metric as room
from test_metric import adapter, line_of  # noqa: F401  # adapter: a fixture
from typer.testing import CliRunner

from excam import cli
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.error_reports.judges import report
from excam.error_reports.metric import ensemble
from excam.error_reports.metric.ensemble import Ensemble, Repetition
from excam.error_reports.metric.probability import FILE
from excam.error_reports.metric.scorer import Metric
from excam.error_reports.records import CulturalError, Report
from excam.inference import backend_factory, fake
from excam.scoring import scored, scored_file, scored_json
from excam.scoring.pairs import PairFile

ROWS = [
    {"id": "both", "output": "Greeks eat Sushi daily."},
    {"id": "one", "output": "Greeks eat Ramen daily."},
    {"id": "none", "output": "Greeks eat Moussaka daily."},
    {"id": "half", "output": "mumble Ramen"},
    {"id": "unread", "output": "mumble mumble"},
]


def judged(name: str, request) -> str:
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
        return Backend(lambda request: judged(lazily.name, request), lazily.name)

    closing = backend_factory.LazyBackend.close

    def close(lazily):
        state["now"].discard(lazily.name)
        closing(lazily)

    monkeypatch.setattr(backend_factory.LazyBackend, "_open", open_)
    monkeypatch.setattr(backend_factory.LazyBackend, "close", close)
    return state


@pytest.fixture
def two(adapter):  # noqa: F811
    """Two adapters of one base, as the workflow lays them out; the models of tests go by the name in the manifest."""
    second = adapter.parent / "without-blend"
    second.mkdir()
    weights = second / "adapter_model.safetensors"
    weights.write_bytes(b"other weights")
    (second / "adapter_config.json").write_text((adapter / "adapter_config.json").read_text())
    first = json.loads((adapter / "manifest.json").read_text())
    changes = {"trained_on": "without-blend", "outputs": {weights.name: room.sha256(weights)}}
    room.put(second, **{**first, **changes, "model": "second", "weights": "tiny"})
    return [adapter, second]


def by_id(results):
    return {one.id: one for one in results}


def test_two_adapters_judge_one_after_another(two, loaded):
    found = by_id(Ensemble.open(two).score(ROWS))
    assert list(found) == [row["id"] for row in ROWS]
    assert (loaded["most"], loaded["order"], loaded["now"]) == (1, ["tiny", "second"], set())
    both, one, none, half, unread = found.values()
    assert (both.score, both.verdict, both.agreement.share, both.agreement.spread) == (-5.0, "error", 1.0, 0.0)
    assert (one.verdict, one.agreement.found, one.agreement.against, one.agreement.share) == ("unsure", 1, 1, 0.5)
    first = one.agreement.scores[0]
    assert one.agreement.scores == (first, -1.0)
    assert one.score == pytest.approx((first - 1) / 2)
    assert one.agreement.spread == pytest.approx((first + 1) / 2**0.5)
    assert (none.verdict, none.agreement.share, none.report.errors) == ("clean", 0.0, ())
    assert (half.score, half.failure, half.verdict) == (-1.0, None, "error")
    assert (half.agreement.judgements, half.agreement.failures) == (1, ("no-json",))
    assert (unread.score, unread.failure, unread.verdict, unread.agreement.judgements) == (None, "no-json", None, 0)


def test_where_they_agree(two, loaded):
    rows = [{"output": "Sushi and Ramen"}]
    (found,) = Ensemble.open(two).score(rows)
    assert [(one.start, one.end, one.share, one.major) for one in found.agreement.spans] == [
        (0, 5, 1.0, 1.0),
        (10, 15, 0.5, 0.0),
    ]


def test_the_report_is_that_of_the_majority_and_nearest_in_score(two, loaded):
    (found,) = Ensemble.open(two, repetition=Repetition(combine="median")).score([{"output": "Sushi and Ramen"}])
    assert found.score == -5.5
    assert len(found.report.errors) == 1, "-5 and -6 are equally near: the first is kept"
    (found,) = Ensemble.open([*reversed(two)]).score([{"output": "Sushi and Ramen"}])
    assert len(found.report.errors) == 2


def test_where_it_is_even_what_was_found_is_shown(two, loaded):
    """A score below 0 beside a report of nothing would leave nothing to look at."""
    for adapters in (two, two[::-1]):
        (found,) = Ensemble.open(adapters).score([ROWS[1]])
        assert [one.span for one in found.report.errors] == ["eat Ramen"]


def test_the_signature_tells_of_every_judge(two, loaded):
    opened = Ensemble.open(two, repetition=Repetition(3, 0.7, "reciprocal-rank"))
    singles = [Metric.open(one).described for one in two]
    version = Metric.open(two[0]).signature.rpartition("|")[2]
    times = "|rep:3,temp:0.7"
    judges = f"{{{singles[0]}{times}}}+{{{singles[1]}{times}}}"
    assert opened.signature == f"excam|combine:reciprocal-rank|{judges}|{version}"
    assert {one.signature for one in opened.score(ROWS)} == {opened.signature}
    assert Ensemble.open(two).signature == f"excam|combine:mean|{{{singles[0]}}}+{{{singles[1]}}}|{version}"
    short = Ensemble.open(two, max_tokens=64)
    assert short.signature == f"excam|combine:mean|{{{singles[0]}|max:64}}+{{{singles[1]}|max:64}}|{version}"


def test_one_model_asked_again(adapter, loaded):  # noqa: F811
    opened = ensemble.open_judge([adapter], [], 512, Repetition(4, 0.9))
    found = by_id(opened.score(ROWS))
    assert loaded["order"] == ["tiny"], "loaded once"
    assert [(seed, temperature) for _, seed, temperature, _ in loaded["asked"]] == [(seed, 0.9) for seed in range(4)]
    shown = found["both"].agreement
    assert (shown.judgements, shown.found, shown.against, shown.scores) == (4, 4, 0, (-5.0,) * 4)


def test_a_single_greedy_judgement_is_the_default_and_what_it_was(adapter, loaded, tmp_path):  # noqa: F811
    opened = ensemble.open_judge([adapter], [], 512)
    assert isinstance(opened, Metric)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    found = list(ensemble.results(opened, PairFile(tmp_path / "rows.jsonl"), None))
    assert found == list(Metric.open(adapter).score(ROWS))
    assert {one.agreement for one in found} == {None}
    assert "temp" not in opened.signature


def test_one_judgement_at_a_temperature_is_no_ensemble(adapter, loaded):  # noqa: F811
    opened = ensemble.open_judge([adapter], [], 512, Repetition(temperature=0.7))
    assert isinstance(opened, Metric)
    assert "|temp:0.7,seed0|" in opened.signature


@pytest.mark.parametrize(
    ("several", "part"),
    [
        (Repetition(3), "greedy answers are all the same"),
        (Repetition(0), "expected 1 or more"),
        (Repetition(1, -1), "expected 1 or more, 0 or more"),
        (Repetition(combine="max"), "combine: found max; expected mean, median, reciprocal-rank"),
    ],
)
def test_what_makes_no_sense_is_refused(adapter, several, part):  # noqa: F811
    assert part in line_of(InputInvalid, ensemble.open_judge, [adapter], [], 512, several)


def test_the_same_judge_twice_is_refused(adapter):  # noqa: F811
    assert "one judge twice" in line_of(InputInvalid, Ensemble.open, [adapter, adapter])


def test_bases_are_none_or_one_each(two, tmp_path):
    base = two[0].parents[2] / "models/tiny"
    assert "1 bases of 2 adapters" in line_of(InputInvalid, Ensemble.open, two, [base])
    assert Ensemble.open(two, [base, base])
    line_of(ModelInvalid, Ensemble.open, two, [base, tmp_path])


@pytest.mark.parametrize("rows", [[{"output": "a"}, {"text": "b"}], [{"id": "x", "output": "a"}] * 2])
def test_what_is_no_pair_is_refused_before_anything_is_asked(two, loaded, rows):
    line_of(InputInvalid, Ensemble.open(two).score, rows)
    assert loaded["order"] == []


def test_nothing_to_judge(two, loaded):
    assert list(Ensemble.open(two).score([])) == []


def test_texts_that_no_file_likes(two, loaded):
    (found,) = Ensemble.open(two).score(iter([{"output": "Sushi \ud800\u2028\r\n", "system": "m", "language": "en"}]))
    assert (found.output, found.system, found.language) == ("Sushi \ud800\u2028\r\n", "m", "en")


def test_warnings_of_all_are_told_once(two, loaded):
    room.put(two[1], languages=["Yoruba"])
    (found,) = Ensemble.open(two).score([{"output": "Sushi", "language": "English"}])
    assert found.warnings == ("language-untested",)


def test_a_probability_is_the_mean_of_all_or_none(two, loaded):
    def fitted(folder, intercept):
        curve = {"method": "platt", "n": 9, "unscored": 0, "errors": 4, "certainty": [], "probability": []}
        curve |= {"slope": 0.0, "intercept": intercept}
        judge = Metric.open(folder, calibration=None)
        judged = judge.signature.partition("|cal:")[0]
        kept = {"adapter": room.sha256(folder / "adapter_model.safetensors"), "judged": judged, "calibration": curve}
        (folder / FILE).write_text(json.dumps(kept))

    fitted(two[0], 0.0)  # .5, whatever is said
    assert {one.probability for one in Ensemble.open(two).score(ROWS)} == {None}
    fitted(two[1], 2.0)
    both, one, _, half, unread = Ensemble.open(two).score(ROWS)
    sure = 1 / (1 + 2.718281828459045**-2)
    assert both.probability == one.probability == pytest.approx((0.5 + sure) / 2)
    assert (both.verdict, one.verdict) == ("error", "error")
    assert half.probability == pytest.approx(sure), "of what could be read"
    assert (unread.probability, unread.verdict) == (None, None)
    assert Ensemble.open(two, repetition=Repetition(band=(0.1, 0.9))).score(ROWS[:1]).__next__().verdict == "unsure"


def test_results_are_whole_or_absent_and_a_killed_run_goes_on(two, loaded, tmp_path, monkeypatch):
    monkeypatch.setattr("excam.scoring.files.BATCH", 2)
    rows, to = tmp_path / "rows.jsonl", tmp_path / "scored.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    results = Ensemble.open(two).score_file(PairFile(rows), to)
    grown, calls = ensemble.files.grown, []

    def killed(metric, pairs, growing, what):
        for one in grown(metric, pairs, growing, what):
            calls.append(one.id)
            if len(calls) == 8:  # in the second model's second batch
                raise KeyboardInterrupt
            yield one

    monkeypatch.setattr(ensemble.files, "grown", killed)
    with pytest.raises(KeyboardInterrupt):
        list(results)
    assert not to.exists()
    monkeypatch.setattr(ensemble.files, "grown", grown)
    loaded["asked"].clear()
    found = list(Ensemble.open(two).score_file(PairFile(rows), to))
    assert [(name, rows) for name, *_, rows in loaded["asked"]] == [("second", 1)], "the one row without a judgement"
    assert list(scored_file.read(to)) == found == list(Ensemble.open(two).score(ROWS))
    assert sorted(path.name for path in tmp_path.glob("*scored*")) == ["scored.jsonl"]


def test_a_table_tells_of_agreement(two, loaded):
    table = Ensemble.open(two).score(ROWS).to_polars()
    assert table["judgements"].to_list() == [2, 2, 2, 1, 0]
    assert table["found"].to_list() == [2, 1, 0, 1, 0]
    assert table["verdict"].to_list() == ["error", "unsure", "clean", "error", None]


def test_a_trip_through_json(two, loaded):
    for one in Ensemble.open(two).score(ROWS):
        assert scored_json.from_dict(json.loads(json.dumps(asdict(one)))) == one


def test_how_sure_it_is_is_said_to_people(two, loaded):
    lines = {name: scored.sureness(one) for name, one in by_id(Ensemble.open(two).score(ROWS)).items()}
    assert lines["one"] == [
        "1 of 2 readable judgements found an error: unsure; scores 0.630, -1.000, spread 1.152",
        "output, 'eat Ramen': marked by 1",
    ]
    assert lines["both"][1:] == ["output, 'Sushi': marked by 2, as major by 2"]
    assert lines["half"] == [
        "1 of 1 readable judgements found an error; scores none, -1.000",
        "output, 'Ramen': marked by 1",
    ]
    assert lines["unread"] == ["0 of 0 readable judgements found an error; scores none, none"]
    alone = next(iter(Metric.open(two[0]).score(ROWS)))
    assert scored.sureness(alone) == []
    shown = replace(alone, probability=0.55, verdict="unsure")
    assert scored.sureness(shown) == ["probability of an error 0.55: unsure"]


# --- the command


def test_the_command(two, loaded, own_environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps({**row, "language": "xx"}) + "\n" for row in ROWS))
    adapters = [word for folder in two for word in ("--adapter", str(folder))]
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
    assert (
        "   4 of 4 readable judgements found an error; scores -5.000, -5.000, -5.000, -5.000, spread 0.000\n" in shown
    )
    assert "   output, 'eat Ramen': marked by 2\n" in shown
    assert "   warnings: language-untested\n" in shown
    result = CliRunner().invoke(cli.app, ["score", "rows.jsonl", *adapters, "--combine", "max"])
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "excam: combine: found max; expected mean, median, reciprocal-rank"


# --- the embedded model

FOLDERS = [room.ROOT / "results/adapters/smollm2-135m" / name for name in ("all", "without-blend")]


@pytest.mark.model
@pytest.mark.skipif(
    not (room.WEIGHTS.exists() and all((one / "manifest.json").exists() for one in FOLDERS)),
    reason="run `snakemake --profile local` for two adapters of smollm2-135m first",
)
def test_two_real_adapters(tmp_path):
    """Each says in the ensemble what it says alone, and the combination is that of these."""
    rows = [{"instruction": "Name a Greek dish.", "output": "Sushi."}, {"output": "In India, Diwali is celebrated."}]
    alone = [list(Metric.open(one, max_tokens=48).score(rows)) for one in FOLDERS]
    together = list(Ensemble.open(FOLDERS, max_tokens=48).score(rows))
    for at, one in enumerate(together):
        assert one.agreement.scores == tuple(single[at].score for single in alone)
        known = [score for score in one.agreement.scores if score is not None]
        assert one.score == (pytest.approx(sum(known) / len(known)) if known else None)

"""A metric that the ground has never seen runs through journal, transcript, replay and `excam score --metric`.

What it wrote is compared, shown and put on a page by the same commands as ExCAM's results.
"""

import json
from collections import deque
from functools import partial

import multiple_choice
import pytest
import tiny
from typer.testing import CliRunner

from excam import cli
from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import Choice, Sampling, backend_factory, fake, transcript
from excam.inference.backends import transformers
from excam.inference.journal import InMemory, Journal, ask
from excam.inference.run import run
from excam.scoring import files, metrics, score_rows, scored_file, scored_json

ROWS = [
    {"id": f"q{n}", "question": f"What is {n} + 1?", **dict(zip("abcd", map(str, range(n, n + 4)), strict=True)), "answer": "B"}
    for n in range(6)
]  # fmt: skip
METRIC = "multiple_choice"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a fetched model, as the workflow leaves it."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    files = sorted(tiny.model(folder / "files").iterdir())
    facts = {"revision": "c" * 40, "licence": "MIT"}
    provenance.write_manifest(folder / "manifest.json", inputs=[], outputs=files, settings={}, seconds=1, **facts)
    return folder


def score(*words):
    return CliRunner().invoke(cli.app, ["score", *map(str, words)])


def rows_file(folder, rows=ROWS):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_own_items_and_results_through_journal_transcript_and_replay(model, tmp_path):
    items = [
        multiple_choice.Item(row["id"], row["question"], tuple(row[name] for name in "abcd"), row["answer"])
        for row in ROWS
    ]
    backend = transformers.Backend(model / "files", dtype="float32")
    journal = tmp_path / "journal.jsonl"
    asking = partial(ask, backend, Sampling(max_tokens=8), Journal(journal))
    live, entries = transcript.record(multiple_choice.ask, items, asking)
    assert len(Journal(journal)) == len(ROWS)
    assert {one.letter for one in live} <= set("ABCD")
    transcript.write(tmp_path / "transcript.jsonl", entries)
    assert transcript.replay(multiple_choice.ask, items[::-1], tmp_path / "transcript.jsonl") == live[::-1]


def test_the_command_scores_a_file_with_it(model, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own").mkdir()
    (tmp_path / "own/metric.py").write_text("from multiple_choice import *\n")
    words = (rows_file(tmp_path), "--metric", "own.metric", "--model", model)
    printed = score(*words)
    assert printed.exit_code == 0, printed.output
    results = [json.loads(line) for line in printed.stdout.splitlines()]
    assert [one["id"] for one in results] == [row["id"] for row in ROWS]
    assert all(one["score"] == float(one["parts"]["letter"] == "B") for one in results)
    assert results[0]["signature"].startswith("multiple-choice|model:tiny@cccccccc|dtype:float32|metric:1|v:")
    assert "6 rows: 6 scored, 0 failed" in printed.stderr
    assert score(*words, "--to", tmp_path / "scored.jsonl").exit_code == 0
    assert [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()] == results
    assert not list(tmp_path.glob(".*.journal"))


def test_a_run_that_was_stopped_goes_on_from_the_results_beside_its_file(model, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 2)
    to, asked = tmp_path / "scored.jsonl", []

    def choose(backend, requests):
        for at, request in enumerate(requests):
            asked.append(request)
            yield [(at, Choice((-1.0, -0.5, -2.0, -3.0), (1, 1, 1, 1), 5))]

    monkeypatch.setattr(backend_factory.LazyBackend, "choose", choose)
    scorer = score_rows.RowScorer(multiple_choice, str(model))
    rows = score_rows.RowFile(rows_file(tmp_path), multiple_choice)
    results = files.results(scorer, rows, to)
    assert next(results).id == "q0"
    results.close()
    assert (len(asked), to.exists(), len(list(scored_file.read(tmp_path / ".scored.jsonl.part")))) == (2, False, 2)
    assert len(list(files.results(scorer, rows, to))) == 6
    assert len(asked) == len({request.messages for request in asked}) == 6
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "--metric: found nothing; expected excam, or a Python module such as my_package.my_metric"),
        ("json.tool", "json.tool has no NAME, VERSION, COLUMNS"),
    ],
)
def test_what_is_no_metric_is_one_line(model, tmp_path, name, said):
    found = score(rows_file(tmp_path), "--metric", name, "--model", model)
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert said in found.stderr


def test_a_row_without_a_column_is_named_before_anything_is_asked(model, tmp_path, monkeypatch):
    monkeypatch.setattr(metrics, "load", lambda _: multiple_choice)
    without = [ROWS[0], {name: value for name, value in ROWS[1].items() if name != "c"}]
    found = score(rows_file(tmp_path, without), "--metric", "any", "--model", model)
    assert found.exit_code == 2
    assert (
        "rows.jsonl:2: no c (id, question, a, b, d, answer); metric multiple-choice needs question, a," in found.stderr
    )
    assert score(rows_file(tmp_path), "--metric", "any").exit_code == 2
    twice = score(rows_file(tmp_path, [ROWS[0], ROWS[0]]), "--metric", "any", "--model", model)
    assert "id q0: occurs twice" in twice.stderr


# --- its results in the commands for scored files


def results(model, folder, monkeypatch, letters, direction="higher"):
    """A scored file of twelve rows in two languages; `letters` are the model's answers, " " for a failure."""

    def choose(_, requests):
        for at, request in enumerate(requests):
            letter = letters[int(request.messages[0].content.split()[2])]
            logprobs = tuple(-1.0 if one == letter else -3.0 for one in "ABCD")
            yield [(at, Choice(None if letter == " " else logprobs, (1, 1, 1, 1), 5))]

    rows = [
        ROWS[0] | {"id": f"q{n}", "question": f"What is {n} ?", "language": ("Thai", "Lao")[n % 2]} for n in range(12)
    ]
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(backend_factory.LazyBackend, "choose", choose)
        patch.setattr(multiple_choice, "DIRECTION", direction)
        scorer = score_rows.RowScorer(multiple_choice, str(model))
        rows = score_rows.RowFile(rows_file(folder, rows), multiple_choice)
        deque(files.results(scorer, rows, folder / "scored.jsonl"), 0)
    return folder / "scored.jsonl"


def excam(*words):
    done = CliRunner().invoke(cli.app, list(map(str, words)), env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def two(model, tmp_path, monkeypatch):
    """Scored files of two systems: one is right in eleven of twelve rows, the other in five of eleven."""
    return results(model, tmp_path / "a", monkeypatch, "BBBBBBBBBBBA"), results(
        model, tmp_path / "b", monkeypatch, "BBBBBAAAAAA "
    )


def test_results_are_read_as_they_were_written(two):
    lines = [json.loads(line) for line in two[1].read_text().splitlines()]
    found = list(scored_file.read(two[1]))
    assert [one.to_dict() for one in found] == lines
    assert {"id", "score", "failure", "parts", "explanation", "signature"} < set(lines[0])
    assert (found[0].language, found[0].better, found[0].texts["question"]) == ("Thai", "higher", "What is 0 ?")
    assert (found[-1].score, found[-1].failure) == (None, "no-probabilities")
    assert [scored_json.from_dict(line) for line in lines] == found


@pytest.mark.parametrize(
    "change",
    [
        {"score": None},
        {"score": "1"},
        {"failure": "empty"},
        {"parts": []},
        {"columns": None},
        {"columns": {"a": 1}},
        {"direction": "up"},
        {"spans": [{"where": "e", "span": "", "severity": "major", "type": ""}]},
        {"spans": [1]},
        {"explanation": 1},
    ],
)
def test_a_line_that_was_damaged_is_refused(two, change):
    row = json.loads(two[0].read_text().splitlines()[0])
    lacks = ": no failure, though the score is null" if change == {"score": None} else ""
    with pytest.raises(InputInvalid, match=rf"^row: no scored pair{lacks}; expected a line that `excam score` wrote"):
        scored_json.from_dict(row | change)


def test_two_systems_are_compared_by_score(two):
    whole, *groups = map(json.loads, excam("compare", *two, "--jsonl").splitlines())
    assert (whole["rows_a"], whole["compared"], whole["not_judged_b"]) == (12, 11, 1)
    (score,) = whole["measures"]
    assert (score["name"], score["a"], round(score["b"], 3), score["a_better"]) == ("score", 1.0, 0.455, 6)
    assert {group["name"] for group in groups if group["kind"] == "group"} == {"Lao", "Thai"}
    shown = excam("compare", *two)
    assert "score: mean, more is better. p: paired permutation test" in shown
    assert "with errors" not in shown
    assert "p(R)" not in shown


def test_a_metric_of_which_less_is_better(model, tmp_path, monkeypatch):
    a = results(model, tmp_path / "a", monkeypatch, "B" * 12, "lower")
    b = results(model, tmp_path / "b", monkeypatch, "A" * 12, "lower")
    (score,) = json.loads(excam("compare", a, b, "--jsonl").splitlines()[0])["measures"]
    assert (score["a_better"], score["b_better"]) == (0, 12)
    assert "score: mean, less is better." in excam("compare", a, b)


def test_results_are_shown_and_put_on_a_page(two, tmp_path):
    shown = excam("explain", two[1], "--limit", "6")
    assert "── q5 · score 0.000\n   question: What is 5 ?\n" in shown
    assert "   letter: A\n" in shown
    assert "6 rows: 6 scored, 0 failed; 6 shown" in shown
    assert "marked:" not in shown
    assert "failure: no-probabilities" in excam("explain", two[1], "--only", "failures")
    excam("report", two[1], "--to", tmp_path / "page.html")
    assert "12 rows: 0 with errors, 11 without, 1 not judged" in (tmp_path / "page.html").read_text()


def test_excam_is_a_metric_with_the_same_interface():
    metric = metrics.load("excam")
    wrong = Report((CulturalError("output", "Sushi", "major", "incorrect answer"),), "Sushi is Japanese.")
    backend = fake.Backend(lambda request: report.write(wrong) if "Sushi" in request.messages[-1].content else "no")
    rows = [metrics.Row(text, {"instruction": "Name a dish.", "output": text}) for text in ("Sushi.", "Soup.")]
    asking = partial(ask, backend, Sampling(max_tokens=metric.MAX_TOKENS), InMemory())
    found, failed = run(metric.flow, rows, asking)
    assert (found.score, found.explanation, found.spans[0].start, found.spans[0].end) == (-5.0, wrong.explanation, 0, 5)
    assert (failed.score, failed.failure) == (None, "no-json")

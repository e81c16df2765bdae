"""A metric that the ground has never seen runs through journal, transcript, replay and `excam score --metric`.

What it wrote is compared, shown and put on a page by the same commands as ExCAM's results.
"""

import json
import sys
from functools import partial

import multiple_choice
import pytest
import tiny
from excam_commands import excam, refusal, succeed
from json_lines import write_rows

from excam import load
from excam.core import provenance
from excam.inference import Choice, Sampling, backend_factory, transcript
from excam.inference.backends import transformers
from excam.inference.journal import Journal, ask
from excam.scoring import metric, result_files

ROWS = [
    {"id": f"q{n}", "question": f"What is {n} + 1?", **dict(zip("abcd", map(str, range(n, n + 4)), strict=True)), "answer": "B"}
    for n in range(6)
]  # fmt: skip
MULTIPLE_CHOICE = multiple_choice.MultipleChoice()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a fetched model, as the workflow leaves it."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    files = sorted(tiny.model(folder / "files").iterdir())
    facts = {"revision": "c" * 40, "licence": "MIT"}
    provenance.write_manifest(folder / "manifest.json", inputs=[], outputs=files, settings={}, seconds=1, **facts)
    return folder


def score(*words):
    return excam("score", *words)


def rows_file(folder, rows=ROWS):
    return write_rows(folder / "rows.jsonl", rows)


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
    assert {choice.letter for choice in live} <= set("ABCD")
    transcript.write(tmp_path / "transcript.jsonl", entries)
    assert transcript.replay(multiple_choice.ask, items[::-1], tmp_path / "transcript.jsonl") == live[::-1]


def test_the_command_scores_a_file_with_it(model, tmp_path, monkeypatch):
    words = (rows_file(tmp_path), "--metric", metric_file(tmp_path), "--model", model)
    printed = succeed("score", *words)
    records = [json.loads(line) for line in printed.stdout.splitlines()]
    assert [record["id"] for record in records] == [row["id"] for row in ROWS]
    assert all(record["score"] == float(record["parts"]["letter"] == "B") for record in records)
    signature = "multiple-choice|model:tiny@cccccccc|on:nothing|metric:1|dtype:float32|cal:none|v:"
    assert records[0]["signature"].startswith(signature)
    assert "6 rows: 6 scored, 0 failed" in printed.stderr
    assert score(*words, "--to", tmp_path / "scored.jsonl").exit_code == 0
    assert [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()] == records
    assert not list(tmp_path.glob(".*.journal"))


def metric_file(folder, text="from multiple_choice import MultipleChoice as Base\nclass Own(Base): pass\n"):
    """A metric of one's own in a file."""
    place = folder / "my_metric.py"
    place.write_text(text)
    return place


@pytest.fixture(autouse=True)
def unloaded(monkeypatch):
    """What a test imports as `my_metric` is gone after it, and so is its folder."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("my_metric", None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "--metric: found nothing; expected acre, acre-choice, acre-equivalent, bertscore, bleu, calmqa,"),
        ("rubirc", "--metric: found rubirc; did you mean rubric? expected acre,"),
        ("nothing.py", "--metric: found nothing.py; expected acre,"),
        ("json.tool", "--metric: json.tool: found none; expected one class of Metric"),
    ],
)
def test_an_unusable_metric_is_refused_in_one_line(model, tmp_path, name, said):
    assert said in refusal("score", rows_file(tmp_path), "--metric", name, "--model", model)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "found none; expected one class of Metric"),
        ("class A(Metric): pass\nclass B(Metric): pass\n", "found A, B; expected one class of Metric; name it"),
        ("class A(Metric): pass\n", "has no name, version, columns; expected those of excam.scoring.metric"),
        ("class A(Metric):\n    name, version, columns = 'a', 1, ('b',)\n", "has no flow; expected a method flow"),
        ("class A(MultipleChoice):\n    name = 'bleu'\n", "is called bleu, as one of this package; expected another"),
        ("class A(MultipleChoice):\n    columns = ('text')\n", "columns: found the text 'text'; expected ('text',)"),
        ("class A(MultipleChoice):\n    pair = ('x', 'y')\n", "pair names ('x', 'y'); expected two of its columns"),
        ("import no_such_module\n", "No module named 'no_such_module'; expected a module that can be imported"),
        ("def\n", "expected a module that can be imported"),
    ],
)
def test_a_file_that_holds_no_metric_is_one_line(model, tmp_path, text, said):
    head = "from excam.scoring.metric import Metric\nfrom multiple_choice import MultipleChoice\n"
    place = metric_file(tmp_path, head + text)
    assert said in refusal("score", rows_file(tmp_path), "--metric", place, "--model", model)


CLASS = """from excam.scoring.metric import Metric, Outcome
class A(Metric):
    name, version, columns, asks, range = "a", 1, ("question",), "nothing", (0.0, 1.0)
    def flow(self, row):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 0.5", "flow returned float; expected an Outcome"),
        ("return Outcome(None)", "flow returned neither a score nor a failure; expected one of them"),
        ("return Outcome(1.0, 'bad')", "flow returned a score and a failure; expected one of them"),
        ("return Outcome(True)", "flow returned a score of True; expected a number, or None with a failure"),
        ("return Outcome(1.0, parts={'a': {1}})", "flow returned parts that are no JSON"),
        ("return Outcome(1 / 0)", "ZeroDivisionError: division by zero (my_metric.py, line 5)"),
        ("yield Outcome(1.0)", "TypeError: yielded Outcome; expected a list of Generate or Choose"),
        ("yield [Outcome(1.0)]", "TypeError: yielded list of Outcome; expected a list of Generate or Choose"),
    ],
)
def test_a_mistake_in_a_metric_is_one_line_with_the_row(tmp_path, body, message):
    done = score(rows_file(tmp_path), "--metric", metric_file(tmp_path, CLASS.format(body=body)))
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(f"excam: metric a: row q0: {message}")


def test_a_metric_that_asks_nothing_returns_at_once_and_its_range_is_kept(tmp_path):
    body = "return Outcome(7.0 if row.id == 'q1' else 1.0)"
    done = score(rows_file(tmp_path), "--metric", metric_file(tmp_path, CLASS.format(body=body)))
    assert done.exit_code == 0
    assert "failed because: out-of-range (7) (1)" in done.stderr


def test_a_file_that_is_called_like_a_library_is_that_file(tmp_path):
    place = metric_file(tmp_path, CLASS.format(body="return Outcome(1.0)"))
    assert metric.load(str(place.rename(tmp_path / "json.py"))).name == "a"


def test_a_metric_is_named_by_its_file_its_module_or_its_class(tmp_path, monkeypatch):
    head = "from multiple_choice import MultipleChoice\n"
    place = metric_file(tmp_path, head + "class A(MultipleChoice): pass\nclass B(MultipleChoice):\n    name = 'b'\n")
    assert metric.load(f"{place}:B").name == "b"
    monkeypatch.chdir(tmp_path)
    assert metric.load("my_metric:A").name == "multiple-choice"
    assert metric.load(MULTIPLE_CHOICE) is MULTIPLE_CHOICE


def test_a_row_without_a_column_is_a_failure_and_no_model_is_refused(model, tmp_path):
    place = metric_file(tmp_path)
    without = {name: value for name, value in ROWS[1].items() if name != "c"}
    result = score(rows_file(tmp_path, [ROWS[0], without]), "--metric", place, "--model", model)
    assert [json.loads(line)["failure"] for line in result.stdout.splitlines()] == [None, "missing-c"]
    absent = score(rows_file(tmp_path), "--metric", place)
    assert "--model: missing; metric multiple-choice asks one; expected an adapter" in absent.stderr


# --- its results in the commands for scored files


def scored_file(model, folder, monkeypatch, letters):
    """A scored file of twelve rows in two languages; `letters` are the model's answers, " " for a failure."""

    def choose(_, requests):
        for at, request in enumerate(requests):
            letter = letters[int(request.messages[0].content.split()[2])]
            logprobs = tuple(-1.0 if option == letter else -3.0 for option in "ABCD")
            yield [(at, Choice(None if letter == " " else logprobs, (1, 1, 1, 1), 5))]

    rows = [
        ROWS[0] | {"id": f"q{n}", "question": f"What is {n} ?", "language": ("Thai", "Lao")[n % 2]} for n in range(12)
    ]
    folder.mkdir()
    monkeypatch.setattr(backend_factory.LazyBackend, "choose", choose)
    result_files.write(folder / "scored.jsonl", load(model, MULTIPLE_CHOICE).score(rows))
    return folder / "scored.jsonl"


@pytest.fixture
def two_scored_files(model, tmp_path, monkeypatch):
    """Scored files of two systems: one is right in eleven of twelve rows, the other in five of eleven."""
    monkeypatch.setenv("COLUMNS", "200")
    letters = {"a": "BBBBBBBBBBBA", "b": "BBBBBAAAAAA "}
    return [scored_file(model, tmp_path / name, monkeypatch, text) for name, text in letters.items()]


def test_results_are_read_as_they_were_written(two_scored_files):
    lines = [json.loads(line) for line in two_scored_files[1].read_text().splitlines()]
    results = list(result_files.read(two_scored_files[1]))
    assert [result.to_dict() for result in results] == lines
    assert {"id", "score", "failure", "texts", "parts", "metric", "signature"} < set(lines[0])
    assert (results[0].language, results[0].metric.direction) == ("Thai", "higher")
    assert results[0].texts["question"] == "What is 0 ?"
    assert (results[-1].score, results[-1].failure) == (None, "no-probabilities")


def test_two_systems_are_compared_by_score(two_scored_files):
    whole, *_ = map(json.loads, succeed("compare", *two_scored_files, "--jsonl").stdout.splitlines())
    (score,) = whole["measures"]
    assert (whole["not_judged_b"], score["name"], score["a"], score["a_better"]) == (1, "score", 1.0, 6)
    shown = succeed("compare", *two_scored_files).stdout
    assert "score: share of right answers, more is better.\np: paired permutation test" in shown
    assert "with errors" not in shown
    assert "p(R)" not in shown


def test_results_are_shown_and_put_on_a_page(two_scored_files, tmp_path):
    shown = succeed("explain", two_scored_files[1], "--limit", "6").stdout
    assert "── q5 · score 0.000\n   question: What is 5 ?\n" in shown
    assert "   letter: A\n" in shown
    assert "6 rows: 6 scored, 0 failed; 6 shown" in shown
    assert "marked:" not in shown
    assert "failure: no-probabilities" in excam("explain", two_scored_files[1], "--only", "failures").stdout
    succeed("report", two_scored_files[1], "--to", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<p>Mean score: <bdi>share of right answers, more is better</bdi></p>" in page
    assert "<dt>Mean score</dt><dd>0.45 [" in page
    assert "1 of 12: 1 failed" in page
    assert "error" not in page.split("<script")[0].split("<body")[1].lower(), "it lists none"

"""A metric from Python: an adapter is opened and checked, rows are scored in order, failures are stated."""

import json
import re
import shutil
from pathlib import Path

import pytest
from one_line_errors import line_of
from small_adapters import answer, make

import excam
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import sha256
from excam.error_reports.judges import report
from excam.error_reports.records import Report
from excam.inference import backend_factory, fake, journal
from excam.scoring import metric, scorer
from excam.scoring.rows import RowFile

Q = {"instruction": "A?"}

ROOT = Path(__file__).parents[2]


@pytest.fixture
def backend(monkeypatch):
    """Opened in place of a model; counts how often."""
    made = fake.Backend(answer)
    made.opened = 0

    def open_(_: backend_factory.LazyBackend) -> fake.Backend:
        made.opened += 1
        return made

    monkeypatch.setattr(backend_factory.LazyBackend, "_open", open_)
    return made


@pytest.fixture
def adapter(tmp_path):
    """An adapter and its base model as the workflow lays them out, without weights to speak of."""
    return make(tmp_path / "results")


def change_manifest(folder: Path, **changes) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_pairs_are_judged_in_order(adapter, backend):
    opened = excam.load(adapter)
    assert backend.opened == 0, "nothing is loaded before the first question"
    scored = list(opened.score([{**Q, "output": "Moussaka."}, {"instruction": "A Greek dish?", "output": "Sushi."}]))
    assert [result.id for result in scored] == ["1", "2"]
    good, bad = scored
    assert good.instruction == "A?"
    assert good.report == Report()
    assert good.score == good.certainty
    assert 0 < good.score <= 1
    assert bad.score == -5.0
    assert (bad.report.errors[0].start, bad.report.errors[0].end) == (0, 5)
    assert bad.failure is None
    assert backend.opened == 1


def test_a_report_that_was_cut_is_a_failure(adapter, backend):
    (scored,) = excam.load(adapter, max_tokens=3).score([{**Q, "output": "Sushi."}])
    assert (scored.score, scored.failure) == (None, "truncated")


def test_the_signature_names_all_that_decides_a_score(adapter, backend):
    digest = sha256(adapter / "adapter_model.safetensors")[:8]
    version = f"{report.VERSION.asks}.{report.VERSION.reads}"
    assert excam.load(adapter).signature == (
        f"excam|model:tiny@cccccccc|on:all@{digest}|judge:report.{version}|sev:minor1,major5|tie:certainty"
        f"|dtype:float32|cal:none|v:{excam.__version__}"
    )


def test_the_signature_names_the_order_of_reports_that_is_not_the_papers(adapter, backend):
    plain = excam.load(adapter).signature
    change_manifest(adapter, settings={"report": "errors-first"})
    assert excam.load(adapter).signature == plain
    change_manifest(adapter, settings={"report": "explanation-first"})
    assert excam.load(adapter).signature == plain.replace("|dtype", "|report:explanation-first|dtype")


def test_a_second_call_asks_only_for_rows_that_are_not_in_the_journal(adapter, backend, tmp_path):
    journal = tmp_path / "journal.jsonl"
    rows = [{**Q, "output": f"dish {number}"} for number in range(20)]
    first = list(excam.load(adapter).score(rows[:12], journal=journal))
    backend.asked.clear()
    second = list(excam.load(adapter).score(rows, journal=journal))
    assert len(backend.asked) == 8
    assert second[:12] == first
    backend.opened = 0
    list(excam.load(adapter).score(rows, journal=journal))
    assert backend.opened == 0, "no model is loaded when every answer is there"


@pytest.mark.parametrize(
    ("row", "name", "why"),
    [
        ({"k" * 10_000: 1}, "#2", "missing-instruction"),
        ("Sushi.", "#2", "not-an-object"),
        ({**Q, "output": "Sushi.", "id": "first"}, "first#2", "duplicate-id"),
    ],
)
def test_a_row_that_cannot_be_scored_is_a_failure_in_its_place_and_is_not_asked_about(adapter, backend, row, name, why):
    opened = excam.load(adapter)
    first, middle, last = opened.score([{**Q, "output": "fine", "id": "first"}, row, {**Q, "output": "fine too"}])
    assert (middle.id, middle.score, middle.report, middle.failure) == (name, None, None, why)
    assert middle.output == ("Sushi." if why == "duplicate-id" else "")
    assert {result.signature for result in (first, middle, last)} == {opened.signature}
    assert [first.failure, last.failure] == [None, None]
    assert [each.messages for each in backend.asked] == [report.messages("A?", text) for text in ("fine", "fine too")]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [([{"text": "x"}, {"label": 1}], "text, label"), (iter([{"text": "x"}, {**Q, "output": "y"}]), "text")],
)
def test_a_column_that_no_row_has_is_refused_before_anything_is_asked(adapter, backend, rows, columns):
    line = line_of(InputInvalid, excam.load(adapter).score, rows)
    assert line.startswith(f"rows: column instruction, output: not found; found {columns}; rename the key, or open it")
    assert backend.asked == []


def test_an_iterator_of_any_length_takes_the_memory_of_a_batch(adapter, backend, monkeypatch):
    monkeypatch.setattr(scorer, "BATCH", 4)
    numbers = []
    rows = ({**Q, "output": str(numbers.append(number) or number)} for number in range(1, 1000))
    results = excam.load(adapter).score(rows)
    assert numbers == [1], "the first row says where the columns are"
    assert next(iter(results)).output == "1"
    assert numbers == [1, 2, 3, 4]


def rows_file(path: Path, count: int) -> RowFile:
    path.write_text("".join(json.dumps({**Q, "output": f"dish {number}"}) + "\n" for number in range(count)))
    return RowFile(path, metric.load("excam"))


def test_results_as_a_table(adapter, backend):
    rows = [
        {**Q, "output": "Sushi.", "language": "English", "system": "m"},
        {**Q, "output": "mumble"},
        {**Q, "output": "x"},
    ]
    table = excam.load(adapter).score(rows).to_polars()
    assert table["output"].to_list() == ["Sushi.", "mumble", "x"]
    assert table["failure"].to_list() == [None, "no-json", None]
    assert json.loads(table["report"][0])["errors"][0]["span"] == "Sushi"
    assert (table["system"][0], table["language"][0]) == ("m", "English")


def test_texts_are_asked_about_as_they_are(adapter, backend):
    text = "{Instruction} {Text} </s> \x00 \x1b[31m \u202e {}"
    (scored,) = excam.load(adapter).score([{"instruction": text, "output": text}])
    assert (scored.output, scored.instruction) == (text, text)
    assert backend.asked[0].messages == report.messages(text, text)


# --- the adapter


@pytest.mark.parametrize("place", ["all", "./all", "../tiny/all"])
def test_the_base_is_found_from_any_working_folder(adapter, backend, monkeypatch, place):
    monkeypatch.chdir(adapter.parent)
    assert list(excam.load(place).score([{**Q, "output": "x"}]))
    monkeypatch.chdir(adapter)
    assert list(excam.load(".").score([{**Q, "output": "x"}]))


def test_a_base_elsewhere(adapter, backend, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (adapter.parents[2] / "models" / "tiny").rename(elsewhere)
    line = line_of(ModelInvalid, excam.load, adapter)
    assert "models/tiny: no manifest.json; expected the folder of its base model; name its folder with --base" in line
    assert list(excam.load(adapter, base=elsewhere).score([{**Q, "output": "x"}]))


@pytest.mark.parametrize(("place", "known"), [("/", "none"), (".", "tiny/all")])
def test_an_adapter_that_is_not_there(adapter, tmp_path, monkeypatch, place, known):
    """Two folders up there may be nothing."""
    monkeypatch.chdir(tmp_path / place)
    line_of(ModelInvalid, excam.load, tmp_path)
    assert line_of(ModelInvalid, excam.load, "no-such-folder") == (
        "no-such-folder: no such model; expected the folder of a model or adapter, an adapter in ./results/adapters "
        f"(there: {known}), ORG/NAME of the hub, or NAME@http://host/v1"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"model": "tiny"}'])
def test_a_manifest_that_is_none(adapter, text):
    (adapter / "manifest.json").write_text(text)
    line = line_of(ModelInvalid, excam.load, adapter)
    assert line.startswith(f"{adapter}/manifest.json: ")
    assert line.endswith("expected the manifest of an adapter")


def test_a_base_in_place_of_an_adapter_and_the_reverse_is_refused(adapter):
    base = adapter.parents[2] / "models" / "tiny"
    shutil.rmtree(base / "files")  # with its weights it is a model
    line = line_of(ModelInvalid, excam.load, base)
    assert re.search(r"manifest.json: model: field required; found .*; expected the manifest of an adapter", line)
    line = line_of(ModelInvalid, excam.load, adapter, base=adapter)
    assert re.search(r"manifest.json: revision: field required; .* expected the manifest of a base model", line)


def test_another_revision_of_the_base(adapter):
    change_manifest(adapter.parents[2] / "models" / "tiny", revision="d" * 40)
    assert f"revision {'d' * 40}; the adapter was trained on {'c' * 40}" in line_of(ModelInvalid, excam.load, adapter)


def test_weights_that_are_not_the_manifests(adapter):
    """They would answer under the name, and from the journal, of others."""
    weights = adapter / "adapter_model.safetensors"
    expected = sha256(weights)
    weights.write_bytes(b"others")
    line = line_of(ModelInvalid, excam.load, adapter)
    assert expected in line
    assert sha256(weights) in line
    weights.unlink()
    assert "found no such file" in line_of(ModelInvalid, excam.load, adapter)
    change_manifest(adapter, outputs={})
    assert "expected sha256 none" in line_of(ModelInvalid, excam.load, adapter)


# --- the embedded model

WEIGHTS, ADAPTER = ROOT / "results/models/smollm2-135m", ROOT / "results/adapters/smollm2-135m/all"


@pytest.mark.model
@pytest.mark.skipif(
    not ((WEIGHTS / "manifest.json").exists() and (ADAPTER / "manifest.json").exists()),
    reason="no embedded model: run `snakemake --profile local results/adapters/smollm2-135m/all/manifest.json` first",
)
def test_the_real_model_end_to_end(tmp_path):
    """A report or an explicit failure for every row; the megabyte that fits no context is refused, not truncated."""
    rows = [
        {"id": "a", "instruction": "Name a Greek dish.", "output": "Sushi."},
        {"id": "b", **Q, "output": "<|im_end|>\x00\x1b[31m"},
        {"id": "c", **Q, "output": "kebab " * 170_000},
    ]
    opened = excam.load(ADAPTER, max_tokens=16)
    scored = list(opened.score(rows, journal=tmp_path / "journal.jsonl"))
    assert [result.id for result in scored] == ["a", "b", "c"]
    for result in scored:
        assert (result.failure is None) == (result.score is not None) == (result.report is not None)
    assert scored[2].failure == "refused"
    assert list(opened.score(rows, journal=tmp_path / "journal.jsonl")) == scored


def test_a_long_file_leaves_nothing_on_disk_and_little_in_memory(adapter, backend, tmp_path, monkeypatch):
    """Without a journal, answers are kept for one batch, in memory: a million rows need no room for a million answers."""
    monkeypatch.setattr(scorer, "BATCH", 4)
    monkeypatch.setattr(journal, "locked", lambda *_: pytest.fail("a journal was written"))
    kept = scorer.InMemory()
    monkeypatch.setattr(scorer, "InMemory", lambda: kept)
    results = excam.load(adapter).score({**Q, "output": str(number)} for number in range(10))
    assert [len(kept) for _ in results] == [4] * 8 + [2] * 2
    assert len(kept) == 0

"""Folders of shards: found, grouped, scored with one model, killed and continued, counted; what is wrong is one line."""

import gzip
import json
import os
from pathlib import Path

import polars as pl
import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.core.provenance import read_json
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import Missing, Sampling, fake, gpus
from excam.scoring import local_model, metric, result_files, shard_scoring, shard_summary, shards
from excam.scoring.metric import Outcome, Setup
from excam.scoring.opened_model import OpenedModel
from excam.scoring.results import NOT_KNOWN
from excam.scoring.rows import RowFile
from excam.scoring.scorer import Scorer
from scripts import scores
from scripts.scores import score_shards, summarize_scores

Q = {"instruction": "A?"}

EXCAM = metric.load("excam")
SETTINGS = {"metric": "excam", "model": "small"}
COMMON = ["--texts", "texts", "--job-megabytes", "1", "--metric", "excam", "--model", "small", "--scores", "scores"]
ROWS = [
    {"id": f"{at}", "instruction": f"What is eaten at feast {at}?", "output": f"Tea and {at} breads. 茶"}
    for at in range(700)
]


def answer(request):
    words = request.messages[-1].content
    if "feast 13?" in words:
        return "I cannot say."
    errors = (CulturalError("output", "Tea", "major", "food"),) if "feast 7" in words else ()
    return report.write(Report(errors, "so"))


class Dies(fake.Backend):
    """Is killed when it has answered so many batches of 8."""

    left = 10**6

    def _batches(self, requests):
        for batch in super()._batches(requests):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield batch


def scorer(backend):
    model = OpenedModel(backend, "model:small", names=("small",))
    return Scorer(EXCAM.prepared(Setup(model, judge="report")), model, Sampling(64))


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif path.suffix == ".csv":
        pl.DataFrame(rows).write_csv(path)
    else:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def texts_folder(tmp_path):
    """A folder with four shards, each of another kind, and files that are none."""
    folder = tmp_path / "texts"
    write_rows(folder / "a.jsonl", ROWS[:300])
    write_rows(folder / "b.parquet", ROWS[300:600])
    write_rows(folder / "de/a.csv", ROWS[600:650])
    write_rows(folder / "de/c.jsonl.gz", ROWS[650:])
    write_rows(folder / ".hidden.jsonl", ROWS)
    (folder / "README.md").write_text("ours")
    return folder


def score(folder, to, backend=None):
    backend = backend or Dies(answer)
    return shard_scoring.score_shards(scorer(backend), shards.find(folder), {}, to, SETTINGS)


def tables(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def test_shards_are_found_by_name_and_grouped_by_cost(texts_folder):
    shard_list = shards.find(texts_folder)
    assert [shard.name for shard in shard_list] == ["a", "b", "de/a", "de/c"]
    assert list(shards.batches(shard_list, 10**9).values()) == [shard_list]
    assert list(shards.batches(shard_list, 1).values()) == [[shard] for shard in shard_list]
    first, *_ = shards.batches(shard_list, shard_list[0].cost + shard_list[1].cost).items()
    write_rows(texts_folder / "z.jsonl", ROWS[:1])
    assert (
        first in shards.batches(shards.find(texts_folder), shard_list[0].cost + shard_list[1].cost).items()
    )  # a later one changes none


def test_a_folder_that_cannot_be_scored_is_one_line(tmp_path, texts_folder, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    kinds = ".parquet, .jsonl, .ndjson, .csv, .tsv, .eval"
    assert line_of(InputInvalid, shards.find, empty) == f"texts: {empty}: 0 shards; expected files of the kinds {kinds}"
    absent = tmp_path / "absent"
    assert line_of(InputInvalid, shards.find, absent).startswith(f"texts: {absent}: no such folder; expected one with")
    write_rows(texts_folder / "a.csv", ROWS[:2])
    assert line_of(InputInvalid, shards.find, texts_folder).startswith(f"texts: {texts_folder}: a.csv and a.jsonl have")
    monkeypatch.chdir(tmp_path)
    for folder in ("results", "results/scores", "."):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        assert line_of(InputInvalid, shards.find, Path(folder)) == (
            f"texts: {folder}: overlaps the folder of results (results); expected a folder of its own"
        )


def test_each_shard_becomes_the_table_that_its_rows_alone_give(texts_folder, tmp_path):
    counts, problems = score(texts_folder, tmp_path / "scores")
    assert not problems
    for shard in shards.find(texts_folder):
        alone = list(scorer(fake.Backend(answer)).score(RowFile(shard.path, EXCAM)))
        assert list(result_files.read(shard.table(tmp_path / "scores"))) == alone
        assert counts[shard.name]["rows"] == len(alone)
    assert (counts["a"]["rows"], counts["a"]["scored"], counts["a"]["failures"]) == (300, 299, {"no-json": 1})
    assert counts["a"]["with_errors"] == 11  # 7, 70 to 79
    assert counts["a"]["completion_tokens"] > 300
    assert not list((tmp_path / "scores").rglob(".*"))  # nothing hidden stays


def test_a_killed_job_asks_only_for_unanswered_rows_and_gives_the_same_bytes(texts_folder, tmp_path):
    expected, _ = score(texts_folder, tmp_path / "whole")
    asked, kills = [], 0
    while True:
        backend = Dies(lambda request: asked.append(repr(request)) or answer(request))
        backend.left = 11
        try:
            counts, _ = score(texts_folder, tmp_path / "killed", backend)
            break
        except KeyboardInterrupt:
            kills += 1
    assert kills == 8
    assert len(asked) == len(set(asked)) == len(ROWS)
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")
    assert counts == expected  # tokens of every run too


def test_scored_shards_are_not_scored_again(texts_folder, tmp_path):
    first, _ = score(texts_folder, tmp_path / "scores")
    write_rows(texts_folder / "de/a.csv", ROWS[600:640])
    again = Dies(answer)
    counts, problems = score(texts_folder, tmp_path / "scores", again)
    assert not problems
    assert len(again.asked) == 40  # only the shard that changed
    assert counts["a"] == first["a"]
    (tmp_path / "scores/shards/b.parquet").write_bytes(b"PAR1")  # a table that changed
    again = Dies(answer)
    score(texts_folder, tmp_path / "scores", again)
    assert len(again.asked) == 300


def test_tables_of_other_texts_are_not_replaced(texts_folder, tmp_path):
    score(texts_folder, tmp_path / "scores")
    other = tmp_path / "other/texts"
    write_rows(other / "a.jsonl", ROWS[:3])
    counts, (problem,) = score(other, tmp_path / "scores")
    assert not counts
    assert problem.startswith(f"{tmp_path}/scores/shards/a.parquet: holds the scores of {texts_folder}/a.jsonl (excam,")


def test_a_bad_row_of_a_shard_is_counted_and_not_asked_about(tmp_path):
    path = tmp_path / "texts/a.jsonl"
    path.parent.mkdir()
    first, third, fourth = ({"id": at, **Q, "output": text} for at, text in ((1, "x"), (1, "y"), (2, 5)))
    rows = [json.dumps(first), '{"output": ', json.dumps(third), json.dumps(fourth), "[]"]
    path.write_text("\n".join(rows))
    backend = Dies(answer)
    counts, problems = score(path.parent, tmp_path / "scores", backend)
    assert (problems, len(backend.asked)) == ([], 1)
    assert [counts["a"][name] for name in ("rows", "scored", "failed")] == [5, 1, 4]
    reasons = ("duplicate-id", "not-an-object", "not-json", "not-text-output")
    assert counts["a"]["failures"] == dict.fromkeys(reasons, 1)
    table = result_files.read(tmp_path / "scores/shards/a.parquet")
    assert [result.id for result in table] == ["1", "#2", "1#3", "2", "#5"]
    again = Dies(answer)
    assert score(path.parent, tmp_path / "scores", again) == (counts, [])
    assert not again.asked


def test_a_shard_that_changes_while_it_is_read_is_not_published(tmp_path):
    path = write_rows(tmp_path / "texts/a.jsonl", ROWS[:300])

    def grows(request):
        if "feast 290?" in request.messages[-1].content and path.stat().st_size < 10**5:
            write_rows(path, ROWS)
        return answer(request)

    counts, (problem,) = score(path.parent, tmp_path / "scores", Dies(grows))
    assert not counts
    assert problem.startswith(f"{path}: changed while it was read; expected a complete file; run again when it is:")
    assert not tables(tmp_path / "scores")
    again = Dies(answer)
    counts, problems = score(path.parent, tmp_path / "scores", again)
    assert not problems
    assert counts["a"]["rows"] == 700
    assert len(again.asked) == 400
    ids = [result.id for result in result_files.read(tmp_path / "scores/shards/a.parquet")]
    assert ids == [row["id"] for row in ROWS]


def test_a_model_that_is_down_is_asked_about_three_shards(tmp_path):
    for at in range(5):
        write_rows(tmp_path / f"texts/{at}.jsonl", ROWS[at : at + 1])

    class Down(fake.Backend):
        def generate(self, requests, sampling):
            self.asked += requests
            yield [(at, Missing("refused")) for at in range(len(requests))]

    backend = Down()
    counts, problems = score(tmp_path / "texts", tmp_path / "scores", backend)
    assert (counts, len(problems), len(backend.asked)) == ({}, 3, 3)


def test_counts_are_added_up_and_a_shard_without_scores_is_one_line(texts_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scores, "open_scorer", lambda _: scorer(Dies(answer)))
    (batch,) = shards.batches(shards.find(texts_folder), 10**6)
    summary = [*COMMON, "--table", "scores/shards.csv", "--page", "scores/summary.md"]
    assert line_of(InputInvalid, summarize_scores, summary).startswith("scores: 4 of 4 shards have no scores, the")
    score_shards([*COMMON, "--batch", batch, "--counts", f"scores/batches/{batch}.json"])
    assert list(read_json(Path(f"scores/batches/{batch}.json"))) == ["a", "b", "de/a", "de/c"]
    summarize_scores(summary)
    lines = pl.read_csv("scores/shards.csv")
    assert lines.columns == list(shard_summary.COLUMNS)
    assert lines["rows"].to_list() == [300, 300, 50, 50]
    page = Path("scores/summary.md").read_text()
    assert "| rows | 700 |\n| scored | 699 |\n| failed | 1 |\n" in page
    assert "## Failures\n\n| failure | rows |\n| --- | --- |\n| no-json | 1 |\n" in page
    said = capsys.readouterr().err
    assert "4 shards, 700 rows" in said
    assert "texts: 1 files of other kinds are not scored, the first is texts/README.md" in said


def test_a_metric_without_a_model_and_columns_of_other_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mine = [{"id": f"{at}", "mt": "a tea house", "said": "the tea house"} for at in range(3)]
    for name in ("a.jsonl", "b.csv"):
        write_rows(tmp_path / "texts" / name, mine)
    (batch,) = shards.batches(shards.find(Path("texts")), 10**6)
    words = ["--texts", "texts", "--job-megabytes", "1", "--metric", "chrf", "--batch", batch, "--scores", "scores"]
    words += ["--column", "translation=mt", "--column", "reference=said", "--counts", "counts.json"]
    score_shards(words)
    assert [read_json(Path("counts.json"))[name]["scored"] for name in "ab"] == [3, 3]
    assert capsys.readouterr().err.count("read mt as translation, said as reference") == 1  # not for each shard
    assert line_of(InputInvalid, score_shards, [*words[:-4], *words[-2:]]).startswith(
        "texts/a.jsonl: column reference: not found; found id, mt, said; give --column reference=NAME"
    )


def test_a_job_with_a_broken_shard_fails_after_the_others(texts_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scores, "open_scorer", lambda _: scorer(Dies(answer)))
    (texts_folder / "aa.jsonl").write_text("")
    (batch,) = shards.batches(shards.find(texts_folder), 10**6)
    words = [*COMMON, "--counts", "counts.json"]
    assert line_of(InputInvalid, score_shards, [*words, "--batch", batch]) == (
        "texts/aa.jsonl: 0 rows; expected one JSON object a line, or a table with a header "
        "(4 of 5 shards of this job are scored)"
    )
    assert len(tables(tmp_path / "scores")) == 4
    assert not Path("counts.json").exists()
    assert line_of(InputInvalid, score_shards, [*words, "--batch", "gone"]) == (
        "texts: texts: other shards than when the run was planned; run again"
    )
    assert "texts/a.jsonl: shard 1 of 5: 299 of 300 rows scored" in capsys.readouterr().err


@pytest.mark.parametrize(("wanted", "vllm", "left"), [(0, True, ""), (1, True, "0,1"), (1, False, "0")])
def test_gpus_are_left_to_the_process_of_vllm(tmp_path, monkeypatch, wanted, vllm, left):
    """A job that held them would wait for itself."""
    monkeypatch.setenv("EXCAM_GPU_LOCKS", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    monkeypatch.setattr(gpus, "_held_locks", [])
    monkeypatch.setattr(gpus, "refuse_unusable", lambda *_: None)
    monkeypatch.setattr(local_model, "python_with_vllm", lambda: Path("python") if vllm else None)
    scores.take_gpus(wanted, "batch")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == left
    assert bool(gpus._held_locks) == (wanted > 0 and not vllm)
    for file in gpus._held_locks:
        os.close(file)


class Unknown(metric.Metric):
    """Knows nothing of texts about tea, and nothing is asked."""

    name, version, columns, asks = "unknown", 1, ("output",), "nothing"

    def flow(self, row):
        return Outcome(None, NOT_KNOWN) if "Tea" in row.texts["output"] else Outcome(1.0)


def test_rows_that_are_not_known_are_neither_scored_nor_failed(tmp_path):
    write_rows(tmp_path / "texts/a.jsonl", [*ROWS[:3], {"id": "x", **Q, "output": "Coffee."}])
    judge, settings = Scorer(Unknown(), None), {"metric": "unknown"}
    shard_list = shards.find(tmp_path / "texts")
    counts, problems = shard_scoring.score_shards(judge, shard_list, {}, tmp_path / "scores", settings)
    assert not problems
    assert [counts["a"][name] for name in ("rows", "scored", "failed", "not_known", "failures")] == [4, 1, 0, 3, {}]
    assert shard_scoring.score_shards(judge, shard_list, {}, tmp_path / "scores", settings) == (counts, [])
    (line,) = shard_summary.lines(counts)
    assert (line["not_known"], line["mean_score"]) == (3, "1.0000")
    two = counts | {"b": counts["a"] | {"signature": "other"}}
    shown = [("1.0000 (n = " in shard_summary.page("of one judge, of two", each)) for each in (counts, two)]
    assert shown == [True, False]

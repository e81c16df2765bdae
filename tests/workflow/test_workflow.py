"""The complete DAG on the smallest experiment with the real model; then what must and must not run again."""

import csv
import json
import re
import shutil

import polars as pl
import pytest
from checkout import ADAPTER, CELL, ROOT, Run, copy_checkout, kill_when
from typer.testing import CliRunner

from excam import cli

pytestmark = pytest.mark.run


def test_every_artifact_is_there_and_adds_up(run):
    paper = run.folder / "results/paper"
    for name in (
        "table-1.md", "table-2.md", "table-8.md", "table-9.md", "table-10.md", "table-2.csv", "table-4.csv",
        "table-4.md", "figure-3.csv", "figure-3.pdf", "figure-3.svg", "figure-3.png", "figure-10.pdf",
        "figure-11/smollm2-135m.pdf", "floors.csv", "error-rates.md", "leave-one-out.md", "reports.md",
        "losses/smollm2-135m.csv", "losses/smollm2-135m.svg",
    ):  # fmt: skip
        assert (paper / name).stat().st_size > 0, name
    with (paper / "table-2.csv").open() as stream:
        rows = {line["dataset"]: line for line in csv.DictReader(stream)}
    test_rows = int(rows["all"]["test"])
    assert int(rows["all"]["right"]) * 2 == int(rows["all"]["rows"])
    with (paper / "table-4.csv").open() as stream:
        systems = list(csv.DictReader(stream))
    assert {line["model"] for line in systems} == {
        "smollm2-135m", "constant", "length-only", "words-only", "template-only", "encoder", "random",
    }  # fmt: skip
    assert all(int(line["n"]) == test_rows for line in systems)
    cell = json.loads((run.folder / CELL).read_text())
    assert sum(part["n"] for part in cell["rates"].values()) == cell["n"] == int(rows["blend"]["test"])
    for part in cell["rates"].values():
        assert part["no_error_reported"] + part["error_reported"] + part["unreadable"] == part["n"]


def test_the_data_set_is_audited_and_published(run):
    summary = (run.folder / "results/audits/summary.md").read_text(encoding="utf-8")
    assert "failed" not in summary.splitlines()[0].lower(), summary[:2000]
    published = run.folder / "results/published"
    assert {path.parent.name for path in published.glob("all/*/*/train.parquet")} == {"blend", "normad"}
    assert {path.parent.name for path in published.glob("permissive/*/*/train.parquet")} == {"normad"}


def test_a_copy_of_results_is_audited_where_it_lies_alone(run, tmp_path):
    """Without models, checkpoints and journals, as one would send it; the run itself has kept what that needs."""
    left_out = shutil.ignore_patterns("models", "checkpoints", "journal")
    shutil.copytree(run.folder / "results", tmp_path / "copy", ignore=left_out)
    result = CliRunner().invoke(cli.app, ["audit", "--results", str(tmp_path / "copy")])
    assert result.exit_code == 4, result.stderr
    assert "0 differs, 0 gone, 0 unproven" in result.stderr
    assert "not kept here" not in result.stderr


def test_left_out_dataset_is_in_no_row_of_its_mixture(run):
    lines = (run.folder / "results/mixtures/without-blend/train.jsonl").read_text().splitlines()
    assert lines
    assert {json.loads(line)["dataset"] for line in lines} == {"normad"}


def test_an_adapter_names_the_languages_it_learnt_from(run):
    lines = (run.folder / "results/mixtures/all/train.jsonl").read_text().splitlines()
    manifest = json.loads((run.folder / "results/adapters/smollm2-135m/all/manifest.json").read_text())
    assert manifest["languages"] == sorted({json.loads(line)["language"] for line in lines})


def test_up_to_date_run_plans_nothing(run):
    assert run.planned("all") == {}
    assert run.planned(CELL) == {}


def test_forcing_judge_plans_the_chain_of_one_cell(run):
    assert run.planned("-R", "judge", "--", CELL) == {"judge": 1, "score": 1, "evaluate": 1}


def test_forcing_judge_rewrites_the_transcripts_of_one_system(run):
    """With the same bytes, so nothing else is made of it either."""
    files = sorted((run.folder / "results/transcripts").rglob("*.jsonl"))
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files}
    done = run("-R", "judge", "--", CELL)
    assert done.returncode == 0, done.text[-3000:]
    folder = run.folder / "results/transcripts/smollm2-135m/without-blend/report"
    assert [file for file in files if file.stat().st_mtime_ns != before[file][0]] == sorted(folder.rglob("test.jsonl"))
    assert all(file.read_bytes() == content for file, (_, content) in before.items())
    assert run.planned("all") == {}


def test_deleted_adapter_plans_itself_and_what_hangs_on_it(run):
    weights = run.folder / ADAPTER / "adapter_model.safetensors"
    kept = weights.with_suffix(".kept")
    weights.rename(kept)
    try:
        planned = run.planned("all")
    finally:
        kept.rename(weights)
    # two datasets are judged, by one job; their cells and the pooled one depend on them, and every page that shows an adapter
    expected = {"train_adapter": 1, "verify_adapter": 1, "judge": 1, "score": 1, "evaluate": 1, "compare_systems": 1}
    pages = (
        "figure_losses", "figure_3", "figure_11", "table_4", "leave_one_out", "table_reports",
        "results_index", "paper_claims",
    )  # fmt: skip
    assert planned == {**expected, "evaluate_reports": 1, **dict.fromkeys(pages, 1)}


@pytest.mark.nightly
def test_killed_training_goes_on_and_ends_in_the_same_bytes(run):
    names = [f"{ADAPTER}/{name}" for name in ("adapter_model.safetensors", "adapter_config.json", "loss.csv")]
    before = run.digest(*names)
    shutil.rmtree(run.folder / ADAPTER)
    checkpoints = run.folder / "results/checkpoints/smollm2-135m/without-blend"
    process = run.start(f"{ADAPTER}/manifest.json")
    kill_when(process, lambda: len(list(checkpoints.glob("checkpoint-*/whole.json"))) >= 2)
    assert not (run.folder / ADAPTER / "manifest.json").exists()
    run("--unlock")
    done = run(f"{ADAPTER}/verified.json")
    assert done.returncode == 0, done.text[-3000:]
    manifest = json.loads((run.folder / ADAPTER / "manifest.json").read_text())
    assert manifest["resumed_from"].startswith("checkpoint-")
    assert run.digest(*names) == before
    assert not checkpoints.exists()


@pytest.mark.nightly
def test_killed_judging_asks_only_for_what_is_missing(run):
    names = [f"results/transcripts/smollm2-135m/nothing/count/{dataset}/train.jsonl" for dataset in ("blend", "normad")]
    journal = run.folder / "results/journal/smollm2-135m/nothing/count.jsonl"
    judged_before = journal.read_bytes()
    assert run(*names).returncode == 0
    whole, before = journal.read_bytes(), run.digest(*names)
    for name in names:
        (run.folder / name).unlink()
    journal.write_bytes(judged_before)

    kill_when(run.start(*names), lambda: journal.stat().st_size > len(judged_before))
    kept = journal.read_bytes()
    assert len(kept) < len(whole), "killed too late to show anything"
    run("--unlock")
    assert run(*names).returncode == 0
    assert journal.read_bytes() == whole  # what was there was not asked again
    assert whole.startswith(kept[: kept.rfind(b"\n") + 1])
    assert run.digest(*names) == before


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("results/evaluation/smollm2-135m/without-blnd/report/blend/test.json", "trained_on: found without-blnd;"),
        ("results/samples/blnd.parquet", "MissingRuleException"),
    ],
)
def test_mistyped_target_fails_before_anything_starts(run, target, message):
    done = run(target)
    assert done.returncode != 0
    assert message in done.text
    assert target in done.text


def test_mistyped_key_is_one_line_that_says_what_would_do(run):
    done = run("-n", "all", "--config", "construction={spanns: paper}")
    assert done.returncode != 0
    assert "--config: construction.spanns: unknown key; did you mean `spans`?" in done.text


def test_mistyped_target_of_a_page_is_one_line(run):
    file = run.folder / "scripts/paper.py"
    content = file.read_text(encoding="utf-8")
    file.write_text(content.replace('target="paper"', 'target="papers"', 1), encoding="utf-8")
    try:
        done = run("-n", "all")
    finally:
        file.write_text(content, encoding="utf-8")
    assert done.returncode != 0
    assert re.search(r"\w+: target: found papers; expected one of all, .*, paper, reader, rubric\n", done.text)


def test_missing_column_names_dataset_file_and_columns(run):
    file = run.folder / "mini/normad/normad_etiquette_final_data.csv"
    content = file.read_text(encoding="utf-8")
    file.write_text(content.replace("Gold Label", "Label", 1), encoding="utf-8")
    try:
        done = run("results/samples/normad.parquet")
    finally:
        file.write_text(content, encoding="utf-8")
    assert done.returncode != 0
    line = r"normad: normad_etiquette_final_data\.csv: no column Gold Label; expected .*; found .*Label"
    assert re.search(line, done.text)
    assert (run.folder / ADAPTER / "manifest.json").exists()


def test_report_holds_figure_and_captions(run):
    done = run("--report", "report.html", "--", "all")
    assert done.returncode == 0, done.text[-3000:]
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "figure-3.svg" in page
    assert "lexicon" in page


@pytest.mark.nightly
def test_the_crossing_needs_no_other_system(run):
    metrics = 'crossing={"metrics": {"excam": {"metric": "excam", "model": "smollm2-135m", "trained_on": "all"}}}'
    done = run("results/crossing/rows.parquet", "--config", metrics)
    assert done.returncode == 0, done.text[-3000:]
    rows = pl.read_parquet(run.folder / "results/crossing/rows.parquet")
    assert set(rows["set"]) == {"excam40k"}


def test_paper_experiment_is_planned_whole(tmp_path):
    copy_checkout(tmp_path)
    planned = Run(tmp_path).planned("all", profile="slurm", experiment=None)
    assert planned["fetch_source"] == planned["build_samples"] == planned["split_samples"] == 9
    assert planned["make_hard_errors"] == 5
    assert planned["generate_soft_errors"] == 4 * 2 * 2, "the paper's 16 processes"
    assert planned["train_adapter"] == planned["mix_samples"] * 2 == 20
    assert planned["verify_adapter"] == 20
    assert planned["judge"] == 20 + 6 * 4, "tuned systems, and four prompts for each untuned judge"
    assert planned["fetch_model"] == 6 + 1 + 1, "judges, the generator, the encoder"
    assert (planned["fetch_tokenizer"], planned["find_long_rows"]) == (2, 1), "before errors are made"
    said = f" {sum(planned.values()) + 1:,} jobs"  # with `all`
    assert all(said in (ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/workflow.md")), said

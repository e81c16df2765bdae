"""Before a long run: what is not here as this configuration wants it does not count, and nothing unknown is a number."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from excam import config
from excam.config import Model
from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.preflight import checks, needs, page, work
from excam.preflight.checks import Finding
from scripts.preflight import preflight

ROOT = Path(__file__).parents[2]
SOURCES = {"blend": {"hub": "a/b", "revision": "main"}, "normad": {"hub": "a/c", "revision": "main"}}


def experiment(**changed):
    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    update_config(raw, changed)
    return config.load(raw)


def manifest(path, settings, seconds=1, outputs=(), **facts):
    path.parent.mkdir(parents=True, exist_ok=True)
    provenance.write_manifest(path, inputs=[], outputs=outputs, settings=settings, seconds=seconds, **facts)


def looked(results, study=None, environment=None, sources=SOURCES):
    made = checks.checks(study or experiment(), sources, {}, results, environment or {}, is_cluster=False)
    return {(check.check, check.of): check for check in made}


def test_what_another_configuration_fetched_is_not_here(tmp_path):
    manifest(tmp_path / "sources/blend/manifest.json", SOURCES["blend"], rows=7)
    manifest(tmp_path / "sources/normad/manifest.json", {**SOURCES["normad"], "hub": None}, rows=8)
    made = looked(tmp_path)
    assert made["rows", "benchmarks"].found == "blend 7"
    check = made["fetched", "benchmarks"]
    assert check.verdict == "unknown"
    assert check.found == "1 of 2; not fetched: normad; of another configuration, or incomplete: normad"


def test_a_lost_file_and_a_source_without_rows(tmp_path):
    file = tmp_path / "sources/blend/files/a.csv"
    file.parent.mkdir(parents=True)
    file.write_text("a\n")
    manifest(tmp_path / "sources/blend/manifest.json", SOURCES["blend"], outputs=[file], rows=7)
    manifest(tmp_path / "sources/normad/manifest.json", SOURCES["normad"], rows=0)
    assert looked(tmp_path)["rows", "benchmarks"].verdict == "wrong"
    assert looked(tmp_path)["fetched", "benchmarks"].verdict == "fine"
    file.unlink()
    assert looked(tmp_path)["fetched", "benchmarks"].found.startswith("1 of 2; not fetched: blend")


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen3.5-122B-A10B", 122),
        ("google/gemma-3-27b-it", 27),
        ("HuggingFaceTB/SmolLM2-135M", 0.135),
        *dict.fromkeys(("microsoft/phi-4", "a/Mixtral-8x7B", "Qwen/Qwen3-14B-AWQ", "a/Phi-3-medium-4k"), None).items(),
    ],
)
def test_a_name_says_how_large_a_model_is_or_does_not(name, billions):
    size = needs.parameters(Model(hub=name, revision="0" * 40, licence="MIT"))
    assert size == (billions and pytest.approx(billions * 1e9))


@pytest.mark.parametrize(("free", "verdict"), [(69e9, "wrong"), (600e9, "unknown")])
def test_disk(tmp_path, monkeypatch, free, verdict):
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda folder: type("Disk", (), {"free": free}))
    study = experiment()
    absent = dict.fromkeys(needs.fetched_models(study))
    check = checks.disk(study, absent, tmp_path / "not/there")
    assert check.verdict == verdict
    assert check.expected.startswith("at least 459 GB: 402 GB for weights, 36 GB for adapters, 21 GB for checkpoints")
    assert "weights of phi4" in check.expected
    absent["qwen3.5-122b-a10b"] = {"outputs": {}}
    assert "158 GB for weights" in checks.disk(study, absent, tmp_path).expected


@pytest.mark.parametrize(
    ("count", "is_cluster", "verdict"),
    [(0, False, "wrong"), (3, False, "wrong"), (4, False, "fine"), (0, True, "unknown")],
)
def test_cards(count, is_cluster, verdict):
    assert checks.cards(experiment(), count, is_cluster=is_cluster).verdict == verdict


def test_keys_are_looked_for_and_no_server_is_asked(tmp_path):
    judged = experiment(baselines={"models": ["gpt5"]})
    assert looked(tmp_path)["key", "gpt5"].verdict == "unknown"
    assert looked(tmp_path, judged)["key", "gpt5"].verdict == "wrong"
    assert looked(tmp_path, judged, {"OPENAI_API_KEY": "x"})["key", "gpt5"].verdict == "fine"


def test_models_of_the_other_systems_are_needed_too():
    study = experiment(**yaml.safe_load((ROOT / "experiments/macaron-paper.yaml").read_text()))
    fetched = needs.fetched_models(study)
    assert "internlm-internlm3-8b-instruct" in fetched
    assert "google-gemini-2.5-flash" not in fetched


def test_work_is_counted_from_caps_and_hours_from_own_jobs_alone(tmp_path):
    study = experiment()
    before = {(task.what, task.of): task for task in work.tasks(study, tmp_path)}
    assert {task.hours for task in before.values()} == {None}
    assert before["training", "phi3-medium-4k"].amount == "10 adapters, at most 35,437 steps of 8 rows"
    assert before["external", "gpt5"].cost == pytest.approx(900 * 4096 * 10 / 1e6)
    own = json.loads(study.models["phi4"].request_settings)
    for name, settings, seconds in (("a", own, 30), ("b", {**own, "context": 1}, 5000)):
        path = tmp_path / f"transcripts/phi4/nothing/count/{name}/test.manifest.json"
        manifest(path, settings, seconds, answers={"stop": 50, "length": 10})
    recipe = study.recipe("phi3-medium-4k")
    settings = {**recipe.model_dump(), "layout": {"name": recipe.layout}}
    manifest(tmp_path / "adapters/phi3-medium-4k/all/manifest.json", settings, 900, steps=1000)
    manifest(tmp_path / "adapters/phi3-medium-4k/x/manifest.json", {**settings, "rank": 8}, 9, steps=1000)
    after = {(task.what, task.of): task.hours for task in work.tasks(study, tmp_path)}
    assert after["judging", "phi4"] == pytest.approx(36_000 * 0.5 / 3600)
    assert after["training", "phi3-medium-4k"] == pytest.approx(35437 * 0.9 / 3600)
    assert after["judging", "qwen3-14b"] is None


def test_wrong_stands_first_texts_are_data_and_unknown_hours_are_no_number(tmp_path):
    made = [Finding("a", "m", "x", "y", "fine"), Finding("b", "m", "<b>|\nz", "y", "wrong")]
    text = page.page_text(made, work.tasks(experiment(), tmp_path))
    assert text.index("| b |") < text.index("| a |")
    assert "&lt;b&gt;&#124;<br>z" in text
    assert text.endswith("GPU hours: unknown.\n")
    assert page.verdict(made) == "1 wrong, 0 unknown, 1 fine"


@pytest.mark.parametrize(
    ("gpus", "options", "fails"), [(0, [], False), (99, ["--jobs", "cluster"], False), (99, [], True)]
)
def test_it_fails_if_anything_is_wrong_and_writes_the_page(tmp_path, capfd, gpus, options, fails):
    small = {"hub": "a/B-1M", "revision": "0" * 40, "licence": "MIT", "gpus": gpus}
    raw = experiment(models={"small": small}, baselines={"models": ["small"]}, tuned={"models": []},
                     generation={"generator": "lexicon"}).model_dump(mode="json", exclude_defaults=True)  # fmt: skip
    provenance.write_json(tmp_path / "needs.json", {"experiment": raw, "sources": SOURCES, "weights": {}})
    needed, written = str(tmp_path / "needs.json"), tmp_path / "page.md"
    with pytest.raises(InputInvalid, match="1 wrong") if fails else nullcontext():
        preflight(["--needs", needed, "--results", str(tmp_path), "--page", str(written), *options])
    assert ("wrong: cards, the largest job: no cards here; expected 99" in capfd.readouterr().err) is fails
    assert written.read_text().startswith("# Before a long run\n\n")

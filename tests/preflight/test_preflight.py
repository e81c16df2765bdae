"""Before a long run: trials that end badly are a line, longest rows are measured, work is counted, checks are plain."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny
import yaml

from excam import config
from excam.config import Model, Recipe
from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.error_reports.records import Report, Sample
from excam.macaron import source as macaron
from excam.preflight import asking, here, look, node, page, plan, rows, sizes, stepping, systems, trial, tried, work
from excam.preflight.checks import Check
from excam.preflight.trial import Trial
from excam.training import layout

ROOT = Path(__file__).parents[2]
RECIPE = Recipe(rank=4, alpha=8, rows_per_step=2, max_length=700, layout="cpu")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """The manifest of a tiny base model."""
    folder = tmp_path_factory.mktemp("tiny")
    tiny.model(folder / "files", positions=2048)
    provenance.write_manifest(
        folder / "manifest.json",
        inputs=[],
        outputs=[file for file in (folder / "files").iterdir() if file.is_file()],
        settings={},
        seconds=0,
    )
    return folder / "manifest.json"


def sample(number, words=1, split="train", pair="minor"):
    return Sample(
        id=f"normad/{number}/{pair}/right", pair=f"normad/{number}/{pair}", base=f"normad/{number}", dataset="normad",
        task="impersonation", instruction="Is it polite?", output="Yes. " * words, origin="source", language="English",
        culture="x", stratum="x", licence="CC-BY-4.0", answer="yes", split=split, report=Report(),
    )  # fmt: skip


def experiment(**changed):
    from snakemake.utils import update_config

    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    update_config(raw, changed)
    return config.load(raw)


def on(node_facts, problem=None, **observed):
    facts = {"host": "n1", "cards": [], "memory_bytes": 10**12, "compiler": "/usr/bin/cc", "folders": {}}
    return Trial("m", problem, observed, {**facts, **node_facts}, 1.0)


# --- a trial in a process of its own


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("pass", None),
        ("import sys; print('some', file=sys.stderr); sys.exit('m: the last')", "m: the last"),
        ("raise ImportError('no such library')", "ImportError: no such library"),
        ("raise ValueError('why\\nand more words')", "ValueError: why"),
        ("import sys; sys.exit(3)", "it ended with exit code 3 and no word"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL; the last it said: nothing"),
    ],
)
def test_how_a_trial_ended_is_one_line(code, line):
    assert trial._run([sys.executable, "-c", code], "try_rows", {}, 1) == line


def test_a_trial_that_hangs_is_ended():
    code = "import sys, time; print('loading', file=sys.stderr, flush=True); time.sleep(60)"
    assert (
        trial._run([sys.executable, "-c", code], "try_rows", {}, 0.02)
        == "no end after 0.02 minutes; the last it said: loading"
    )


def test_a_full_disk_is_told_of_beside_the_problem(tmp_path, monkeypatch):
    assert trial._full(tmp_path / "not/there") == ""
    monkeypatch.setattr(trial.shutil, "disk_usage", lambda folder: type("Disk", (), {"free": 3 * 10**6}))
    assert trial._full(tmp_path / "not/there") == f"; the disk of {tmp_path} has 3 MB left"


def test_a_model_without_a_chat_template_is_a_line_of_its_trial(weights, tmp_path):
    files = tmp_path / "m/files"
    tiny.make_tokenizer(template=None).save_pretrained(files)
    (files / "config.json").write_text((weights.parent / "files/config.json").read_text())
    command = [
        *(sys.executable, "-m", "scripts", "try_rows", "--name", "m", "--model", '{"backend": "transformers"}'),
        *("--weights", str(tmp_path / "m/manifest.json"), "--recipe", "{}", "--asked", "report", "--samples"),
        *("--rows", str(tmp_path / "rows.parquet"), "--trial", str(tmp_path / "m.json")),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = trial.read(tmp_path / "m.json")
    assert read.problem == f"{files}: no chat template; expected one, or models.<name>.chat_template"
    assert read.node["folders"]["HOME"]["free_bytes"] > 0
    assert tables.read_frame(tmp_path / "rows.parquet").is_empty()


def test_problems_are_forgotten_once_told(tmp_path):
    for name, problem in (("good", None), ("bad", "no card")):
        fields = {"name": name, "problem": problem, "found": {}, "node": {}, "seconds": 1}
        provenance.write_json(tmp_path / f"{name}.json", fields)
    look.forget(sorted(tmp_path.iterdir()))
    assert [path.name for path in tmp_path.iterdir()] == ["good.json"]


# --- what is tried


def test_a_model_is_asked_and_timed(weights):
    entry = Model(backend="transformers", licence="MIT", gpus=0, dtype="float32", sampling={"max_tokens": 8})
    facts = asking.try_model("tiny", entry, weights, seed=1)
    assert facts["together"] == asking.TOGETHER_ON_CPU
    assert 0 < facts["together_tokens"] <= 8 * facts["together"]
    assert facts["engine"]["device"] == "cpu"
    assert facts["engine"]["context"] == 2048
    json.dumps(facts)


def test_a_generator_on_a_card_is_asked_for_errors(weights):
    entry = Model(backend="transformers", licence="MIT", gpus=0, dtype="float32", sampling={"max_tokens": 8})
    facts = asking.try_model("tiny", entry, weights, 1, [sample(number) for number in range(3)])
    assert facts["words"] == {"asked": 3, "pairs": 0, "scaled": None}, "a tiny model writes no error"
    check = tried._words_check("tiny", facts["words"])
    assert (check.found, check.verdict) == ("0 of 3 answers are errors", "wrong")
    told = {"asked": 200, "pairs": 150, "scaled": [0.4, 0.3, 0.5]}
    assert "words tell 0.40 [0.30, 0.50]" in tried._words_check("m", told).found


def test_a_step_is_made_on_made_up_rows_where_there_are_none(weights, tmp_path):
    facts = stepping.try_training(
        name="tiny",
        weights=weights,
        rows=rows.no_training_rows(),
        recipe=RECIPE,
        layout=layout.load_layout("cpu"),
        scratch=tmp_path,
    )
    assert facts["made_up"]
    assert 0.8 * RECIPE.max_length < facts["longest_tokens"] <= RECIPE.max_length
    assert facts["parameters"] == sizes.trainable(weights.parent / "files", RECIPE)
    assert min(facts["usual_seconds"], facts["longest_seconds"]) > 0


def test_the_longest_step_is_the_last():
    lengths = [900, 30, 40, 950, 35, 45]
    frame = pl.DataFrame(
        [(str(at), "p", [1] * length, length, "evenly") for at, length in enumerate(lengths)],
        schema=rows.SCHEMA, orient="row",
    )  # fmt: skip
    recipe = stepping._in_this_order(frame.drop("drawn"), RECIPE)
    from excam.training import sft

    ordered = sft.training_order(frame.drop("drawn"), recipe, recipe.seed)["prompt_tokens"].to_list()
    assert sorted(ordered[-2:]) == [900, 950]


def test_longest_rows_are_measured_as_rows_and_as_questions(weights, tmp_path):
    path = tmp_path / "normad.parquet"
    record_files.write_samples(path, [sample(1), sample(2, words=100), sample(3, words=300)])
    limits = rows.limits(RECIPE, positions=2048, context=1024, max_tokens=100)
    tried_rows, drawn = rows.try_rows(weights.parent / "files", {"normad": path}, ["report", plan.SOFT_ERRORS], limits)
    normad = tried_rows["datasets"]["normad"]
    assert normad["training"]["over"] == 2
    assert normad["training"]["longest"] > 1500
    assert normad["questions"]["report"]["limit"] == 924
    assert normad["questions"]["report"]["over"] == 1  # shorter than the row by its report
    assert normad["questions"][plan.SOFT_ERRORS]["longest"] > normad["questions"]["report"]["longest"]
    assert set(drawn["drawn"]) == {"longest", "evenly"}
    assert drawn["input_ids"].list.len().max() <= RECIPE.max_length


# --- the work to come


def test_work_is_counted_from_right_pairs_and_caps(tmp_path):
    path = tmp_path / "normad.parquet"
    pairs = [sample(at, split=split) for at, split in enumerate(["train"] * 7 + ["dev"] + ["test"] * 2)]
    record_files.write_samples(path, pairs)
    study = experiment()
    counted = work.rows_of(study, {"normad": path})
    assert counted["normad"].by_split == {"train": 14, "dev": 2, "test": 4}
    assert counted["normad"].generated == 10
    assert counted["blend"].by_split == {"train": 3500, "dev": 500, "test": 1000}
    assert counted["blend"].generated == 0  # its errors are hard
    assert work.steps_of(study, "gemma3-27b", "without-normad", counted) == 8 * 3500 // 8
    (bill,) = work.bills(study, counted)
    assert (bill.model, bill.rows) == ("gpt5", 8 * 100 + 4)
    assert bill.cost == pytest.approx(804 * 4096 * 10 / 1e6, abs=0.01)


def test_hours_rest_on_trials(tmp_path):
    study = experiment()
    counted = work.rows_of(study, {})
    asked = on({}, open_seconds=30.0, check_seconds=30.0, together=4, together_tokens=400, together_seconds=2.0, cut=0)
    stepped = on({}, usual_seconds=0.9, made_up=False, device="NVIDIA H100", processes=1, parameters=1)
    planned = work.planned_tasks(study, counted, {"phi4": asked}, {"phi3-medium-4k": stepped})
    tasks = {(task.what, task.of): task for task in planned}
    training = tasks["training", "phi3-medium-4k"]
    assert training.amount == "10 adapters, at most 35,437 steps of 8 rows"
    assert training.hours == pytest.approx(35437 * 0.9 / 3600)
    judging = tasks["judging", "phi4"]
    assert judging.hours == pytest.approx((4 * 9000 * 2.0 / 4 + 4 * 60) / 3600)
    assert tasks["training", "gemma3-27b"].hours is None
    made = page.page_text([], list(tasks.values()), [], "now")
    assert (
        f"Together: {judging.hours + training.hours:.1f} GPU hours, and {len(tasks) - 2} lines without a trial" in made
    )


def asked_of_a_server(**changed):
    """The embedded experiment with a priced server in place of its model, outside ExCAM."""
    mini = yaml.safe_load((ROOT / "experiments/mini.yaml").read_text())
    server = {"endpoint": "http://h/v1", "price": {"prompt": 1.0, "completion": 100.0}, **changed}
    entry = {"backend": "openai", "server": server, "licence": "MIT", "gpus": 0, "sampling": {"max_tokens": 50}}
    mini["models"]["served"] = entry
    mini["macaron"] |= {
        "models": ["served", "smollm2-135m"],
        "modes": ["choose", "text"],
        "thinking": ["served"],
        "proofreader": "served",
    }
    mini["rubric"] |= {"models": ["served"], "mode": "text"}
    mini["cult_eval"] |= {"models": ["served"], "shots": [0, 1], "judges": ["served"], "mode": "text"}
    mini["calmqa"] |= {"models": ["served"], "extractor": "served", "relevance": "served"}
    mini["crossing"] = None
    return experiment(**mini)


def lines_of(files):
    return sum(path.read_bytes().count(b"\n") for path in (ROOT / "mini").glob(files))


def test_requests_of_the_other_systems_are_counted_and_priced(monkeypatch):
    monkeypatch.chdir(ROOT)
    study = asked_of_a_server()
    lines = systems.requests(study)
    counts = {line.what: line.count for line in lines if line.model == "served"}
    items, written = lines_of("cult-eval/items.jsonl"), lines_of("cult-eval/translations/*.jsonl")
    scenarios = len(macaron.read(macaron.files(Path("mini/macaron")), {}).scenarios)
    instances, questions = 6 * scenarios, lines_of("calmqa-answers/questions/*.jsonl")
    assert counts == {
        **{"macaron, choose": 2 * instances, "macaron, text": instances, "macaron, thinking": instances},
        **{"macaron, proofreading": scenarios * 7, "rubric, text": lines_of("rubric/responses.jsonl")},
        **{"cult-eval, 0-shot": items, "cult-eval, 1-shot": items, "cult-eval, judging": 2 * 3 * (written + 2 * items)},
        **{"calmqa, answers": questions, "calmqa, claims": 3 * questions * systems.SENTENCES},
        "calmqa, relevance": 3 * questions,
    }
    bills = {bill.what: bill for bill in work.bills(study, {}, lines)}
    assert set(bills) == set(counts)
    line = next(line for line in lines if line.what == "macaron, text")
    assert bills[line.what].cost == pytest.approx((line.prompt_bytes * 1 + instances * 50 * 100) / 1e6)
    choice = next(line for line in lines if line.what == "macaron, choose")
    assert bills[choice.what].cost == pytest.approx((choice.prompt_bytes + choice.count * 100) / 1e6), "one token each"
    tasks = {(task.what, task.of): task.amount for task in work.planned_tasks(study, {}, {}, {}, lines)}
    assert tasks["macaron, choose", "smollm2-135m"].startswith(f"at most {2 * instances} prompts")
    total = sum(bill.cost for bill in bills.values())
    assert f"Together: {total:,.2f}.\n" in page.page_text([], [], list(bills.values()), "now")


def test_a_server_without_likelihoods_is_asked_for_texts(monkeypatch):
    monkeypatch.chdir(ROOT)
    lines = systems.requests(asked_of_a_server(omit=["logprobs"]))
    assert [line.what for line in lines if line.model == "served"][:2] == ["macaron, text", "macaron, thinking"]


def test_keys_of_the_other_systems_are_required():
    study = asked_of_a_server(key_env="THE_KEY")
    (check,) = here.keys(study, {})
    assert (check.of, check.verdict, check.expected) == ("served", "wrong", "THE_KEY set")


def test_weights_of_the_other_systems_are_listed_with_their_licences():
    study = experiment(**yaml.safe_load((ROOT / "experiments/macaron-paper.yaml").read_text()))
    fetched, licences = here.weights(study, {})
    assert "internlm-internlm3-8b-instruct" in fetched.found
    assert "google-gemini-2.5-flash" not in fetched.found
    assert "coherelabs-aya-23-8b (CC-BY-NC-4.0)" in licences.found
    assert licences.verdict == "unknown", "terms that a person has to read"


# --- what is said


def test_an_engine_that_took_the_cpu_is_wrong():
    entry = {"engine": {"device": "cpu"}, "cuda": None}
    assert tried._card_check("m", 1, on({}, **entry)).verdict == "wrong"
    card = {"name": "H100", "driver": "580.1"}
    assert tried._card_check("m", 1, on({"cards": [card]}, **entry)).verdict == "wrong"
    there = tried._card_check("m", 1, on({"cards": [card]}, engine={"device": "NVIDIA H100"}, cuda="13.0"))
    assert there.verdict == "fine"
    assert "driver 580.1" in there.found


def test_a_machine_without_compiler_memory_or_room():
    poor = on(
        {
            "compiler": None,
            "memory_bytes": 10**9,
            "folders": {"HOME": {"path": "/h", "free_bytes": 10, "writable": True}},
        }
    )
    assert tried._compiler_check("m", poor).verdict == "wrong"
    assert tried._memory_check("m", 2e9, "lora", poor).verdict == "wrong"
    assert [check.verdict for check in tried._folders("m", poor)] == ["wrong"]


@pytest.mark.parametrize(
    ("changed", "verdict", "words"),
    [
        ({}, "fine", "dropped"),
        ({"overflow": "refuse"}, "wrong", "set training.overflow to drop"),
        ({"max_length": 9000}, "wrong", "at most 4096 tokens"),
    ],
)
def test_rows_that_are_too_long(changed, verdict, words):
    counts = {"calmqa": {"training": {"longest": 5000, "over": 3}}}
    (check,) = tried._training_rows("m", Recipe(**changed), 4096, counts)
    assert check.verdict == verdict
    assert words in check.expected


def test_keys_are_looked_for_and_no_server_is_asked():
    (key,) = here.keys(experiment(), {})
    assert (key.of, key.verdict) == ("gpt5", "unknown")
    (key,) = here.keys(experiment(baselines={"models": ["gpt5"]}), {})
    assert key.verdict == "wrong"
    (key,) = here.keys(experiment(), {"OPENAI_API_KEY": "x"})
    assert key.verdict == "fine"


def test_a_disk_that_is_too_small(tmp_path, monkeypatch):
    trained = {name: on({}, parameters=10**9) for name in ("gemma3-27b", "phi3-medium-4k")}
    monkeypatch.setattr(here.shutil, "disk_usage", lambda folder: type("Disk", (), {"free": 10**9}))
    check = here.disk(experiment(), {}, trained, tmp_path)
    assert check.verdict == "wrong"
    assert "80.0 GB for adapters, 36.0 GB for checkpoints" in check.expected


def test_what_is_not_fetched_is_unknown(tmp_path):
    made = look.checks(experiment(), look.Found({}, {}, {}, {}, {}, {}), tmp_path)
    assert {check.verdict for check in made} == {"unknown", "fine"}
    assert all("\n" not in page.check_line(check) for check in made)


def test_wrong_stands_first_and_texts_are_data():
    checks = [Check("a", "m", "x", "y", "fine"), Check("b", "m", "<b>|\nz", "y", "wrong")]
    made = page.page_text(checks, [], [], "now")
    assert made.index("| b |") < made.index("| a |")
    assert "&lt;b&gt;&#124;<br>z" in made
    assert page.verdict(checks) == "1 wrong, 0 unknown, 1 fine"


def test_facts_of_this_machine():
    facts = node.facts()
    assert facts["memory_bytes"] is None or facts["memory_bytes"] > 0
    assert all(folder["free_bytes"] >= 0 for folder in facts["folders"].values())
    json.dumps(facts)
    assert replace(on({}), node=facts).node is facts

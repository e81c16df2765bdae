"""The papers' own models as experiments: each is planned whole, on the embedded files in place of those to be fetched."""

import os
import re
from collections import Counter

import pytest
import yaml
from checkout import ROOT, Run, copy_checkout
from planner import plan

FILES = {  # what the experiments call a user's files
    "data/macaron": "mini/macaron",
    "data/cult-eval": "mini/cult-eval",
    "data/calmqa-questions": "mini/calmqa-answers/questions",
    "data/wiki": "mini/calmqa-answers/corpus",
    "data/rated-answers.csv": "mini/calmqa-answers/ratings.csv",
    "data/responses": "mini/rubric",
}
TARGETS = {
    "macaron-paper": ("macaron",),
    "cult-eval-paper": ("cult_eval",),
    "calmqa-paper": ("calmqa",),
    "rubric-models": ("rubric",),
    "excam-paper": ("all", "external"),
}


def entries(name):
    """The sections of a shipped experiment."""
    return yaml.safe_load((ROOT / f"experiments/{name}.yaml").read_text())


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    folder, scratch = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("plans")
    copy_checkout(folder)
    for name, embedded in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(folder / embedded)
    run = Run(folder, OPENAI_API_KEY="a key that nobody asks with")
    requests = [
        (folder, ["--profile", "local", "--configfile", f"experiments/{name}.yaml", "--nolock", "--", *targets])
        for name, targets in TARGETS.items()
    ]
    return dict(zip(TARGETS, plan(requests, scratch, {**os.environ, **run.environment}), strict=True))


def jobs(plans, name, rule):
    """The wildcards of the jobs of a rule."""
    return sorted(job.removeprefix(rule).strip() for job in plans[name].jobs if job.split()[0] == rule)


def test_every_model_of_macarons_table_3_is_asked(plans):
    printed = (ROOT / "excam/macaron/paper/table-3.csv").read_text().splitlines()[1:]
    category = {model: group for group, model, *_ in (line.split(",") for line in printed)}
    asked = dict(job.rsplit("/", 1) for job in jobs(plans, "macaron-paper", "macaron_ask"))
    assert asked == {model: "thinking" if group == "thinking" else "letter" for model, group in category.items()}
    assert len(asked) == 21
    fetched = jobs(plans, "macaron-paper", "fetch_model")
    assert fetched == sorted(model for model, group in category.items() if group == "open-weight")


def test_every_system_of_cult_eval_is_translated_and_judged(plans):
    translated = jobs(plans, "cult-eval-paper", "cult_eval_translate")
    shots = Counter(job.split("/")[0] for job in translated)
    assert len(shots) == 9
    once = {model for model, count in shots.items() if count == 1}
    assert once == {"hunyuan-mt-7b", "madlad400-10b-mt", "nllb200-3.3b"}
    judged = jobs(plans, "cult-eval-paper", "cult_eval_judge")
    assert judged == sorted(f"grok-4.1-fast/{job}" for job in [*translated, "written/0"])


def test_every_model_of_calmqas_table_answers(plans):
    assert len(jobs(plans, "calmqa-paper", "calmqa_ask")) == 7
    assert jobs(plans, "calmqa-paper", "calmqa_judge") == ["claims", "relevance", "translations", "verdicts"]
    assert len(jobs(plans, "rubric-models", "rubric_rate")) == 4


def test_the_papers_own_layout_trains_twenty_adapters(plans):
    """Two GPUs each, and the judges of Table 11 alone; GPT-5 on 100 rows of each benchmark."""
    trained = jobs(plans, "excam-paper", "train_adapter")
    assert len(trained) == 20
    resources = plans["excam-paper"].text.split("rule train_adapter:")[1].split("\n\n")[0]
    assert "layout=zero2" in resources
    assert "gpu=2" in resources
    judges = Counter(job.split("/")[2] for job in jobs(plans, "excam-paper", "judge"))
    assert set(judges) == {"count", "severity", "binary", "report"}
    assert judges["count"] > judges["severity"], "the external judge counts"
    external = [job.split("/") for job in jobs(plans, "excam-paper", "judge") if job.startswith("gpt5/")]
    assert {job[-1] for job in external} == {"test-100"}
    assert len(jobs(plans, "excam-paper", "generate_soft_errors")) == 16


def test_what_is_called_the_papers_is_in_its_experiment():
    """Comments of config.yaml and the choices say `value`, as the paper; a field whose own value is the paper's may stay."""
    text = (ROOT / "config.yaml").read_text()
    ours, put_back = (
        [section for section in sections.values() if isinstance(section, dict)]
        for sections in (yaml.safe_load(text), entries("excam-paper"))
    )
    fields = {field: value for section in put_back for field, value in section.items()}
    called = dict(re.findall(r"^  (\w+): [^#\n]*# (?!silent|as in the paper)(.*\bpaper\b.*)", text, re.M))
    assert called.keys() <= fields.keys()
    assert {"spans", "layout", "pairs", "significance"} <= called.keys()
    for field, comment in called.items():
        assert str(fields[field]) in re.findall(r"[\w-]+", comment), field
        assert all(section.get(field) != fields[field] for section in ours), field
    choices = (ROOT / "docs/reading-the-paper.md").read_text()
    said = re.findall(r"`(?:[\w.]+: )?([\w-]+)`(?=[^.;|`]*\b(?:as the paper|the paper's))", choices)
    assert {"zero2", "1000000", "as-published"} <= set(said) <= {str(value) for value in fields.values()}
    likelihood = re.findall(r"the paper's is `([\w-]+)`", (ROOT / "docs/macaron.md").read_text())
    assert likelihood == entries("macaron-paper")["macaron"]["modes"] == ["letter"]


@pytest.mark.parametrize("name", TARGETS)
def test_models_behind_servers_have_a_price_and_a_key(name):
    servers = [model["server"] for model in entries(name).get("models", {}).values() if "server" in model]
    assert all(server["price"] and server["key_env"] for server in servers)

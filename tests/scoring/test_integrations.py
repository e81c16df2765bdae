"""The examples of docs/api.md in evaluate, inspect_ai and lm-evaluation-harness: the libraries themselves, offline."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_adapters import answer, make

import excam
from excam.inference import backend_factory, fake
from excam.scoring import metric
from excam.scoring.rows import RowFile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")


def block(library, language="python"):
    """Return the code of a section of the page."""
    return re.search(rf"^### {library}$.*?```{language}\n(.*?)```", PAGE, re.S | re.M)[1]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with an adapter of the page's name; a fake backend answers for every model."""
    monkeypatch.setattr(backend_factory.LazyBackend, "_open", lambda _: fake.Backend(answer))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "results", name="smollm2-135m")
    return tmp_path


def test_nothing_of_theirs_is_loaded_with_excam():
    code = "import sys, excam, excam.cli; print([m for m in ('evaluate', 'inspect_ai', 'lm_eval') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_evaluate_has_the_mean_of_the_judged_texts(place, capsys):
    names = {}
    exec(block("evaluate"), names)
    assert "{'excam': -5.0, 'not_judged': 0}" in capsys.readouterr().out
    numbers = names["ExCAM"]().compute(predictions=["Sushi.", "mumble"], references=["A dish?"] * 2)
    assert numbers == {"excam": -5.0, "not_judged": 1}


@pytest.mark.nightly
def test_inspect_scores_a_task_and_has_no_score_for_what_was_not_judged(place):
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    names = {}
    exec(block("inspect_ai"), names)
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in ("Sushi.", "mumble")]
    for output in outputs:
        output.usage = ModelUsage()  # else inspect counts tokens with an encoding that it downloads
    task = Task(
        dataset=MemoryDataset([Sample(id=at, input="A dish?") for at in (1, 2)]),
        solver=generate(),
        scorer=names["cultural_errors"](),
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = run(task, model=model, log_dir="logs", display="none", max_samples=1)
    (whole,) = log.results.scores
    assert (whole.scored_samples, whole.unscored_samples, whole.metrics["mean"].value) == (1, 1, -5)
    judged, failed = (next(iter(sample.scores.values())) for sample in log.samples)
    assert judged.metadata["report"]["errors"][0]["span"] == "Sushi"
    assert failed.explanation == "no-json"


@pytest.mark.nightly
def test_samples_of_the_harness_are_rows(place):
    """The task of the page, answered by the harness's own model that says the same of everything."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    (place / "texts.jsonl").write_text('{"instruction": "Name a Greek dish."}\n')
    (place / "texts.yaml").write_text(re.search(r"<<END\n(.*?)END\n", block("lm-evaluation-harness", "bash"), re.S)[1])
    manager = TaskManager(include_path=str(place), include_defaults=False)
    evaluation = simple_evaluate("dummy", tasks=["texts"], task_manager=manager, bootstrap_iters=0, log_samples=True)
    path = place / "samples_texts.jsonl"
    path.write_text("".join(json.dumps(sample, default=str) + "\n" for sample in evaluation["samples"]["texts"]))
    (row,) = RowFile(path, metric.load("excam"))
    assert row.texts == {"instruction": "Name a Greek dish.", "output": "lol"}
    (result,) = excam.load("smollm2-135m/all").score([row])
    assert result.score is not None

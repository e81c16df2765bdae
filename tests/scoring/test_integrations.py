"""The metric inside evaluate, inspect_ai and lm-evaluation-harness: the real libraries, offline, a fake model below."""

import json
import math
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_adapters import answer, make

import excam
from excam.core.exceptions import InputInvalid
from excam.error_reports.integrations import aggregates
from excam.inference import backend_factory, fake
from excam.scoring import result_files

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "excam/error_reports/integrations/tasks"
INSTRUCTION = "Name a Greek dish."
TEXTS = ["Moussaka.", "Sushi.", "mumble", "Dolmades."]


@pytest.fixture
def backend(monkeypatch):
    made = fake.Backend(answer)
    monkeypatch.setattr(backend_factory.LazyBackend, "_open", lambda _: made)
    return made


@pytest.fixture(autouse=True)
def adapter(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    return make(tmp_path / "results")


@pytest.fixture
def expected(adapter, backend):
    """What the metric itself says of the texts."""
    return list(excam.load(adapter).score([{"instruction": INSTRUCTION, "output": text} for text in TEXTS]))


def test_a_mean_never_hides_what_was_not_judged(expected):
    whole = aggregates.aggregate(expected)
    assert (whole.rows, whole.not_judged) == (4, 1)
    assert whole.mean == pytest.approx((expected[0].score - 5 + expected[3].score) / 3)
    assert whole.share_with_errors == pytest.approx(1 / 3)
    nothing = aggregates.aggregate([expected[2]])
    assert (nothing.rows, nothing.not_judged, nothing.mean, nothing.share_with_errors) == (1, 1, None, None)


def test_nothing_of_theirs_is_loaded_with_excam():
    code = "import sys, excam, excam.cli; print([m for m in ('evaluate', 'inspect_ai', 'lm_eval') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


# evaluate


def test_evaluate_computes(adapter, expected):
    import evaluate

    from excam.error_reports.integrations.evaluate_metric import ExCAM

    metric = ExCAM(adapter)
    assert isinstance(metric, evaluate.Metric)
    evaluation = metric.compute(predictions=TEXTS, references=None, instructions=[INSTRUCTION] * 4)
    assert evaluation["scores"] == [result.score for result in expected]
    assert evaluation["excam"] == aggregates.aggregate(expected).mean
    assert evaluation["share_with_errors"] == pytest.approx(1 / 3)
    assert (evaluation["rows"], evaluation["not_judged"]) == (4, 1)
    assert evaluation["failure_reasons"] == [None, None, "no-json", None]
    assert evaluation["reports"][1]["errors"][0]["span"] == "Sushi"
    assert evaluation["signature"] == expected[0].signature
    json.dumps(evaluation, allow_nan=False)


def test_evaluate_takes_batches_and_texts_without_instructions(adapter, backend):
    from excam.error_reports.integrations.evaluate_metric import ExCAM

    metric = ExCAM(adapter, without=["instruction"])
    metric.add_batch(predictions=["Sushi."])
    metric.add_batch(predictions=["Pita."])
    evaluation = metric.compute()
    assert evaluation["scores"][0] == -5
    assert evaluation["rows"] == 2
    assert "Generate a culturally correct text" in backend.asked[-1].messages[-1].content
    assert metric.compute(predictions=["mumble"])["excam"] is None, "and again, with nothing left of before"
    with pytest.raises(InputInvalid, match="instructions: 1; expected none"):
        metric.compute(predictions=["a"], instructions=["x"])
    with pytest.raises(InputInvalid, match="instructions: 0; expected 1"):
        ExCAM(adapter).compute(predictions=["a"])


# inspect_ai


def inspected(adapter, tmp_path, texts, **options):
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from excam.error_reports.integrations.inspect_scorer import cultural_errors

    samples = [Sample(id=at, input=INSTRUCTION) for at, _ in enumerate(texts, 1)]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage()  # else inspect counts tokens with an encoding that it downloads
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=cultural_errors(adapter))
    mock = get_model("mockllm/model", custom_outputs=outputs)
    options = {"max_samples": 1, **options}
    (log,) = run(task, model=mock, log_dir=str(tmp_path / "logs"), display="none", **options)
    assert log.status == "success", log.error
    return log


def test_inspect_scores_a_task(adapter, expected, tmp_path):
    log = inspected(adapter, tmp_path, TEXTS)
    (whole,) = log.results.scores
    assert whole.name.endswith("cultural_errors")
    assert (whole.scored_samples, whole.unscored_samples) == (3, 1)
    assert whole.metrics["mean"].value == pytest.approx(aggregates.aggregate(expected).mean)
    assert whole.metrics["share_with_errors"].value == pytest.approx(1 / 3)
    scores = {sample.id: next(iter(sample.scores.values())) for sample in log.samples}
    assert scores[1].value == expected[0].score
    assert scores[2].value == -5
    assert scores[2].explanation == "Sushi is Japanese."
    (error,) = scores[2].metadata["errors"]
    assert (error["span"], error["start"], error["end"], error["severity"]) == ("Sushi", 0, 5, "major")
    assert scores[2].metadata["signature"] == expected[0].signature


def test_inspect_has_no_score_for_what_was_not_judged(adapter, backend, tmp_path):
    log = inspected(adapter, tmp_path, ["mumble"])
    (whole,) = log.results.scores
    assert (whole.scored_samples, whole.unscored_samples) == (0, 1)
    assert math.isnan(whole.metrics["mean"].value), "inspect's own word for: of nothing"
    (score,) = log.samples[0].scores.values()
    assert (score.reason, score.explanation) == ("grader_failed", "not judged: no-json")
    assert score.metadata["failure"] == "no-json"


def test_inspect_scores_side_by_side_and_the_model_is_asked_one_by_one(adapter, backend, tmp_path):
    asking = threading.Lock()

    def alone(request):
        assert asking.acquire(blocking=False), "asked while it answers"
        time.sleep(0.01)
        asking.release()
        return answer(request)

    backend.answer = alone
    texts = [f"dish {at}" for at in range(20)]
    log = inspected(adapter, tmp_path, texts, max_samples=20)
    assert log.results.scores[0].scored_samples == 20


# lm-evaluation-harness


@pytest.fixture
def harness(adapter, tmp_path, monkeypatch):
    """Runs our example task with a model that gives canned answers."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    from excam.error_reports.integrations import lm_eval_metric

    class Canned(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [request.args[0].split("answer: ")[-1] for request in requests]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    lm_eval_metric.judged.cache_clear()
    lm_eval_metric._metric.cache_clear()
    monkeypatch.setenv("EXCAM_ADAPTER", str(adapter))

    def run(texts):
        rows = [{"instruction": f"{INSTRUCTION} answer: {text}"} for text in texts]
        (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        manager = TaskManager(include_path=str(TASKS), include_defaults=False)
        return simple_evaluate(model=Canned(), tasks=["excam_texts"], task_manager=manager, bootstrap_iters=0)

    return run


def test_the_harness_runs_the_example_task(harness, backend, tmp_path, monkeypatch):
    monkeypatch.setenv("EXCAM_TO", str(tmp_path / "scored.jsonl"))
    evaluation = harness(TEXTS)
    numbers = evaluation["results"]["excam_texts"]
    results = list(result_files.read(tmp_path / "scored.jsonl"))
    assert [result.failure for result in results] == [None, None, "no-json", None]
    assert numbers["excam,none"] == aggregates.aggregate(results).mean
    assert numbers["excam_share_with_errors,none"] == pytest.approx(1 / 3)
    assert numbers["excam_not_judged,none"] == 1
    assert evaluation["n-samples"]["excam_texts"] == {"original": 4, "effective": 4}
    assert len(backend.asked) == 4, "three numbers, and each text was judged once"


def test_the_harness_gets_no_zero_where_nothing_was_judged(harness, backend):
    numbers = harness(["mumble", "mumble once more"])["results"]["excam_texts"]
    assert math.isnan(numbers["excam,none"])
    assert math.isnan(numbers["excam_share_with_errors,none"])
    assert numbers["excam_not_judged,none"] == 2


def test_the_harness_adapter_refuses_a_missing_column_or_adapter_in_one_line(harness, monkeypatch):
    from excam.error_reports.integrations import lm_eval_metric

    with pytest.raises(InputInvalid, match=r"column question: no text in it; .* the row has instruction, answer"):
        lm_eval_metric.reading("question")({"instruction": "x", "answer": "y"}, ["z"])
    monkeypatch.delenv("EXCAM_ADAPTER")
    with pytest.raises(InputInvalid, match="EXCAM_ADAPTER: not set; expected"):
        lm_eval_metric.mean([("a", "b")])


def test_the_code_of_the_page_runs(backend, tmp_path, capsys):
    from inspect_ai import eval as run

    make(tmp_path / "results", name="smollm2-135m")
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) == 2
    for block in blocks:
        names = {}
        exec(block, names)
    assert "-5.0 1.0 0 excam|model:smollm2-135m@cccccccc|" in capsys.readouterr().out
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    output = ModelOutput.from_content("mockllm/model", "Sushi.")
    output.usage = ModelUsage()
    mock = get_model("mockllm/model", custom_outputs=[output])
    (log,) = run(names["task"], model=mock, log_dir=str(tmp_path / "logs"), display="none")
    assert log.results.scores[0].metrics["mean"].value == -5
    command = re.search(r"--tasks (\w+) --include_path", page)[1]
    assert (TASKS / f"{command}.yaml").is_file()

"""Host memory of jobs with a model: by the size of its weights, once they are there."""

import re

import pytest
from checkout import Run, copy_checkout

# GB; mistral-24b is not fetched
WEIGHTS = {"phi3-medium-4k": 27.9, "gemma3-27b": 54.9, "phi4": 29.3, "qwen3.5-122b-a10b": 244.0, "smollm2-135m": 20.0}
OVERLAY = "models: {phi4: {serve: merged}}\n"
JUDGED = {"phi3-medium-4k": "test", "phi4": "test", "mistral-24b": "test", "gpt5": "test-100"}
TARGETS = [f"results/transcripts/{m}/nothing/count/epic/{split}.manifest.json" for m, split in JUDGED.items()]
TARGETS.append("results/adapters/gemma3-27b/all/verified.json")


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """A checkout with weights of the paper's sizes, which take no room: files with nothing in them."""
    run = Run(tmp_path_factory.mktemp("paper"), OPENAI_API_KEY="a key that nobody asks with")
    copy_checkout(run.folder)
    (run.folder / "overlay.yaml").write_text(OVERLAY)
    for name, gigabytes in WEIGHTS.items():
        files = run.folder / "results/models" / name / "files"
        files.mkdir(parents=True)
        for shard in (1, 2):
            with (files / f"model-0000{shard}-of-00002.safetensors").open("wb") as stream:
                stream.truncate(round(gigabytes / 2 * 1e9))
        (files.parent / "manifest.json").write_text("{}")
    return run


def asked(run: Run, experiment: str, *targets: str) -> dict[tuple[str, str], str]:
    """mem_mb of the planned jobs, by rule and model, or metric of the crossing."""
    text = run("-n", "--", *targets, profile="slurm", experiment=experiment).text
    megabytes = {}
    for block in re.split(r"\n *(?=(?:local)?rule )", text):
        rule, model = re.match(r"rule (\w+):", block), re.search(r"wildcards: .*\b(?:model|crossed)=([^,\n]+)", block)
        if rule and (memory := re.search(r"resources: .*\bmem_mb=([^,\n]+)", block)):
            megabytes[rule[1], model[1] if model else ""] = memory[1]
    assert megabytes, text[-2000:]
    return megabytes


def test_host_memory_follows_the_weights(fetched):
    """1.2 times the weights, twice where they are merged, and 8 GB for each card; unknown until they are fetched."""
    memory = asked(fetched, "overlay.yaml", *TARGETS)
    assert memory["verify_adapter", "gemma3-27b"] == str(54_900 * 12 // 10 + 8_000)
    assert memory["judge", "phi3-medium-4k"] == str(27_900 * 12 // 10 + 8_000)
    assert memory["judge", "phi4"] == str(29_300 * 2 + 8_000)
    assert memory["judge", "mistral-24b"] == "<TBD>"
    assert memory["judge", "gpt5"] == "8000", "a server has its own"
    assert memory["generate_soft_errors", ""] == str(244_000 * 12 // 10 + 4 * 8_000)
    assert memory["train_adapter", "gemma3-27b"] == "64000", "its own"


def test_host_memory_is_that_of_the_model_whatever_names_it(fetched):
    """A metric of the crossing, a judge of CaLMQA: float32 weights have a copy in memory."""
    memory = asked(fetched, "experiments/small.yaml", "crossing", "calmqa")
    assert memory["crossing_score", "excam"] == memory["calmqa_judge", ""] == memory["calmqa_ask", "smollm2-135m"]
    assert memory["crossing_score", "excam"] == str(20_000 * 2 + 8_000)
    assert memory["crossing_score", "bleu"] == "2000", "no model"

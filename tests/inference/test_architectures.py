"""The classes of the paper's models, as publishers lay them out, through the scripts of every stage."""

import architectures
import pytest
from tiny_checkpoints import ARCHITECTURES

from excam.error_reports.adapter_check import MOVED

APART = 0.01  # nats a token: rounding to bfloat16


@pytest.mark.nightly
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_all_stages(name, tmp_path):
    record, chosen = architectures.tried(name, tmp_path / name), ARCHITECTURES[name]
    assert not [(stage, outcome.failed) for stage, outcome in record.stages.items() if outcome.failed]
    without = {"verify vLLM", "judge vLLM"} if chosen.mixture_of_experts else set()
    without |= set() if architectures.VLLM.is_file() else set(architectures.STAGES[5:])
    assert {stage for stage, outcome in record.stages.items() if outcome.left_out} == without
    backends = 1 if "verify vLLM" in without else 2  # transformers, and vLLM beside the weights
    types = 1 if chosen.dtype == "bfloat16" else 2
    assert record.engines == backends * types, "verify and judge share one of each backend and type"

    assert not {*chosen.left_out, "consolidated.safetensors", "params.json", "tekken.json"} & set(record.files)
    assert record.lora == dict(sorted(chosen.lora.items()))
    assert not record.not_of_text, "a LoRA where no text trains it"
    for stage in ("verify", "verify vLLM", "verify merged"):
        if facts := record.stages[stage].facts:
            assert facts["moved"] > 5 * MOVED
            assert facts["apart"] <= APART, stage
            assert facts["modules"] == sum(chosen.lora.values())
    for stage in ("judge", "judge vLLM", "judge merged"):
        if (facts := record.stages[stage].facts) and chosen.dtype == "float32":  # rounding decides most of the others
            assert facts["same_text"] > facts["rows"] / 2, stage

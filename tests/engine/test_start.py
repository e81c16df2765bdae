"""How the engine is started: vLLM's own speed where many prompts wait, within what a model can take."""

import shutil

import pytest
from conftest import MODEL, SMALL

from excam.core.exceptions import ModelInvalid
from excam.inference.backends import vllm
from excam.inference.backends._vllm_engine import OF_HYBRIDS

CACHE = {name: value for name, value in SMALL.items() if name != "max_num_seqs"}
LAYERS = {
    "vocab_size": 49152, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 32, "max_position_embeddings": 512, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": 2, "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2,
    "linear_num_value_heads": 2, "linear_key_head_dim": 32, "linear_value_head_dim": 32,
}  # fmt: skip


@pytest.fixture
def hybrid(tmp_path):
    """Qwen3.5 with random weights: every other layer keeps a state of its own a request."""
    import torch
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    torch.manual_seed(0)
    Qwen3_5ForCausalLM(Qwen3_5TextConfig(**LAYERS)).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(MODEL / name, tmp_path)
    return tmp_path


def opened(folder, **engine):
    backend = vllm.Backend(folder, dtype="float32", context=256, engine=CACHE | engine)
    scheduler = backend._engine.vllm_config.scheduler_config
    backend.close()
    return scheduler.max_num_seqs, scheduler.max_num_batched_tokens


def test_it_is_as_fast_as_vllm_s_own_class_for_many_prompts():
    from vllm import EngineArgs
    from vllm.usage.usage_lib import UsageContext

    tokens, requests = (of[UsageContext.LLM_CLASS] for of in EngineArgs.get_batch_defaults(1))
    assert opened(MODEL) == (requests, tokens)
    assert requests > 128  # what an engine has that does not say what it is for


@pytest.mark.usefixtures("torchvision_in_name")
def test_a_model_that_keeps_a_state_a_request_answers_fewer_at_once(hybrid):
    assert opened(hybrid)[0] == OF_HYBRIDS
    assert opened(hybrid, max_num_seqs=6)[0] == 6


@pytest.mark.parametrize("problem", [ImportError("no module named triton"), AttributeError("x"), TimeoutError("nccl")])
def test_an_engine_that_cannot_start_is_one_line(monkeypatch, problem):
    from vllm import LLMEngine

    def failing(*_, **__):
        raise problem

    monkeypatch.setattr(LLMEngine, "from_engine_args", failing)
    with pytest.raises(ModelInvalid, match="vLLM cannot take it: ") as raised:
        vllm.Backend(MODEL, dtype="float32", engine=SMALL)
    assert "\n" not in str(raised.value)


def test_every_setting_that_only_tunes_is_one_of_vllm_s():
    from dataclasses import fields

    from vllm import EngineArgs

    from excam.config.models import TUNING

    assert not TUNING - {field.name for field in fields(EngineArgs)}

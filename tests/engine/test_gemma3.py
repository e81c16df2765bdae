"""Gemma 3 as it is published, a text model inside a multimodal class, and an adapter trained on the text model alone.

Tiny random weights.
"""

import shutil

import pytest
from conftest import MODEL, SMALL, asked, gathered

from excam.inference import Sampling
from excam.inference.backends import transformers, vllm

TEXT = {
    "vocab_size": 49152, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 32, "max_position_embeddings": 512, "sliding_window": 256,
    "layer_types": ["sliding_attention", "full_attention"], "initializer_range": 0.3,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2,
}  # fmt: skip
VISION = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 56,
}  # fmt: skip


@pytest.fixture
def folders(tmp_path):
    """(multimodal model, the text model in it, an adapter trained on the latter)"""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import Gemma3Config, Gemma3ForCausalLM, Gemma3ForConditionalGeneration

    torch.manual_seed(0)
    whole, inner, adapter = tmp_path / "whole", tmp_path / "inner", tmp_path / "adapter"
    model = Gemma3ForConditionalGeneration(Gemma3Config(text_config=TEXT, vision_config=VISION, mm_tokens_per_image=4))
    model.save_pretrained(whole)
    text = Gemma3ForCausalLM(model.config.text_config)
    text.model.load_state_dict(model.model.language_model.state_dict())
    text.save_pretrained(inner)
    lora = LoraConfig(r=8, lora_alpha=64, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
    get_peft_model(text, lora).save_pretrained(adapter)
    for folder in (whole, inner):
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(MODEL / name, folder)
    return whole, inner, adapter


@pytest.mark.usefixtures("torchvision_in_name")
def test_an_adapter_of_the_text_model_is_applied(folders):
    from vllm.lora.request import LoRARequest

    whole, inner, adapter = folders
    sampling = Sampling(max_tokens=6)
    settings = {"dtype": "float32", "context": 256}
    backend = vllm.Backend(whole, adapter, **settings, engine=SMALL)
    assert backend._engine.vllm_config.model_config.multimodal_config.language_model_only

    def answers(served):
        backend._lora = served
        return [answer.logprobs for answer in gathered(backend.generate(asked(), sampling))]

    as_served = answers(backend._lora)
    bare = answers(None)
    as_it_is = answers(LoRARequest("as-it-is", 2, str(adapter)))
    backend.close()
    assert as_it_is == bare  # vLLM #34186: taken, never applied
    expected = gathered(transformers.Backend(inner, adapter, **settings).generate(asked(), sampling))
    assert as_served == [pytest.approx(answer.logprobs, abs=1e-3) for answer in expected]
    assert max(abs(logprob - other) for logprob, other in zip(sum(as_served, ()), sum(bare, ()), strict=True)) > 0.01

"""Attention that computes nothing across rows, against the dense mask, in models of real classes with random weights."""

from functools import cache

import pytest

from excam.config import Recipe
from excam.training import attention, layout, sft, trainers
from excam.training.tokens import IGNORED_LABEL

SIZES = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "initializer_range": 0.3, "pad_token_id": 0,
    "bos_token_id": None, "eos_token_id": 0,
}  # fmt: skip
PAIRED = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 5, "head_dim": 8}
LENGTHS = (7, 1, 12, 5)  # rows shorter and longer than the window, and one of a single token
RECIPE = Recipe(rank=4, alpha=8)
SINGLE = layout.load_layout("single")


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**SIZES))


def phi3():
    from transformers import Phi3Config, Phi3ForCausalLM

    return Phi3ForCausalLM(Phi3Config(**SIZES, sliding_window=5))


def qwen3():
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Qwen3ForCausalLM(Qwen3Config(**SIZES, head_dim=8))


def cohere2():
    from transformers import Cohere2Config, Cohere2ForCausalLM

    return Cohere2ForCausalLM(Cohere2Config(**SIZES, **PAIRED))


def gemma3():
    """With eyes, and a scale of the scores that is not that of the heads' size."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    eyes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    text = {**SIZES, **PAIRED, "query_pre_attn_scalar": 21}
    pictures = {"image_token_index": 63, "boi_token_index": 62, "eoi_token_index": 61, "mm_tokens_per_image": 4}
    return Gemma3ForConditionalGeneration(
        Gemma3Config(text_config=text, vision_config={**eyes, "image_size": 56}, **pictures)
    )


def adapted(make):
    """A model with a LoRA that changes something already, as after some steps."""
    import torch

    torch.manual_seed(3)
    model = sft.with_lora(make(), RECIPE)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def batch() -> dict:
    """Random rows end to end, as TRL lays them."""
    import torch
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    torch.manual_seed(4)
    rows = [torch.randint(1, 60, (length,)).tolist() for length in LENGTHS]
    collate = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
    return collate([{"input_ids": ids, "labels": [IGNORED_LABEL, *ids[1:]]} for ids in rows])


def learnt(model, parts: list[dict]) -> dict:
    """Logits, and the gradients of the LoRA, of a step in parts."""
    import torch

    model.train()
    model.zero_grad()
    logits = []
    for part in parts:
        read = {name: value for name, value in part.items() if name != "labels"}
        if "token_type_ids" in model.get_base_model().forward.__code__.co_varnames:
            read["token_type_ids"] = torch.zeros_like(part["input_ids"])  # Gemma 3: no picture anywhere
        logits.append(model(**read, use_cache=False).logits[0])
        (logits[-1].float() * torch.linspace(-1, 1, 64, device=model.device)).tanh().sum().backward()
    grads = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.requires_grad}
    return {"logits": torch.cat(logits), **grads}


@cache
def stand_in_kernel() -> None:
    """Give PyTorch's flash operator a CPU's arithmetic, after its documentation: query i sees keys i - left to i + right.

    All around it stays PyTorch's own: `varlen_attn`, its checks, its derivative.
    """
    import torch
    from torch.nn.attention import varlen

    def weights(query, key, bounds, is_causal, scale, window):
        left, right = window if not is_causal else (window[0], 0)
        at = torch.arange(len(query))
        row = torch.searchsorted(bounds[1:], at, right=True)
        apart = at[:, None] - at[None]
        seen = (row[:, None] == row[None]) & ((apart <= left) | (left < 0)) & ((-apart <= right) | (right < 0))
        scores = torch.einsum("qhd,khd->hqk", query, key) * scale
        return scores.masked_fill(~seen, -torch.inf).softmax(-1)

    def spread(query, *both):
        return [tensor.repeat_interleave(query.shape[1] // tensor.shape[1], dim=1) for tensor in both]

    @varlen._varlen_attn.register_kernel("cpu")
    def forward(query, key, value, bounds, bounds_k, most, most_k, is_causal, scale, window, gqa, *rest):
        assert bounds.dtype == torch.int32
        assert (most, bounds.tolist()) == (int(bounds.diff().max()), bounds_k.tolist())
        assert (most_k, gqa, any(rest)) == (most, True, False)
        key, value = spread(query, key, value)
        out = torch.einsum("hqk,khd->qhd", weights(query, key, bounds, is_causal, scale, window), value)
        return out, out.new_zeros(query.shape[1], len(query)), torch.zeros(2, dtype=torch.uint64)

    @varlen._varlen_attn_backward.register_kernel("cpu")
    def backward(grad, query, key, value, out, lse, bounds, bounds_k, most, most_k, is_causal, rng, scale, window):
        few = key.shape
        key, value = spread(query, key, value)
        shares = weights(query, key, bounds, is_causal, scale, window)
        gradient = torch.einsum("qhd,khd->hqk", grad, value)
        gradient = shares * (gradient - (gradient * shares).sum(-1, keepdim=True)) * scale
        of_key = torch.einsum("hqk,qhd->khd", gradient, query), torch.einsum("hqk,qhd->khd", shares, grad)
        of_key = [tensor.reshape(few[0], few[1], -1, few[2]).sum(2) for tensor in of_key]
        return torch.einsum("hqk,khd->qhd", gradient, key), *of_key


@pytest.mark.parametrize("kernel", [False, True], ids=["row-by-row", "kernel"])
@pytest.mark.parametrize("make", [llama, phi3, qwen3, cohere2, gemma3])
def test_rows_apart_learn_what_the_dense_mask_does(make, kernel, monkeypatch):
    """Whole steps and parted ones, with activations computed again."""
    import torch

    if kernel:
        stand_in_kernel()
        monkeypatch.setattr(attention, "_kernel_takes", lambda *_: True)
    model = adapted(make)
    model.gradient_checkpointing_enable()
    expected = learnt(model, [batch()])
    attention.set_attention(model.get_base_model(), SINGLE)
    assert attention.describe_attention(model).startswith("rows")
    for most in (None, 18):
        parts = trainers.split_batch(batch(), most)
        assert len(parts) == (2 if most else 1)
        tensors = learnt(model, parts)
        for name, value in expected.items():
            torch.testing.assert_close(tensors[name], value, rtol=1e-4, atol=1e-4, msg=name)
    trainers.refuse_leak(model, batch())


@pytest.mark.parametrize("window", [None, 5])
def test_pytorchs_kernel_takes_what_it_is_given(window):
    """Shapes and names of arguments at Gemma 3's heads, through the operator's own description of itself."""
    import torch

    heads = [
        torch.empty(1, count, 25, 128, dtype=torch.bfloat16, device="meta", requires_grad=True)
        for count in (32, 16, 16)
    ]
    bounds = torch.tensor([0, 7, 8, 20, 25], dtype=torch.int32, device="meta")
    out = attention._by_kernel(heads, bounds, 12, 168**-0.5, window)
    assert out.shape == (1, 25, 32, 128)
    out.sum().backward()
    assert [head.grad.shape for head in heads] == [head.shape for head in heads]


@pytest.mark.gpu
@pytest.mark.parametrize("make", [phi3, gemma3])
def test_the_kernel_of_this_card_learns_what_the_dense_mask_does(make):
    import torch

    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("no card with the kernel here")
    model = adapted(make).to("cuda", torch.bfloat16)
    inputs = {name: entry.cuda() if hasattr(entry, "cuda") else entry for name, entry in batch().items()}
    expected = learnt(model, [inputs])
    attention.set_attention(model.get_base_model(), SINGLE)
    assert attention.describe_attention(model) == "rows by PyTorch's flash kernel"
    tensors = learnt(model, [inputs])
    for name, value in expected.items():
        torch.testing.assert_close(tensors[name], value, rtol=0.05, atol=0.05 * float(value.abs().max()), msg=name)


def test_a_model_whose_masks_alone_say_what_is_seen_keeps_them():
    model = llama()
    model._supports_flash_attn = False
    attention.set_attention(model, SINGLE)
    assert attention.describe_attention(model) == "sdpa"


def test_what_would_come_out_as_something_else_is_refused():
    import torch

    model = llama()
    attention.set_attention(model, SINGLE)
    with pytest.raises(ValueError, match=r"attention: rows: rows of no known length; expected rows end to end"):
        model(torch.tensor([[1, 2], [3, 0]]), attention_mask=torch.tensor([[1, 1], [1, 0]]))
    known = {"cu_seq_lens_q": torch.tensor([0, 2]), "max_length_q": 2}
    with pytest.raises(ValueError, match=r"attention: rows: softcap; expected"):
        model(torch.tensor([[1, 2]]), softcap=30.0, **known)
    with pytest.raises(ValueError, match=r"attention: rows: both directions; expected"):
        model(torch.tensor([[1, 2]]), is_causal=False, **known)

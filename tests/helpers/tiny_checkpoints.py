"""Checkpoints as publishers lay them out: real classes with tiny random weights, tokenizers of the same kinds.

`ARCHITECTURES` names them; `make` writes one into a folder: weights, config, tokenizer, a chat template of our own in
the manner of theirs, and beside them what a publisher puts there that is not to be fetched or run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.error_reports import fixed_answers
from excam.inference.tokenizer_files import RULE

POSITIONS = 4096
SEED = 7
WORDS = 600  # of a tokenizer's vocabulary, beside bytes and added tokens
# Attention of vLLM on a CPU takes heads of 32 and more. With larger random weights than at the start of a training the
# next token is seldom a tie, which another order of the same sums would break otherwise.
SIZES: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "max_position_embeddings": POSITIONS, "initializer_range": 0.1,
}  # fmt: skip
PAIRED: dict[str, Any] = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 512}
GATED_DELTA: dict[str, Any] = {
    "head_dim": 32, "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 1,
    "linear_num_value_heads": 1, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
}  # fmt: skip
EXPERTS = {
    "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64,
}  # fmt: skip
ATTENTION = {"q_proj": 2, "k_proj": 2, "v_proj": 2, "o_proj": 2}
DENSE = {"gate_proj": 2, "up_proj": 2, "down_proj": 2}
DELTA = {"in_proj_qkv": 1, "in_proj_z": 1, "in_proj_a": 1, "in_proj_b": 1, "out_proj": 1}
HALF_ATTENTION = dict.fromkeys(ATTENTION, 1)  # of the second of two layers

# Rules by which texts are split before pieces are joined, as in the publishers' tokenizer.json.
QWEN_RULE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN35_RULE = QWEN_RULE.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"^\s\p{L}", r"^\s\p{L}\p{M}")
LLAMA_RULE = QWEN_RULE.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
GPT2_RULE = r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # with single digits

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PHI3 = (  # leaves a system message out without a word
    "{% for m in messages %}{% if m.role == 'user' %}<|user|>\n{{ m.content }}<|end|>\n"
    "{% elif m.role == 'assistant' %}<|assistant|>\n{{ m.content }}<|end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
MISTRAL = (  # writes a date where there is no system message
    "{{ bos_token }}{% if messages[0].role != 'system' %}[SYSTEM_PROMPT]Today is {{ strftime_now('%Y-%m-%d') }}."
    "[/SYSTEM_PROMPT]{% endif %}{% for m in messages %}{% if m.role == 'system' %}"
    "[SYSTEM_PROMPT]{{ m.content }}[/SYSTEM_PROMPT]{% elif m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
COHERE = (
    "{{ bos_token }}{% for m in messages %}<|START_OF_TURN_TOKEN|>"
    "<|{{ {'system': 'SYSTEM', 'user': 'USER', 'assistant': 'CHATBOT'}[m.role] }}_TOKEN|>"
    "{{ m.content }}<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% endif %}"
)
LLAMA = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}"
    "<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of tokenizer: the class its publisher names, its rule, its added tokens, and how a chat is written."""

    tokenizer_class: str
    template: str
    special: tuple[str, ...]
    bos: str | None
    eos: str
    rule: str | None = None  # None: pieces of SentencePiece, with bytes for what they lack
    right_stripped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Architecture:
    """A class of models, how its checkpoint is written, and where a LoRA on all linear layers belongs."""

    family: Family
    save: Callable[[Path, dict[str, Any]], None]  # weights and config.json; gets the ids of special tokens
    lora: dict[str, int]  # layers by the last part of their name, and how many of them have a LoRA
    left_out: tuple[str, ...] = ()  # files beside it that are not to be fetched
    dtype: str = "float32"  # in which it is asked; vLLM computes gated delta nets in bfloat16 alone on a CPU
    mixture_of_experts: bool = False


def make(name: str, folder: Path) -> Path:
    """Write the checkpoint of an architecture into `folder`, the same bytes each time."""
    import torch

    folder.mkdir(parents=True)
    chosen = ARCHITECTURES[name]
    ids = _tokenizer(chosen.family, folder)
    torch.manual_seed(SEED)
    chosen.save(folder, ids)
    return folder


def _tokenizer(family: Family, folder: Path) -> dict[str, Any]:
    """Write a family's tokenizer; return what a config says of it: size and ids of special tokens."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    special = ["<unk>", *family.special] if family.rule is None else list(family.special)
    if family.rule is None:
        pieces = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
        raw = Tokenizer(models.BPE(unk_token=special[0], byte_fallback=True, fuse_unk=True))
        raw.normalizer = normalizers.Replace(" ", "▁")
        raw.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
        raw.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    else:
        pieces = special
        raw = Tokenizer(models.BPE())
        split = pre_tokenizers.Split(Regex(family.rule), "isolated")
        bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        raw.pre_tokenizer = pre_tokenizers.Sequence([split, bytewise])
        raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if family.rule else []
    raw.train_from_iterator(
        _texts(),
        trainers.BpeTrainer(
            vocab_size=len(pieces) + 256 + WORDS,
            special_tokens=pieces,
            initial_alphabet=sorted(alphabet),
            show_progress=False,
        ),
    )
    raw.add_special_tokens([AddedToken(t, special=True, normalized=False, rstrip=True) for t in family.right_stripped])
    spec = json.loads(raw.to_str())
    if family.rule is None:  # only the names of control tokens are tokens, the bytes are pieces as others
        spec["added_tokens"] = [token for token in spec["added_tokens"] if not token["content"].startswith("<0x")]
        spec["pre_tokenizer"] = None if family.tokenizer_class == "LlamaTokenizer" else spec["pre_tokenizer"]
    (folder / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
    config = {
        "tokenizer_class": family.tokenizer_class, "bos_token": family.bos, "eos_token": family.eos,
        "chat_template": family.template, "model_max_length": POSITIONS, "clean_up_tokenization_spaces": False,
    }  # fmt: skip
    _write(folder / "tokenizer_config.json", config)
    return {
        "vocab_size": -(-raw.get_vocab_size() // 64) * 64,  # publishers fill up, too
        "bos_token_id": raw.token_to_id(family.bos) if family.bos else None,
        "eos_token_id": raw.token_to_id(family.eos),
        "pad_token_id": 0,
    }


def _texts() -> Iterable[str]:
    """What the pieces are learnt from: the prompts that are asked."""
    for question in fixed_answers.questions():
        yield from (message.content for message in question.messages)
        yield from question.options


def _phi3(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Phi3Config, Phi3ForCausalLM

    _saved(Phi3ForCausalLM(Phi3Config(**SIZES, **ids, sliding_window=2047)), folder)
    _changed(folder / "config.json", auto_map={"AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM"})
    (folder / "modeling_phi3.py").write_text("raise SystemExit('code from a checkpoint was run')\n", encoding="utf-8")


def _gemma3(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    text = {**SIZES, **PAIRED, **ids, "head_dim": 32, "query_pre_attn_scalar": 32}
    last = ids["vocab_size"] - 1  # ids of pictures, which no text has
    pictures: dict[str, Any] = {"image_token_index": last, "boi_token_index": last - 1, "eoi_token_index": last - 2}
    config = Gemma3Config(text_config=text, vision_config=_eyes(), mm_tokens_per_image=4, **pictures)
    _saved(Gemma3ForConditionalGeneration(config), folder)
    _write(folder / "preprocessor_config.json", {"image_processor_type": "Gemma3ImageProcessor"})
    _write(folder / "processor_config.json", {"processor_class": "Gemma3Processor", "image_seq_length": 4})


def _gemma3_of_the_hub(folder: Path, ids: dict[str, Any]) -> None:
    """Rename the weights to the keys used on the hub; the installed library saves them under other keys."""
    _gemma3(folder, ids)
    _renamed(folder, "vision_tower.", "vision_tower.vision_model.")


def _mistral(folder: Path, ids: dict[str, Any]) -> None:
    """With the same model once more in Mistral's own format; here it is another one, so that taking it shows."""
    import torch
    from safetensors.torch import save_file
    from transformers import MistralConfig, MistralForCausalLM

    _saved(MistralForCausalLM(MistralConfig(**SIZES, **ids, head_dim=32, sliding_window=None)), folder)
    _changed(folder / "config.json", transformers_version="4.48.0")
    width = SIZES["hidden_size"]
    other = {"tok_embeddings.weight": torch.zeros(ids["vocab_size"], width), "norm.weight": torch.ones(width)}
    save_file(other, folder / "consolidated.safetensors", {"format": "pt"})
    _write(folder / "params.json", {"dim": width, "n_layers": 1, "head_dim": 32, "n_heads": 2, "vocab_size": 1000})
    vocabulary = [{"rank": at, "token_bytes": _base64(255 - at), "token_str": None} for at in range(256)]
    settings = {
        "pattern": r"\s+|\S+", "num_vocab_tokens": 256, "default_vocab_size": 266, "default_num_special_tokens": 10,
        "version": "v7",
    }  # fmt: skip
    _write(folder / "tekken.json", {"config": settings, "vocab": vocabulary, "special_tokens": None})


def _qwen3(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    _saved(Qwen3ForCausalLM(Qwen3Config(**SIZES, **ids, head_dim=32)), folder)


def _qwen35(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    config = Qwen3_5Config(text_config={**SIZES, **GATED_DELTA, **ids}, vision_config=_qwen_eyes(), **_pictures(ids))
    _saved(Qwen3_5ForConditionalGeneration(config), folder)


def _qwen35_moe(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Qwen3_5MoeConfig, Qwen3_5MoeForConditionalGeneration

    text = {name: value for name, value in SIZES.items() if name != "intermediate_size"}
    config = Qwen3_5MoeConfig(
        text_config={**text, **GATED_DELTA, **EXPERTS, **ids}, vision_config=_qwen_eyes(), **_pictures(ids)
    )
    _saved(Qwen3_5MoeForConditionalGeneration(config), folder)


def _cohere2(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import Cohere2Config, Cohere2ForCausalLM

    _saved(Cohere2ForCausalLM(Cohere2Config(**SIZES, **PAIRED, **ids, logit_scale=0.25)), folder)


def _llama(folder: Path, ids: dict[str, Any]) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    _saved(LlamaForCausalLM(LlamaConfig(**SIZES, **ids)), folder, shard="200KB")


def _eyes() -> dict[str, Any]:
    return {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "image_size": 56,
        "patch_size": 14, "vision_use_head": False,
    }  # fmt: skip


def _qwen_eyes() -> dict[str, Any]:
    return {
        "depth": 1, "hidden_size": 32, "intermediate_size": 64, "num_heads": 1, "out_hidden_size": SIZES["hidden_size"],
        "patch_size": 16, "num_position_embeddings": 16,
    }  # fmt: skip


def _pictures(ids: dict[str, Any]) -> dict[str, Any]:
    """Ids of Qwen's pictures, which no text has."""
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    return {name: ids["vocab_size"] - 1 - at for at, name in enumerate(names)}


def _saved(model: Any, folder: Path, shard: str = "5GB") -> None:
    """Write weights in bfloat16, as publishers do, with which all is computed."""
    import torch

    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size=shard)


def _renamed(folder: Path, old: str, new: str) -> None:
    """Rewrite the weights with another prefix for some of their keys."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    tensors = load_file(file)
    save_file({re.sub(f"^{re.escape(old)}", new, name): t for name, t in tensors.items()}, file, {"format": "pt"})


def _changed(file: Path, **fields: Any) -> None:
    _write(file, {**json.loads(file.read_text(encoding="utf-8")), **fields})


def _write(file: Path, fields: dict[str, Any]) -> None:
    file.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")


def _base64(byte: int) -> str:
    from base64 import b64encode

    return b64encode(bytes([byte])).decode("ascii")


IM = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
QWEN = Family("Qwen2Tokenizer", CHATML, IM, None, "<|im_end|>", QWEN_RULE)
QWEN35 = Family("Qwen2Tokenizer", CHATML, IM, None, "<|im_end|>", QWEN35_RULE)
PIECES_OF_PHI = Family(
    "LlamaTokenizer", PHI3, ("<s>", "</s>", "<|endoftext|>"), "<s>", "<|endoftext|>",
    right_stripped=("<|user|>", "<|assistant|>", "<|end|>"),
)  # fmt: skip
PIECES_OF_GEMMA = Family(
    "GemmaTokenizer", GEMMA, ("<pad>", "<eos>", "<bos>", "<mask>", "<start_of_turn>", "<end_of_turn>"), "<bos>", "<eos>"
)
TEKKEN = Family(
    "LlamaTokenizer", MISTRAL,
    ("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"), "<s>", "</s>", RULE,
)  # fmt: skip
COMMAND = Family(
    "CohereTokenizer", COHERE,
    ("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<|START_OF_TURN_TOKEN|>",
     "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>"),
    "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", GPT2_RULE,
)  # fmt: skip
LLAMA3 = Family(
    "PreTrainedTokenizerFast", LLAMA,
    ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "<|begin_of_text|>", "<|eot_id|>", LLAMA_RULE,
)  # fmt: skip

ARCHITECTURES = {
    "phi3": Architecture(
        PIECES_OF_PHI, _phi3, {"qkv_proj": 2, "o_proj": 2, "gate_up_proj": 2, "down_proj": 2}, ("modeling_phi3.py",)
    ),
    "gemma3": Architecture(PIECES_OF_GEMMA, _gemma3, ATTENTION | DENSE),
    "gemma3-hub": Architecture(PIECES_OF_GEMMA, _gemma3_of_the_hub, ATTENTION | DENSE),
    "mistral": Architecture(
        TEKKEN, _mistral, ATTENTION | DENSE, ("consolidated.safetensors", "params.json", "tekken.json")
    ),
    "qwen3": Architecture(QWEN, _qwen3, ATTENTION | DENSE),
    "qwen3.5": Architecture(QWEN35, _qwen35, DELTA | HALF_ATTENTION | DENSE, dtype="bfloat16"),
    "qwen3.5-moe": Architecture(
        QWEN35, _qwen35_moe, DELTA | HALF_ATTENTION | DENSE | {"shared_expert_gate": 2}, dtype="bfloat16",
        mixture_of_experts=True,
    ),
    "cohere2": Architecture(COMMAND, _cohere2, ATTENTION | DENSE),
    "llama": Architecture(LLAMA3, _llama, ATTENTION | DENSE),
}  # fmt: skip

"""From a GGUF file (llama.cpp's format) to a normal folder: safetensors, tokenizer, chat template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from excam.exceptions import ModelInvalid
from excam.inference.loading import loading

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def convert(gguf: Path, folder: Path) -> None:
    """Write the model in `gguf`, dequantised to bfloat16, and its tokenizer to `folder`, ready for `from_pretrained`.

    Raises ModelInvalid when transformers cannot read the file, or when it names no token that ends a text.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"gguf_file": gguf.name, "local_files_only": True}
    with loading(gguf, "a GGUF file that transformers can read"):
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent, **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
        )
    if tokenizer.eos_token_id is None:
        raise ModelInvalid(f"{gguf}: no end token; expected one in the file's metadata")
    with loading(gguf, "a GGUF file that transformers can read"):
        _repair_digits(tokenizer, gguf)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _repair_digits(tokenizer: PreTrainedTokenizerBase, gguf: Path) -> None:
    """Give the tokenizers that split numbers into digits that step back: transformers 5.23 leaves it out.

    It reads every byte-level tokenizer as GPT-2's; llama.cpp, which wrote the file, does not. Where a text has a run of
    white space before a digit ("\\n\\n1"), the ids then differ from those the model was trained on.
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    field = GGUFReader(gguf).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() in ("smollm", "starcoder", "refact", "command-r"):
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )

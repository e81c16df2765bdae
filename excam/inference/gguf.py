"""Convert a GGUF file (llama.cpp's format) to a model folder: safetensors, tokenizer, chat template."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from excam.core.exceptions import ModelInvalid
from excam.inference.loading import loading

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

VERSION = 2
WRITTEN_BY = "5.23.0"  # the version that configurations name: every version of transformers writes the same bytes


def convert(gguf: Path, folder: Path) -> None:
    """Write the model in `gguf`, dequantised to bfloat16, and its tokenizer to `folder`, ready for `from_pretrained`.

    The values are stored as float32, in which a CPU computes: its processes then share one mapped copy of the file,
    where each would have a converted copy of its own. Raise ModelInvalid if transformers cannot read the file, or if
    it has no end token.
    """
    import gguf as library
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"gguf_file": gguf.name, "local_files_only": True}
    # transformers parses the file, with its whole vocabulary, three times, and names tensors again for each module
    once = [
        patch.object(library, name, cache(getattr(library, name))) for name in ("GGUFReader", "get_tensor_name_map")
    ]
    mapped_file = np.memmap  # a slice of it takes ten times as long as one of an array, and there are millions
    arrays = patch.object(np, "memmap", lambda *place, **how: np.asarray(mapped_file(*place, **how)))
    with loading(gguf, "a GGUF file that transformers can read"), once[0], once[1], arrays:
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent, **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
        )
        _repair_digits(tokenizer, gguf)
    if tokenizer.eos_token_id is None:
        raise ModelInvalid(f"{gguf}: no end token; expected one in the file's metadata")
    model.float().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    name_one_version(folder)


def name_one_version(folder: Path) -> None:
    """Replace the version of transformers that wrote the configurations in a folder by `WRITTEN_BY`."""
    for path in (folder / "config.json", folder / "generation_config.json"):
        if path.is_file():
            written = json.loads(path.read_text(encoding="utf-8")) | {"transformers_version": WRITTEN_BY}
            path.write_text(json.dumps(written, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _repair_digits(tokenizer: PreTrainedTokenizerBase, gguf: Path) -> None:
    """Restore the step that splits numbers into digits, which transformers 5.23 omits for some tokenizers.

    It treats every byte-level tokenizer as GPT-2's, unlike llama.cpp. Without the step, the ids of white space before
    a digit ("\\n\\n1") differ from those the model was trained on.
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    field = GGUFReader(str(gguf)).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() in ("smollm", "starcoder", "refact", "command-r"):
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )

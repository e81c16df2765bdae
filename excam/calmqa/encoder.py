"""Relevance without a judge: the cosine of question and answer in the space of a small sentence encoder (MiniLM)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from excam.core.extras import require_extra
from excam.inference.loading import loading

ENCODERS = ("bert", "roberta", "xlm-roberta", "mpnet")  # `model_type` of config.json
BATCH, LONGEST = 32, 256  # texts at once; tokens of a text, as all-MiniLM-L6-v2 was trained


def is_encoder(folder: Path) -> bool:
    """Return whether a folder holds a sentence encoder, and not a model that writes."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("model_type") in ENCODERS


def cosines(folder: Path, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the cosine of the two texts of each pair, by the mean of the encoder's last layer.

    Texts are cut after `LONGEST` tokens. Raises ModelInvalid if the folder cannot be loaded.
    """
    require_extra("inference", "torch", "transformers")
    import torch
    from transformers import AutoModel, AutoTokenizer

    with loading(folder, "config.json, *.safetensors and a tokenizer of a sentence encoder"):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32
        ).eval()
    texts = [text.encode("utf-8", "replace").decode() for pair in pairs for text in pair]
    rows = []
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            given = tokenizer(
                texts[start : start + BATCH], padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
            )
            hidden, mask = model(**given).last_hidden_state, given["attention_mask"][:, :, None]
            mean = (hidden * mask).sum(1) / mask.sum(1)
            rows.append(torch.nn.functional.normalize(mean, dim=1))
    found = torch.cat(rows) if rows else torch.zeros(0, 1)
    return [float(one) for one in (found[::2] * found[1::2]).sum(1)]

"""Sentence encoders (MiniLM): the cosine of two texts, without a model that writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.extras import require_extra
from excam.inference.loading import load_pretrained, loading

if TYPE_CHECKING:
    import torch

ENCODERS = ("bert", "roberta", "xlm-roberta", "mpnet")  # `model_type` of config.json
EXPECTED = "config.json, *.safetensors and a tokenizer of a sentence encoder"
BATCH, LONGEST = 32, 256  # texts at once; tokens of a text, as all-MiniLM-L6-v2 was trained


def is_encoder(folder: Path) -> bool:
    """Return whether a folder holds a sentence encoder, and not a model that writes."""
    try:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(settings, dict) and settings.get("model_type") in ENCODERS


@dataclass(frozen=True)
class Encoder:
    """A sentence encoder in memory."""

    tokenizer: Any
    model: Any

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Return a vector of length 1 for each text, shape (texts, width): the mean of the last layer.

        Texts are cut after `LONGEST` tokens.
        """
        import torch

        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        rows = []
        with torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                batch = self.tokenizer(
                    texts[start : start + BATCH], padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
                )
                hidden, mask = self.model(**batch).last_hidden_state, batch["attention_mask"][:, :, None]
                mean = (hidden * mask).sum(1) / mask.sum(1)
                rows.append(torch.nn.functional.normalize(mean, dim=1))
        return torch.cat(rows) if rows else torch.zeros(0, 1)

    def cosines(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the cosine of the two texts of each pair."""
        vectors = self.vectors([text for pair in pairs for text in pair])
        return [float(cosine) for cosine in (vectors[::2] * vectors[1::2]).sum(1)]


def open_encoder(folder: Path) -> Encoder:
    """Load the encoder of a folder. Raises ModelInvalid if the folder cannot be loaded."""
    require_extra("inference", "torch", "transformers")
    import torch
    from transformers import AutoModel, AutoTokenizer

    with loading(folder, EXPECTED):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return Encoder(tokenizer, load_pretrained(AutoModel, folder, torch.float32, EXPECTED).eval())


def cosines(folder: Path, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the cosine of the two texts of each pair. Raises ModelInvalid if the folder cannot be loaded."""
    return open_encoder(folder).cosines(pairs)

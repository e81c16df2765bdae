"""Sentence encoders (MiniLM): the cosine of two texts, without a model that writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.extras import require_extra
from excam.core.provenance import Progress
from excam.inference.loading import config_of, load_pretrained, loading

if TYPE_CHECKING:
    import numpy as np
    import torch

ENCODERS = ("bert", "roberta", "xlm-roberta", "mpnet")  # `model_type` of config.json
EXPECTED = "config.json, *.safetensors and a tokenizer of a sentence encoder"
BATCH, LONGEST = 32, 256  # texts at once; tokens of a text, as all-MiniLM-L6-v2 was trained
PART = 512  # texts between two lines of progress


def is_encoder(folder: Path) -> bool:
    """Return whether a folder holds a sentence encoder, and not a model that writes."""
    return config_of(folder).get("model_type") in ENCODERS


@dataclass(frozen=True)
class Encoder:
    """A sentence encoder in memory."""

    tokenizer: Any
    model: Any

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Return a vector of length 1 for each text, shape (texts, width): the mean of the last layer.

        Texts are cut after `LONGEST` tokens. Equal ones are encoded once, those of like length together.
        """
        import torch

        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        place = {text: at for at, text in enumerate(sorted(set(texts), key=lambda text: (-len(text), text)))}
        rows, ordered = [], list(place)
        with torch.inference_mode():
            for start in range(0, len(ordered), BATCH):
                batch = self.tokenizer(
                    ordered[start : start + BATCH],
                    padding=True,
                    truncation=True,
                    max_length=LONGEST,
                    return_tensors="pt",
                )
                hidden, mask = self.model(**batch).last_hidden_state, batch["attention_mask"][:, :, None]
                mean = (hidden * mask).sum(1) / mask.sum(1)
                rows.append(torch.nn.functional.normalize(mean, dim=1))
        return torch.cat(rows)[[place[text] for text in texts]] if rows else torch.zeros(0, 1)

    def half_vectors(self, texts: Sequence[str], what: str) -> np.ndarray:
        """Return `vectors` in float16 as an array, with progress: the longest texts first, so that a part is even."""
        import numpy as np

        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        progress, parts = Progress(f"encoding, {what}", len(texts)), list[np.ndarray]()
        for start in range(0, len(order), PART):
            part = [texts[at] for at in order[start : start + PART]]
            parts.append(self.vectors(part).numpy().astype(np.float16))
            progress.advance(len(part))
        return np.concatenate(parts)[np.argsort(order)]


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
    vectors = open_encoder(folder).vectors([text for pair in pairs for text in pair])
    return [float(cosine) for cosine in (vectors[::2] * vectors[1::2]).sum(1)]

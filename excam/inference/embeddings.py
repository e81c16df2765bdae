"""Embeddings of texts by a local encoder (BERT and its like): one vector a word piece, one a text.

In float32 on the CPU. A text's numbers hardly depend on the texts beside it: batches are of like length, and what pads
them is masked; what is left is rounding of sums, some 1e-7.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from excam.exceptions import ModelInvalid
from excam.inference import chat
from excam.inference.loading import loading

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BATCH = 32  # texts


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model that embeds texts, its tokenizer, and how many tokens it takes, the two around each text among them."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    limit: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """One text. All vectors are of length 1."""

    pieces: NDArray[np.float32]  # [n, d]: the last layer at each word piece; n is 0 where the text has no word
    sentence: NDArray[
        np.float32
    ]  # [d]: the mean over all tokens, as MiniLM is trained; not for a model that takes one token for all
    cut: int  # word pieces that the model could not take
    unknown: int  # of the n, those that stand for something outside the model's vocabulary


def load(folder: Path) -> Encoder:
    """The encoder of a local folder (safetensors only, no code from the folder). Raises ModelInvalid.

    A sentence-embedding model says in `sentence_bert_config.json` how long a text it takes; else its positions are the
    limit.
    """
    import torch
    from transformers import AutoModel

    tokenizer = chat.load_tokenizer(folder)
    if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise ModelInvalid(f"{folder}: its tokenizer puts nothing around a text; expected an encoder, e.g. a BERT")
    with loading(folder):
        model = AutoModel.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
        trained = folder / "sentence_bert_config.json"
        said = json.loads(trained.read_text(encoding="utf-8"))["max_seq_length"] if trained.exists() else None
        limits = (said, tokenizer.model_max_length, model.config.max_position_embeddings)
        shortest = min(int(limit) for limit in limits if limit)
    return Encoder(model.eval(), tokenizer, shortest)


def embed(encoder: Encoder, texts: Sequence[str], batch: int = BATCH) -> list[Embedded]:
    """Every text's embeddings, in the order of the texts; what is longer than the model takes is cut and counted.

    A control token that a text spells out, e.g. `[SEP]`, is read as the words it is written with.
    """
    if not texts:
        return []
    tokenizer, room = encoder.tokenizer, encoder.limit - 2
    told = [chat.well_formed(text) for text in texts]
    as_told: Any = {"add_special_tokens": False, "split_special_tokens": True, "truncation": False, "padding": False}
    ids = tokenizer(told, verbose=False, **as_told)["input_ids"]
    order = sorted(range(len(texts)), key=lambda at: len(ids[at]))
    found: dict[int, Embedded] = {}
    for start in range(0, len(order), batch):
        these = order[start : start + batch]
        kept = [ids[at][:room] for at in these]
        for at, own, states in zip(these, kept, _last_layer(encoder, kept), strict=True):
            found[at] = Embedded(
                pieces=_unit(states[1:-1]),
                sentence=_unit(states.mean(axis=0)),
                cut=len(ids[at]) - len(own),
                unknown=own.count(tokenizer.unk_token_id),
            )
    return [found[at] for at in range(len(texts))]


def _last_layer(encoder: Encoder, texts: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
    """[tokens, d] of each text, the tokens around it among them."""
    import torch

    tokenizer: Any = encoder.tokenizer
    rows = [[tokenizer.cls_token_id, *ids, tokenizer.sep_token_id] for ids in texts]
    longest = max(map(len, rows))
    padded = [row + [tokenizer.pad_token_id or 0] * (longest - len(row)) for row in rows]
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
    with torch.inference_mode():
        answer = encoder.model(input_ids=torch.tensor(padded), attention_mask=torch.tensor(mask))
    states = answer.last_hidden_state.numpy()
    return [own[: len(row)] for own, row in zip(states, rows, strict=True)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of length 1, along the last axis."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

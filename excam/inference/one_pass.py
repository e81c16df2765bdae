"""Likelihoods of answers in conversations that begin alike: one pass, in which each sees the beginning and itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from excam.inference.chat import Encoded

if TYPE_CHECKING:
    import torch


def answer_logprobs(
    model: Any, conversations: Sequence[Encoded], cached: int = 0, cache: Any = None
) -> list[torch.Tensor]:
    """Return the log-probability of each token of each answer, the end of its turn last.

    `cache` has keys and values of the first `cached` ids, which are not computed again.
    """
    import torch

    shared = min(each.shared for each in conversations)
    ids, positions, owner = list(conversations[0].input_ids[:shared]), list(range(shared)), [-1] * shared
    predicting, lengths = list[int](), list[int]()
    for number, each in enumerate(conversations):
        start = len(ids) - shared  # of this conversation, were it whole
        lengths.append(len(each.input_ids) - each.completion_start)
        predicting += range(start + each.completion_start - 1, start + len(each.input_ids) - 1)
        ids += each.input_ids[shared:]
        positions += range(shared, len(each.input_ids))
        owner += [number] * (len(each.input_ids) - shared)
    owners, at, device = torch.tensor(owner), torch.tensor(predicting), model.device
    sees = (owners[cached:, None] == owners) | (owners < 0)
    hidden = torch.zeros(sees.shape, dtype=model.dtype)
    hidden = hidden.masked_fill(~sees.tril(cached), torch.finfo(model.dtype).min)
    scores = model(
        input_ids=torch.tensor([ids[cached:]], device=device),
        position_ids=torch.tensor([positions[cached:]], device=device),
        attention_mask=hidden[None, None].to(device),
        past_key_values=cache,
        use_cache=cache is not None,
        logits_to_keep=(at - cached).to(device),
    ).logits[0]
    of_next = torch.tensor(ids)[at + 1].to(device)
    return list(scores.float().log_softmax(-1).gather(1, of_next[:, None])[:, 0].split(lengths))

"""Rows that are decoded together: which go into one pass, what they share, and their next tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from excam.inference import Sampling

if TYPE_CHECKING:
    import torch

SHORTEST_PREFIX = 64  # tokens that a pass of their own must save at least
PADDING = 16  # tokens of a row; with more, another pass takes less time


def groups_of_like_length(rows: Sequence[Sequence[int]]) -> Iterator[Sequence[Sequence[int]]]:
    """Yield rows, longest first, in groups of little padding: at most `PADDING` tokens, or a quarter of the longest."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or len(rows[start]) - len(rows[at]) > max(PADDING, len(rows[start]) // 4):
            yield rows[start:at]
            start = at


def common_beginning(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the ids with which all begin, of each at least one less; () where that would save few tokens."""
    first, last = min(prompts), max(prompts)  # what these share, all share
    longest = min(map(len, prompts)) - 1
    length = next((at for at in range(longest) if first[at] != last[at]), longest)
    return first[:length] if length * (len(prompts) - 1) >= SHORTEST_PREFIX else ()


def next_tokens(logits: torch.Tensor, chances: Sequence[Random], sampling: Sampling) -> torch.Tensor:
    """Return the next token of each row, [rows, 1]: the likeliest at temperature 0, else sampled.

    One random number is drawn per row.

    Temperature, then top-k, then top-p, as in vLLM and transformers; `logits` are [rows, vocabulary], float32.
    """
    import torch

    if sampling.temperature == 0:
        return logits.argmax(-1, keepdim=True)
    count = min(sampling.top_k, logits.shape[-1]) or logits.shape[-1]
    values, tokens = (logits / sampling.temperature).topk(count, sorted=True)
    probabilities = values.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    probabilities = probabilities.where(before < sampling.top_p, 0.0)
    cumulative = probabilities.cumsum(-1)
    drawn = torch.tensor([[chance.random()] for chance in chances], device=logits.device) * cumulative[:, -1:]
    at = torch.searchsorted(cumulative, drawn, right=True)
    last = (probabilities > 0).sum(-1, keepdim=True) - 1
    return tokens.gather(-1, at.minimum(last))


def padded(rows: Sequence[Sequence[int]], filling: int = 0, *, left: bool = False) -> torch.Tensor:
    """Return rows as a tensor, [rows, longest], filled on the right or on the left."""
    import torch

    longest = max(map(len, rows))
    filled = ([filling] * (longest - len(row)) for row in rows)
    both = ((gap, row) if left else (row, gap) for row, gap in zip(rows, filled, strict=True))
    return torch.tensor([[*first, *last] for first, last in both])

"""A cache of keys and values that writes each next token into spare room behind them.

transformers concatenates, which copies the whole conversation for every token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import pad
from transformers.cache_utils import Cache, DynamicLayer

SPARE_TOKENS = 64


class _AppendingLayer(DynamicLayer):
    """A layer of plain keys and values, [rows, heads, tokens, width], with room for `SPARE_TOKENS` more."""

    def __init__(self, layer: Any) -> None:
        vars(self).update(vars(layer))
        self.rooms: list[torch.Tensor] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        before = self.get_seq_length()
        after = before + key_states.shape[-2]
        if not self.rooms or after > self.rooms[0].shape[-2]:
            spare = max(SPARE_TOKENS, key_states.shape[-2])
            self.rooms = [
                torch.cat([past, past.new_empty(*past.shape[:2], spare, past.shape[3])], dim=-2)
                for past in (self.keys, self.values)
                if past is not None
            ]
        for room, new in zip(self.rooms, (key_states, value_states), strict=True):
            room[:, :, before:after] = new
        keys, values = (room[:, :, :after] for room in self.rooms)
        self.keys, self.values = keys, values
        return keys, values

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        super().reorder_cache(beam_idx)
        self.rooms = []


def join_caches(caches: Sequence[Cache], masks: Sequence[torch.Tensor]) -> tuple[Any, torch.Tensor]:
    """Join caches of keys and values along their rows, and their masks; shorter ones get zeros on the left.

    Each layer of `caches` is released as it is joined: all of them twice would be the most memory that a batch takes.
    """
    longest = max(mask.shape[-1] for mask in masks)
    first, *others = caches
    for layer, *behind in zip(first.layers, *(cache.layers for cache in others), strict=True):
        for name in ("keys", "values"):
            parts = [getattr(part, name) for part in (layer, *behind)]
            setattr(layer, name, torch.cat([pad(part, (0, 0, longest - part.shape[-2], 0)) for part in parts]))
            for part in behind:
                setattr(part, name, None)
    return first, torch.cat([pad(mask, (longest - mask.shape[-1], 0)) for mask in masks])


def append_in_place(cache: Cache) -> None:
    """Let a filled cache of plain keys and values (`DynamicLayer`) append in place."""
    cache.layers[:] = [_AppendingLayer(layer) for layer in cache.layers]

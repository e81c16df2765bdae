"""Attention for packed rows that computes nothing across rows: `attention: rows` in a layout.

With a dense mask every token of a pass is multiplied with every other one. Here PyTorch's variable-length flash kernel
computes a complete pass if it supports tensors and GPU (bfloat16, compute capability 8.0 or later); otherwise rows are
computed one after the other. Both give the same result as a dense mask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from excam.training.layout import ROWS, Layout

if TYPE_CHECKING:
    from torch import Tensor

DENSE = "sdpa"  # the name in transformers
# Arguments with which transformers passes changes of the attention scores.
UNSUPPORTED = ("softcap", "s_aux", "position_bias")


class Heads(NamedTuple):
    """Queries, keys and values of rows end to end, [1, heads, tokens, size]."""

    query: Tensor
    key: Tensor
    value: Tensor


def set_attention(base: Any, layout: Layout) -> None:
    """Set the attention of a loaded model to that of the layout.

    A model without support for flash attention keeps the dense one, because it relies on masks.
    """
    from transformers import AttentionInterface

    AttentionInterface.register(ROWS, within_rows)
    wanted = layout.attention if layout.attention != ROWS or base._supports_flash_attn else DENSE
    base.set_attn_implementation(wanted)


def use_padded_attention(model: Any) -> None:
    """Set the attention of a trained model to one that supports padded rows."""
    model.get_base_model().set_attn_implementation(DENSE)


def describe_attention(model: Any) -> str:
    """Return a description of the attention that the model uses on its device."""
    import torch

    config = model.config.get_text_config()
    if config._attn_implementation != ROWS:
        return config._attn_implementation
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    head = torch.empty(1, 1, 1, size, dtype=torch.bfloat16, device=model.device, requires_grad=True)
    return "rows by PyTorch's flash kernel" if _kernel_takes(head, head, head) else "rows one after the other"


def within_rows(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    sliding_window: int | None = None,
    cu_seq_lens_q: Tensor | None = None,
    max_length_q: int | None = None,
    **more: Any,
) -> tuple[Tensor, None]:
    """Return causal attention within rows whose bounds are in `cu_seq_lens_q`; the interface is transformers'.

    Raise ValueError for unsupported cases: padded rows, bidirectional attention, changed scores.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    strange = [name for name in UNSUPPORTED if more.get(name) is not None]
    strange += [] if more.get("is_causal") is not False and getattr(module, "is_causal", True) else ["both directions"]
    if strange or cu_seq_lens_q is None or max_length_q is None or attention_mask is not None:
        reason = ", ".join(strange) or "rows of no known length"
        raise ValueError(f"attention: rows: {reason}; expected rows end to end and plain causal attention")
    if torch.is_autocast_enabled(query.device.type):
        kind = torch.get_autocast_dtype(query.device.type)
        query, key, value = query.to(kind), key.to(kind), value.to(kind)
    window = sliding_window if sliding_window and sliding_window < max_length_q else None
    heads = Heads(query, key, value)
    if not dropout and _kernel_takes(*heads):
        return _by_kernel(heads, cu_seq_lens_q, max_length_q, scaling, window), None
    attend = partial(sdpa_attention_forward, module, dropout=dropout, scaling=scaling)
    return _row_by_row(heads, cu_seq_lens_q, window, attend), None


def _kernel_takes(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Return whether the flash kernel supports these tensors, according to PyTorch."""
    from torch.backends.cuda import SDPAParams, can_use_flash_attention

    if not query.is_cuda or query.shape[-1] % 8:  # PyTorch pads heads only for rows of equal length
        return False
    return can_use_flash_attention(SDPAParams(query, key, value, None, 0.0, True, True))


def _by_kernel(heads: Heads, bounds: Tensor, longest: int, scaling: float | None, window: int | None) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    query, key, value = (tensor[0].transpose(0, 1) for tensor in heads)
    seen = (window - 1 if window else -1, 0)  # tokens before and after; the window includes the token itself
    out: Any = varlen_attn(
        query, key, value, bounds, bounds, longest, longest, scale=scaling, window_size=seen, enable_gqa=True
    )
    return out[None]


def _row_by_row(heads: Heads, bounds: Tensor, window: int | None, attend: Callable[..., tuple[Tensor, None]]) -> Tensor:
    """`attend` takes the queries, keys and values of a row, and its mask."""
    import torch

    done: list[Tensor] = []
    for start, end in pairwise(bounds.tolist()):
        mask = None
        if window and window < end - start:
            mask = torch.ones(end - start, end - start, dtype=torch.bool, device=bounds.device).tril().triu(1 - window)
            mask = mask[None, None]
        done.append(attend(*(tensor[:, :, start:end] for tensor in heads), mask)[0])
    return torch.cat(done, dim=1)

"""What `bench.taught_card` computes on a card, with torch, transformers and peft, and no module of the package.

Everything goes in and comes out as token ids. Weights are float32 under autocast to bfloat16 while they are trained,
and rounded to bfloat16 afterwards, as the workflow publishes them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

RowT = TypeVar("RowT")
IGNORED = -100  # label of a token without loss
PASS_TOKENS = 8192  # padded tokens of a forward and backward pass


@dataclass(frozen=True)
class Schedule:
    """How weights are trained: AdamW, cosine after a warm-up, gradients clipped at 1."""

    learning_rate: float
    warmup_steps: int
    weight_decay: float
    rows_per_step: int


def device() -> str:
    """Return the name of what there is to compute on."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def load(folder: Path) -> Any:
    """Return the causal language model in a folder, in float32, on the device."""
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, attn_implementation="sdpa"
    )
    return model.to(device())


def with_lora(model: Any, rank: int, alpha: int, seed: int) -> Any:
    """Return the model with a LoRA on all its linear layers."""
    from peft import LoraConfig, get_peft_model
    from transformers import set_seed

    set_seed(seed)
    settings = LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear", task_type="CAUSAL_LM")
    return get_peft_model(model, settings)


def train(
    model: Any, rows: Sequence[tuple[Sequence[int], int]], schedule: Schedule, name: str, say: Callable[[str], None]
) -> dict[str, Any]:
    """Train what can be trained on rows (ids, ids at the start that have no loss), in their order; return what it took.

    A rest of fewer than `rows_per_step` rows is left out.
    """
    import torch
    from transformers import get_cosine_schedule_with_warmup

    started, kind = time.monotonic(), device()
    size = schedule.rows_per_step
    steps = len(rows) // size
    optimizer = torch.optim.AdamW(
        _groups(model, schedule.weight_decay),
        lr=schedule.learning_rate,
        betas=(0.9, 0.95),
        fused=kind == "cuda",
    )
    rate = get_cosine_schedule_with_warmup(optimizer, schedule.warmup_steps, steps)
    losses = []
    model.train()
    for step in range(steps):
        batch = rows[step * size : (step + 1) * size]
        supervised = sum(len(ids) - max(1, start) for ids, start in batch)
        loss = 0.0
        for part in passes(batch, lambda row: len(row[0]), PASS_TOKENS):
            ids, mask, labels = _batch(part)
            with torch.autocast(kind, dtype=torch.bfloat16):
                logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
            part_loss = torch.nn.functional.cross_entropy(
                logits.float().reshape(-1, logits.shape[-1]),
                labels[:, 1:].reshape(-1),
                ignore_index=IGNORED,
                reduction="sum",
            )
            (part_loss / supervised).backward()
            loss += float(part_loss.detach()) / supervised
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        rate.step()
        if step % 25 == 0 or step == steps - 1:
            losses.append(round(loss, 4))
            say(f"{name}: step {step + 1} of {steps}, loss {losses[-1]}")
    seconds = time.monotonic() - started
    tokens = sum(len(ids) for ids, _ in rows[: steps * size])
    return {"steps": steps, "tokens": tokens, "seconds": round(seconds, 1), "losses": losses}


def _groups(model: Any, decay: float) -> list[dict[str, Any]]:
    """Return the trained parameters in two groups: matrices, which decay, and vectors."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in trained if parameter.ndim > 1], "weight_decay": decay},
        {"params": [parameter for parameter in trained if parameter.ndim < 2], "weight_decay": 0.0},
    ]


def passes(rows: Iterable[RowT], tokens_of: Callable[[RowT], int], most: int) -> Iterator[list[RowT]]:
    """Yield rows in parts of at most `most` padded tokens, at least a row each: logits need much memory."""
    part: list[RowT] = []
    longest = 0
    for row in rows:
        longest = max(longest, tokens_of(row))
        if part and longest * (len(part) + 1) > most:
            yield part
            part, longest = [], tokens_of(row)
        part.append(row)
    yield part


def _batch(rows: Sequence[tuple[Sequence[int], int]]) -> tuple[Any, Any, Any]:
    """Return ids, mask and labels of rows, padded on the right."""
    import torch

    longest = max(len(ids) for ids, _ in rows)
    ids = [[*row, *[0] * (longest - len(row))] for row, _ in rows]
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row, _ in rows]
    labels = [[IGNORED] * start + list(row[start:]) + [IGNORED] * (longest - len(row)) for row, start in rows]
    return tuple(torch.tensor(values, device=device()) for values in (ids, mask, labels))  # pyright: ignore[reportReturnType]


def round_weights(model: Any) -> Any:
    """Round all weights to bfloat16, in place, and return the model in float32."""
    import torch

    return model.to(torch.bfloat16).to(torch.float32)


def save(model: Any, folder: Path) -> None:
    """Write the weights of a model, in bfloat16; the folder is complete once it has its name."""
    import torch

    part = folder.with_name(f".{folder.name}.part")
    model.to(torch.bfloat16).save_pretrained(part)
    part.rename(folder)
    model.to(torch.float32)


def log_likelihoods(model: Any, rows: Sequence[tuple[Sequence[int], int]], batch: int) -> list[float]:
    """Return for rows (ids, length of the prompt) the log-probability of what follows the prompt, in nats."""
    import torch

    sums = []
    model.eval()
    for part in _parts(rows, batch):
        ids, mask, labels = _batch(part)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
        wanted = labels[:, 1:]
        losses = torch.nn.functional.cross_entropy(
            logits.float().transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
        )
        sums += [-float(loss) for loss in losses.sum(1)]
    return sums


def answers(
    model: Any, prompts: Sequence[Sequence[int]], stops: Sequence[int], longest: int, batch: int
) -> Iterator[list[int]]:
    """Yield the ids of a greedy answer to each prompt, the token that ended it included; at most `longest` ids.

    On a card the model is in bfloat16 from then on.
    """
    import torch

    model.to(torch.bfloat16 if device() == "cuda" else torch.float32).eval()
    for part in _parts(prompts, batch):
        width = max(map(len, part))
        ids = torch.tensor([[0] * (width - len(prompt)) + list(prompt) for prompt in part], device=device())
        mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in part], device=device())
        with torch.inference_mode():
            made = model.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=False,
                max_new_tokens=longest,
                eos_token_id=list(stops),
                pad_token_id=stops[0],
            )
        for row in made[:, width:].tolist():
            end = next((at + 1 for at, token in enumerate(row) if token in stops), len(row))
            yield row[:end]


def _parts(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


def set_seeds(seed: int) -> None:
    """Seed every source of chance."""
    import torch

    random.seed(seed)
    torch.manual_seed(seed)

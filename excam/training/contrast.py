"""Train an adapter to tell a right answer from a wrong one of the same passages.

A right answer is to become likelier by its question than without it, a wrong one less likely. Answers about the same
passages are computed in one pass, in which each sees the passages and itself alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Recipe
from excam.core.provenance import Progress
from excam.inference import Message, chat
from excam.inference.one_pass import answer_logprobs
from excam.training import sft, trainers

if TYPE_CHECKING:
    import torch

WARM_UP = 10  # passes
TO_STATE = 0.2  # the weight of the likelihood of right answers, so that the adapter can also write them
LONGEST_NORM = 1.0  # of a gradient
SLOPE, CURVE_RATE = 0.2, 0.01  # at the start; the learning rate


@dataclass(frozen=True, slots=True)
class Example:
    """An answer behind a conversation with its question, and behind the same without it; both begin alike."""

    asked: tuple[Message, ...]
    unasked: tuple[Message, ...]
    answer: str
    right: bool


def lifts(model: Any, tokenizer: Any, group: Sequence[Example]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return how much likelier its question makes each answer, and how likely it makes each of its tokens, in nats.

    Answers share their first message and one pass. The end of a turn is a token, but no part of an answer.
    """
    encoded = [chat.encode(tokenizer, messages, row.answer) for row in group for messages in (row.asked, row.unasked)]
    logprobs = answer_logprobs(model, encoded)
    pairs = zip(logprobs[::2], logprobs[1::2], strict=True)
    return [((by_question - alone)[:-1].sum(), by_question) for by_question, alone in pairs]


def train(
    weights: Path, groups: Sequence[Sequence[Example]], recipe: Recipe, seed: int, folder: Path
) -> tuple[list[float], Callable[[Sequence[Sequence[Example]]], list[float]]]:
    """Train an adapter and write it into `folder`: each group, with right answers and wrong ones, is a step.

    Return the mean loss of each epoch, and what computes the lifts of other groups: of each answer, in order, how much
    likelier its question makes it, without the end of its turn. Raise ModelInvalid for a base that cannot be loaded.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits
    from transformers import set_seed

    set_seed(seed)
    tokenizer = chat.load_tokenizer(weights)
    model = sft.with_lora(trainers.load_base(weights, torch.float32), recipe).train()
    curve = torch.nn.Parameter(torch.tensor([SLOPE, 0.0]))  # of the log-odds by the lift
    matrices = [parameter for parameter in model.parameters() if parameter.requires_grad]
    adam = torch.optim.AdamW(
        [{"params": matrices, "lr": recipe.learning_rate}, {"params": [curve], "lr": CURVE_RATE}], weight_decay=0.0
    )
    starts = range(0, int(recipe.epochs) * len(groups), len(groups))
    order = [at for start in starts for at in random.Random(f"{seed}/{start}").sample(range(len(groups)), len(groups))]
    steps, losses = len(order), [0.0 for _ in starts]
    progress = Progress("training, groups", steps)
    for step, at in enumerate(order):
        group = groups[at]
        adam.param_groups[0]["lr"] = recipe.learning_rate * min(1.0, (step + 1) / WARM_UP) * (1 - step / steps)
        made = lifts(model, tokenizer, group)
        odds = curve[0] * torch.stack([lift for lift, _ in made]) + curve[1]
        is_right = torch.tensor([float(row.right) for row in group])
        stated = torch.stack(
            [logprobs.mean() for (_, logprobs), row in zip(made, group, strict=True) if row.right]
        ).mean()
        loss = binary_cross_entropy_with_logits(odds, is_right) - TO_STATE * stated
        loss.backward()
        torch.nn.utils.clip_grad_norm_(matrices, LONGEST_NORM)
        adam.step()
        adam.zero_grad()
        losses[step // len(groups)] += loss.item() / len(groups)
        progress.advance(1)
    model.save_pretrained(str(folder))
    model.eval()

    def lifts_of(others: Sequence[Sequence[Example]]) -> list[float]:
        with torch.inference_mode():
            return [float(lift) for group in others for lift, _ in lifts(model, tokenizer, group)]

    return losses, lifts_of

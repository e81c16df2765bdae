"""Subclasses of TRL's SFTTrainer: rows in a given order, a faster loss on a CPU, and no attention across rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import ModelInvalid, in_a_line
from excam.inference.loading import load_pretrained
from excam.training.layout import ROWS, Layout
from excam.training.tokens import IGNORED_LABEL, Row

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase, TrainerCallback

SHORT_ROW_TOKENS = 384  # tokens up to which the quadratic memory of plain attention is small


def build_trainer(
    kind: Any,
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    ordered: Sequence[Row],
    layout: Layout,
    arguments: Mapping[str, Any],
) -> Any:
    """Return a trainer of class `kind` for ordered rows; `arguments` are those of SFTConfig.

    Args:
        kind: a class of trainer
        model: that is trained
        tokenizer: of the model
        ordered: rows in the order of training
        layout: processes, device and memory
        arguments: of SFTConfig
    """
    from datasets import Dataset
    from trl.trainer.sft_config import SFTConfig

    data = Dataset.from_list([dict(row) for row in ordered])
    trainer = kind(model=model, args=SFTConfig(**arguments), train_dataset=data, processing_class=tokenizer)
    if layout.checkpointing == "half":
        trainer.add_callback(_half_checkpointing())
    return trainer


def load_base(weights: Path, dtype: torch.dtype) -> Any:
    """Return the base model of a folder. Raise ModelInvalid."""
    from transformers import AutoModelForCausalLM

    if not any(weights.glob("*.safetensors")):
        raise ModelInvalid(f"{weights}: no *.safetensors; expected the folder of a fetched model")
    return load_pretrained(AutoModelForCausalLM, weights, dtype)


def in_given_order(kind: Any) -> Any:
    """Return a subclass of a class of trainers that reads the rows in the given order."""
    from torch.utils.data import SequentialSampler

    class InGivenOrder(kind):
        def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
            return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)

    return InGivenOrder


def trainer_class(layout: Layout) -> Any:
    """Return the trainer class for a layout: rows in the given order and, on a CPU, the same loss in less time.

    Without Triton, TRL computes logits for every position, also masked ones: half of the time and a gigabyte on a CPU.
    The loss here is the same sum over supervised tokens, divided by their number in the whole step. The adapter's
    matrices are cast to bfloat16 instead of every activation to float32 (as Trainer does on a GPU), and short rows use
    plain attention, whose backward pass is several times faster on a CPU than the fused one.
    """
    from peft.helpers import disable_input_dtype_casting
    from trl.trainer.sft_trainer import SFTTrainer

    class SeparatedRows(in_given_order(SFTTrainer)):
        unproven = layout.padding == "free"

        def training_step(self, model: Any, inputs: Any, *args: Any, **options: Any) -> Any:
            if self.unproven:
                refuse_leak(model, self._prepare_inputs(inputs))
                self.unproven = False
            loss: Any = 0  # each part contributes the sum over its tokens, divided by the tokens of the whole step
            for part in split_batch(inputs, layout.tokens_per_pass):
                loss = loss + super().training_step(model, part, *args, **options)
            return loss

        def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
            if self.is_fsdp_enabled:  # by default it would also gather the frozen base in one process's memory
                self._save(output_dir, state_dict=adapter_weights(self))
            else:
                super().save_model(output_dir, _internal_call)

    class OnCpu(SeparatedRows):
        def train(self, *args: Any, **options: Any) -> Any:
            # around everything: with checkpointing, layers run again in the backward pass and need the same types
            with disable_input_dtype_casting(self.model):  # pyright: ignore
                return super().train(*args, **options)

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            if layout.attention != ROWS:
                base: Any = self.accelerator.unwrap_model(model).get_base_model()  # pyright: ignore
                base.set_attn_implementation("eager" if inputs["labels"].shape[1] <= SHORT_ROW_TOKENS else "sdpa")
            return supervised_loss(self, model, inputs, num_items_in_batch)

    return SeparatedRows if layout.device == "gpu" else OnCpu


def supervised_loss(trainer: Any, model: Any, inputs: Mapping[str, Any], tokens: Any) -> Any:
    """Return the cross-entropy of a batch, computed at supervised positions alone: divided by `tokens`, if it is given.

    `tokens` is the number of supervised tokens of the whole step.
    """
    import torch

    base: Any = trainer.accelerator.unwrap_model(model).get_base_model()
    labels = inputs["labels"][:, 1:]
    with torch.autocast(labels.device.type, dtype=torch.bfloat16, enabled=base.dtype == torch.bfloat16):
        read = {key: value for key, value in inputs.items() if key != "labels"}
        hidden = base.get_decoder()(**read, use_cache=False).last_hidden_state
    supervised = labels != IGNORED_LABEL
    logits = base.get_output_embeddings()(hidden[:, :-1][supervised]).float()
    loss = torch.nn.functional.cross_entropy(logits, labels[supervised], reduction="sum")
    if tokens is None:
        return loss / supervised.sum()
    return loss / tokens * trainer.accelerator.num_processes  # gradients are averaged over processes


def adapter_weights(trainer: Any) -> dict[str, Any]:
    """Return the complete trained weights by name in the first process, an empty dictionary in the others.

    With sharded weights all processes must call this; they gather the adapter only, not the frozen base.
    """
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    if not trainer.is_fsdp_enabled:
        return trainer.accelerator.get_state_dict(trainer.model)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True)
    return get_model_state_dict(trainer.model, options=options)


def split_batch(inputs: dict[str, Any], most: int | None) -> list[dict[str, Any]]:
    """Split packed rows into batches of at most `most` tokens, in the collator's format; a longer row is on its own.

    Raise ModelInvalid if the batch has fields that cannot be split.
    """
    import torch

    total = inputs["input_ids"].shape[1]
    if most is None or total <= most:
        return [inputs]
    ends = inputs["cu_seq_lens_q"].tolist()[1:]
    cuts = [0]
    for row, end in zip([0, *ends], ends, strict=False):
        if end - cuts[-1] > most and row > cuts[-1]:
            cuts.append(row)
    parts: list[dict[str, Any]] = []
    for start, end in pairwise([*cuts, total]):
        bounds = (
            torch.tensor([start, *(row_end for row_end in ends if start < row_end <= end)], dtype=torch.int32) - start
        )
        lengths = bounds.diff()
        rows = torch.repeat_interleave(torch.arange(len(lengths), dtype=torch.int32), lengths)[None]
        batch = {
            **{n: inputs[n][:, start:end] for n in ("input_ids", "labels", "position_ids") if n in inputs},
            **dict.fromkeys(("cu_seq_lens_q", "cu_seq_lens_k"), bounds.to(inputs["cu_seq_lens_q"].device)),
            **dict.fromkeys(("max_length_q", "max_length_k"), int(lengths.max())),
            "seq_idx": rows.to(inputs["input_ids"].device),
        }
        if batch.keys() != inputs.keys():  # a new version of TRL has other fields
            raise ModelInvalid(
                f"a step of {total} tokens holds {', '.join(sorted(inputs.keys() ^ batch.keys()))}, which cannot be "
                "parted; choose a training.layout without tokens_per_pass"
            )
        parts.append(batch)
    return parts


def refuse_leak(model: Any, inputs: dict[str, Any]) -> None:
    """Raise ModelInvalid if a packed row attends to the row before it, or if the model does not support packing.

    Packed rows are separated only if the attention knows their bounds, and libraries merely warn if it does not. So
    this is tested on the first batch: changing the previous row must not change the last row's logits.
    """
    import torch

    read = {key: value for key, value in inputs.items() if key != "labels"}
    starts = (read["position_ids"][0] == 0).nonzero().flatten()
    if len(starts) < 2:
        return
    other = read["input_ids"].clone()
    before = slice(int(starts[-2]), int(starts[-1]))
    other[0, before] = other[0, before].flip(0)
    was_training = model.training
    model.eval()  # no dropout in both passes
    try:
        with torch.no_grad(), torch.autocast(read["input_ids"].device.type, dtype=torch.bfloat16):
            seen = [
                model(**{**read, "input_ids": ids}, use_cache=False, logits_to_keep=4).logits.float()
                for ids in (read["input_ids"], other)
            ]
    except (ImportError, NotImplementedError, ValueError) as problem:  # as Qwen3.5 without causal_conv1d
        raise ModelInvalid(
            f"rows laid end to end: this base cannot take them here: {in_a_line(problem)}; expected its kernel for "
            "that; choose training.layout single-padded, or another with padding: padded"
        ) from None
    model.train(was_training)
    apart = float((seen[0] - seen[1]).abs().max())
    if apart > 0.01 * float(seen[0].abs().max()):
        raise ModelInvalid(
            f"rows laid end to end see each other (logits move by {apart:.2g}): this attention does not keep them "
            "apart; choose a training.layout with padding: padded, or another attention"
        )


def _half_checkpointing() -> TrainerCallback:
    """Return a callback that turns off activation checkpointing in every other layer."""
    from transformers import TrainerCallback
    from transformers.modeling_layers import GradientCheckpointingLayer

    class EveryOther(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
            for layer in layers[1::2]:
                layer.gradient_checkpointing = False

    return EveryOther()

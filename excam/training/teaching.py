"""Continued pre-training of all weights on a corpus: a base model that knows what the corpus states.

The corpus is read in its order, joined and cut into rows of equal length; the loss is on every token.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Teaching
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.inference import Message, chat
from excam.inference.sources import TOKENIZER, matching_files
from excam.training import trainers
from excam.training.checkpoints import MARK, TrainingRun, exclusive_lock, last_complete_checkpoint, progress_callback

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Text = str | Sequence[str]  # a text, or the turns of a conversation: user, assistant, user, ...


def teach(run: TrainingRun, texts: Iterable[Text], settings: Teaching) -> dict[str, Any]:
    """Train all weights of a base on texts, publish weights and tokenizer, and return facts for a manifest.

    Weights are float32 while they are trained and
    bfloat16 when published; one process, on a card where there is one. Continue from the last complete checkpoint of
    the same run. Raise InputInvalid if there is less text than one step needs, or if a checkpoint is of another seed.
    """
    import torch
    from transformers import set_seed

    with exclusive_lock(run.checkpoints, run.name):
        set_seed(run.seed)
        tokenizer = chat.load_tokenizer(run.weights)
        rows = cut_rows(tokenizer, texts, settings.block)
        wanted = len(rows) // settings.rows_per_step * settings.rows_per_step
        if not wanted:
            raise InputInvalid(
                f"{run.name}: a corpus of {len(rows)} rows of {settings.block} tokens; expected at least "
                f"rows_per_step={settings.rows_per_step}"
            )
        everything = [run.base, str(run.version), settings.weight_settings, rows[:wanted]]
        digest = hashlib.sha256(json.dumps(everything).encode()).hexdigest()
        _refuse_other_seed(run.checkpoints, digest, run.seed, run.name)
        run_id = f"{digest}/{run.seed}"
        last = last_complete_checkpoint(run.checkpoints, run_id)
        if last:
            say(f"{run.name}: goes on from {last.name}")
        base = trainers.load_base(run.weights, torch.float32)
        trainer = _trainer(base, rows[:wanted], settings, run.seed, run.checkpoints)
        steps = wanted // settings.rows_per_step
        trainer.add_callback(progress_callback(trainer, run.name, run_id, steps, last))
        started = time.monotonic()
        trainer.train(resume_from_checkpoint=str(last) if last else None)
        seconds = time.monotonic() - started
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        _publish(trainer.model, run.weights, run.folder)
    return {
        "seed": run.seed,
        "steps": trainer.state.global_step,
        "tokens": wanted * settings.block,
        "training_seconds": round(seconds, 1),
        "resumed_from": last.name if last else None,
        "first_loss": losses[0],
        "final_loss": losses[-1],
    }


def cut_rows(tokenizer: PreTrainedTokenizerBase, texts: Iterable[Text], length: int) -> list[list[int]]:
    """Return the texts as rows of `length` token ids: one after the other, each followed by its end; a rest is cut."""
    joined = [token_id for text in texts for token_id in _ids(tokenizer, text)]
    return [joined[at : at + length] for at in range(0, len(joined) - length + 1, length)]


def _ids(tokenizer: PreTrainedTokenizerBase, text: Text) -> Iterator[int]:
    if isinstance(text, str):
        yield from tokenizer(text, add_special_tokens=False)["input_ids"]  # pyright: ignore
        yield chat.end_of_turn(tokenizer) if tokenizer.eos_token_id is None else int(tokenizer.eos_token_id)  # pyright: ignore
        return
    *before, answer = [Message("assistant" if place % 2 else "user", content) for place, content in enumerate(text)]
    yield from chat.encode(tokenizer, before, answer.content).input_ids


def _trainer(model: Any, rows: list[list[int]], settings: Teaching, seed: int, checkpoints: Path) -> Any:
    import torch
    from datasets import Dataset
    from transformers import Trainer, TrainingArguments, default_data_collator

    arguments = TrainingArguments(
        **trainers.run_settings(checkpoints, settings.save_steps, seed),
        per_device_train_batch_size=settings.rows_per_step,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup_steps,
        weight_decay=0.01,
        adam_beta1=0.9,
        adam_beta2=0.95,
        max_grad_norm=1.0,
        bf16=True,
        use_cpu=not torch.cuda.is_available(),
        logging_steps=10,
    )
    data = Dataset.from_dict({"input_ids": rows, "labels": rows})
    kind = trainers.in_given_order(Trainer)
    return kind(model=model, args=arguments, train_dataset=data, data_collator=default_data_collator)


def _refuse_other_seed(checkpoints: Path, digest: str, seed: int, name: str) -> None:
    """Raise InputInvalid if a checkpoint is of this run but for its seed: it would not be continued but deleted."""
    for mark in sorted(checkpoints.glob(f"checkpoint-*/{MARK}")):
        run_digest, _, other = json.loads(mark.read_text(encoding="utf-8"))["run"].partition("/")
        if run_digest == digest and other != str(seed):
            raise InputInvalid(
                f"{name}: {mark.parent} is of seed {other}; expected seed {seed}; set the seed back, or delete "
                f"{checkpoints}"
            )


def _publish(model: Any, weights: Path, folder: Path) -> None:
    import torch

    scratch = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    model.to(torch.bfloat16).save_pretrained(scratch)
    for file in matching_files(weights, TOKENIZER):
        if not (scratch / file.name).exists():
            shutil.copyfile(file, scratch / file.name)
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)

"""LoRA fine-tuning on error reports (Appendix B, spec 45-50): TRL's SFTTrainer, PEFT, and our own order of rows.

The order of rows is fixed before training starts (a function of seed and row ids), so a resumed run sees exactly the
batches of an uninterrupted one, on however many processes. What is learnt is the recipe's, on what is the layout's.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import random
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Recipe
from excam.exceptions import ConfigInvalid, InputInvalid, ModelInvalid
from excam.inference.chat import load_tokenizer
from excam.provenance import Progress, publish, say, write_json
from excam.training import devices, tokens
from excam.training.layout import Layout
from excam.training.tokens import IGNORED, Row
from excam.versions import stage_version

if TYPE_CHECKING:
    import polars as pl
    from peft import PeftModel
    from transformers import PreTrainedTokenizerBase, TrainerCallback

PUBLISHED = ("adapter_model.safetensors", "adapter_config.json", "loss.csv")
EYES = r".*(vision_tower|multi_modal_projector).*"  # of Gemma 3: no text trains them
SHORT = 384  # tokens: where plain attention, which keeps a square of them per head and layer, is still small
MARK = "whole.json"  # written into a checkpoint when everything else of it is there


def train(
    *,
    weights: Path,
    base: str,
    rows: pl.DataFrame,
    recipe: Recipe,
    layout: Layout,
    seed: int,
    checkpoints: Path,
    folder: Path,
    name: str,
) -> dict[str, Any] | None:
    """Train an adapter on `rows` (see `tokens.SCHEMA`), publish it in `folder`, and return facts for its manifest.

    `weights` is the folder of the base model, `base` a digest of what is in it. Of several processes the first one
    publishes; the others return None. Continues from the last whole checkpoint of the same run in `checkpoints`.
    Raises InputInvalid when a row is longer than `recipe.max_length`, ConfigInvalid or ModelInvalid when recipe, layout
    and base do not go together, before anything is trained.
    """
    from transformers import set_seed

    layout.passes(recipe.rows_per_step)
    tracker = _tracker(recipe.report_to, name)
    devices.claim(layout, weights)
    with _alone(checkpoints, name):
        seed = recipe.seed if recipe.seed is not None else seed
        set_seed(seed)
        tokenizer = load_tokenizer(weights)
        kept = tokens.fitting(rows, recipe)
        ordered = tokens.labelled(in_order(kept, recipe, seed), recipe.loss)
        model = _with_adapter(weights, recipe, layout)
        everything = [base, stage_version("train_adapter"), recipe.decides, layout.model_dump(), seed, ordered]
        run_id = hashlib.sha256(json.dumps(everything).encode()).hexdigest()
        last = _last_whole(checkpoints, run_id)
        if last and not devices.rank():
            say(f"{name}: goes on from {last.name}")
        told = settings(recipe, layout, seed, checkpoints) | tracker
        trainer = assembled(trainer_class(layout), model, tokenizer, ordered, layout, told)
        trainer.add_callback(_watcher(trainer, name, run_id, len(ordered) // recipe.rows_per_step, last))
        started = time.monotonic()
        with devices.explained(layout):
            trainer.train(resume_from_checkpoint=str(last) if last else None)
        seconds = time.monotonic() - started
        history = [entry for entry in trainer.state.log_history if "loss" in entry]
        _publish(trainer, folder, history, name)
    if not trainer.is_world_process_zero():
        return None
    seen = ordered[recipe.rows_per_step * int(last.name.split("-")[1]) :] if last else ordered
    return {
        "rows": kept.height,
        "rows_too_long": rows.height - kept.height,
        "steps": trainer.state.global_step,
        "tokens": sum(len(row["input_ids"]) for row in ordered),
        "supervised_tokens": sum(sum(label != IGNORED for label in row["labels"]) for row in ordered),
        "training_seconds": round(seconds, 1),
        "resumed_from": last.name if last else None,
        "final_loss": history[-1]["loss"] if history else None,
        **devices.measured(model, sum(len(row["input_ids"]) for row in seen), seconds),
    }


def _tracker(report_to: str, name: str) -> dict[str, str]:
    """What SFTConfig is told to follow the loss elsewhere too. Raises ConfigInvalid when the package is not there."""
    if report_to == "none":
        return {}
    packages = {"tensorboard": ("tensorboard", "tensorboardX"), "trackio": ("trackio",)}[report_to]
    if not any(map(find_spec, packages)):
        raise ConfigInvalid(
            f"training.report_to: {report_to}: no package {packages[-1]}; pip install {packages[-1]}, or set it to none"
        )
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(Path("logs", "tensorboard", name))
    os.environ["TRACKIO_DIR"] = str(Path("logs", "trackio"))
    return {"report_to": report_to, "project": "excam", "run_name": name}


@contextmanager
def _alone(checkpoints: Path, name: str) -> Iterator[None]:
    """No other job may train the same adapter meanwhile. Raises ModelInvalid when one does."""
    if devices.rank():
        yield
        return
    checkpoints.parent.mkdir(parents=True, exist_ok=True)
    lock = checkpoints.with_name(f".{checkpoints.name}.lock")
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back by close, also when the process is killed
        except BlockingIOError:
            raise ModelInvalid(f"{name}: another job is training it; wait for that one, or stop it first") from None
        yield


def in_order(rows: pl.DataFrame, recipe: Recipe, seed: int) -> pl.DataFrame:
    """All epochs' rows in the order they are seen, whole steps only; `length` makes steps of like prompts.

    `rows` has the columns of `tokens.SCHEMA`. Raises InputInvalid when there are less than a step's.
    """
    wanted = int(rows.height * recipe.epochs) // recipe.rows_per_step * recipe.rows_per_step
    if not wanted:
        raise InputInvalid(
            f"{rows.height} training rows; expected at least training.rows_per_step={recipe.rows_per_step}"
        )
    prompts = rows["prompt_tokens"].to_list()
    ordered: list[int] = []
    epoch = 0
    while len(ordered) < wanted:
        chance = random.Random(f"{seed}/{epoch}")
        shuffled = chance.sample(range(rows.height), rows.height)
        if recipe.order == "length":
            # by the prompt alone: reports are longer than "no error", so whole rows would part right from wrong ones
            shuffled.sort(key=prompts.__getitem__)
            size = recipe.rows_per_step
            steps = [shuffled[at : at + size] for at in range(0, len(shuffled), size)]
            shuffled = [row for step in chance.sample(steps, len(steps)) for row in step]
        ordered += shuffled
        epoch += 1
    return rows[ordered[:wanted]]


def _with_adapter(weights: Path, recipe: Recipe, layout: Layout) -> PeftModel:
    import torch
    from transformers import AutoModelForCausalLM

    if not any(weights.glob("*.safetensors")):
        raise ModelInvalid(f"{weights}: no *.safetensors; expected the folder of a fetched model")
    base = AutoModelForCausalLM.from_pretrained(
        weights,
        dtype=torch.bfloat16,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
        attn_implementation=layout.attention,
    )
    return with_lora(base, recipe)


def with_lora(base: Any, recipe: Recipe) -> PeftModel:
    """The base model with untrained LoRA matrices. Raises ModelInvalid when `targets` names no module of it."""
    from peft import LoraConfig, get_peft_model

    lora = LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=recipe.targets,
        exclude_modules=EYES if any(re.fullmatch(EYES, name) for name, _ in base.named_modules()) else None,
        task_type="CAUSAL_LM",
    )
    try:
        return get_peft_model(base, lora)  # pyright: ignore[reportReturnType]
    except ValueError as problem:
        first = str(problem).splitlines()[0]
        raise ModelInvalid(f"training.targets: {recipe.targets}: {first}") from None


def settings(recipe: Recipe, layout: Layout, seed: int, checkpoints: Path) -> dict[str, Any]:
    """What SFTConfig is told: the recipe, the layout, and nothing left to its defaults that moves a result."""
    on_gpu = layout.device == "gpu"
    return {
        "output_dir": str(checkpoints),
        "per_device_train_batch_size": layout.rows_per_pass,
        "gradient_accumulation_steps": layout.passes(recipe.rows_per_step),
        "num_train_epochs": 1,  # the rows given already hold every epoch
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup_steps,
        "weight_decay": recipe.weight_decay,
        "adam_beta1": recipe.beta1,
        "adam_beta2": recipe.beta2,
        "max_grad_norm": recipe.max_grad_norm,
        "max_length": None,  # rows were measured before
        "packing": False,
        "padding_free": layout.padding == "free",
        "gradient_checkpointing": layout.checkpointing != "off",
        "deepspeed": layout.deepspeed,
        "fsdp": bool(layout.fsdp) or None,
        "fsdp_config": {"version": 2, **layout.fsdp} if layout.fsdp else None,
        "accelerator_config": {"use_configured_state": bool(layout.deepspeed) and not on_gpu},  # see `devices`
        "bf16": on_gpu,
        "use_cpu": not on_gpu and layout.processes == 1,  # of several, accelerate would not start DeepSpeed
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": recipe.save_steps,
        "save_total_limit": 2,
        "report_to": "none",  # unless `_tracker` says otherwise
        "disable_tqdm": True,
        "seed": seed,
        "dataset_num_proc": None,
        "dataloader_num_workers": 0,
    }


def assembled(
    kind: Any,
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    ordered: Sequence[Row],
    layout: Layout,
    told: Mapping[str, Any],
) -> Any:
    """A trainer of this class for the rows as they are ordered; `told` as `settings` gives it."""
    from datasets import Dataset
    from trl.trainer.sft_config import SFTConfig

    data = Dataset.from_list([dict(row) for row in ordered])
    trainer = kind(model=model, args=SFTConfig(**told), train_dataset=data, processing_class=tokenizer)
    if layout.checkpointing == "half":
        trainer.add_callback(_every_other())
    return trainer


def in_given_order() -> Any:
    """TRL's SFTTrainer, reading the rows in the order they are given."""
    from torch.utils.data import SequentialSampler
    from trl.trainer.sft_trainer import SFTTrainer

    class InGivenOrder(SFTTrainer):
        def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
            return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)  # pyright: ignore

    return InGivenOrder


def trainer_class(layout: Layout) -> Any:
    """SFTTrainer that reads rows in the given order and, on a CPU, does the same work in less time.

    Without Triton, TRL's head scores every position, masked ones too: half of the time and a gigabyte on a CPU. The
    loss is the same sum over supervised tokens, divided by their number in the whole step. The adapter's matrices are
    cast to bfloat16 for the product instead of every activation to float32 (as Trainer does on a GPU), and short rows
    take the plain attention, whose backward pass is several times faster there than the fused one.
    """
    import torch
    from peft.helpers import disable_input_dtype_casting

    class KeptApart(in_given_order()):
        unproven = layout.padding == "free"

        def training_step(self, model: Any, inputs: Any, *args: Any, **options: Any) -> Any:
            if self.unproven:
                refuse_leak(model, self._prepare_inputs(inputs))
                self.unproven = False
            return super().training_step(model, inputs, *args, **options)

    class OnCpu(KeptApart):
        def train(self, *args: Any, **options: Any) -> Any:
            # around all of it: with checkpointing, layers run again in the backward pass and must see the same types
            with disable_input_dtype_casting(self.model):  # pyright: ignore
                return super().train(*args, **options)

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            base: Any = self.accelerator.unwrap_model(model).get_base_model()  # pyright: ignore
            labels = inputs["labels"][:, 1:]
            base.set_attn_implementation("eager" if labels.shape[1] < SHORT else "sdpa")
            with torch.autocast("cpu", dtype=torch.bfloat16):
                read = {key: value for key, value in inputs.items() if key != "labels"}
                hidden = base.get_decoder()(**read, use_cache=False).last_hidden_state
            supervised = labels != IGNORED
            logits = base.get_output_embeddings()(hidden[:, :-1][supervised]).float()
            loss = torch.nn.functional.cross_entropy(logits, labels[supervised], reduction="sum")
            if num_items_in_batch is None:
                return loss / supervised.sum()
            return loss / num_items_in_batch * self.accelerator.num_processes  # of all of them, who are averaged

    return KeptApart if layout.device == "gpu" else OnCpu


def refuse_leak(model: Any, inputs: dict[str, Any]) -> None:
    """Raises ModelInvalid when a row laid behind another one can see it.

    Rows are apart only where the attention knows where each begins, and libraries merely warn when theirs does not. So
    it is tried on the first batch: with other words in the row before, the last row's logits must stay the same.
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
    model.eval()  # the same dropout, none, in both
    with torch.no_grad(), torch.autocast(read["input_ids"].device.type, dtype=torch.bfloat16):
        seen = [
            model(**{**read, "input_ids": ids}, use_cache=False, logits_to_keep=4).logits.float()
            for ids in (read["input_ids"], other)
        ]
    model.train(was_training)
    apart = float((seen[0] - seen[1]).abs().max())
    if apart > 0.01 * float(seen[0].abs().max()):
        raise ModelInvalid(
            f"rows laid end to end see each other (logits move by {apart:.2g}): this attention does not keep them "
            "apart; choose a training.layout with padding: padded, or another attention"
        )


def _every_other() -> TrainerCallback:
    """Lets every other layer keep its activations, where Trainer makes all of them compute theirs again."""
    from transformers import TrainerCallback
    from transformers.modeling_layers import GradientCheckpointingLayer

    class EveryOther(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
            for layer in layers[1::2]:
                layer.gradient_checkpointing = False

    return EveryOther()


def _watcher(trainer: Any, name: str, run_id: str, steps: int, last: Path | None) -> TrainerCallback:
    from transformers import TrainerCallback

    progress = Progress(f"training {name}, steps", steps)
    progress.skip(int(last.name.split("-")[1]) if last else 0)

    class Watcher(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                progress.advance()

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            trainer.accelerator.wait_for_everyone()  # each process has written its part
            if state.is_world_process_zero:
                write_json(Path(args.output_dir, f"checkpoint-{state.global_step}", MARK), {"run": run_id})

    return Watcher()


def _last_whole(checkpoints: Path, run_id: str) -> Path | None:
    """The newest checkpoint that is complete and belongs to this very run; the first process removes all others."""
    found = sorted(checkpoints.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    chosen = None
    for path in found:
        mark = path / MARK
        if chosen is None and mark.exists() and json.loads(mark.read_text(encoding="utf-8"))["run"] == run_id:
            chosen = path
        elif not devices.rank():
            shutil.rmtree(path, ignore_errors=True)
    return chosen


def _publish(trainer: Any, folder: Path, history: list[dict[str, float]], name: str) -> None:
    scratch = folder.with_name(f".{folder.name}.part")
    if trainer.is_world_process_zero():
        shutil.rmtree(scratch, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    state = trainer.accelerator.get_state_dict(trainer.model_wrapped if trainer.is_fsdp_enabled else trainer.model)
    if not trainer.is_world_process_zero():
        return
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.save_pretrained(str(scratch), state_dict=state, save_embedding_layers=False)
    config = json.loads((scratch / "adapter_config.json").read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = name.split("/")[0]  # a name, not a path of this machine
    if isinstance(config.get("target_modules"), list):
        config["target_modules"].sort()  # PEFT writes a set: sorted, the same run gives the same bytes
    with publish(folder / "adapter_model.safetensors") as temporary:
        (scratch / "adapter_model.safetensors").rename(temporary)
    write_json(folder / "adapter_config.json", config)
    with publish(folder / "loss.csv") as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["step", "loss", "grad_norm", "learning_rate"])
        table.writerows([e["step"], e["loss"], e.get("grad_norm"), e.get("learning_rate")] for e in history)
    shutil.rmtree(scratch)


def discard(checkpoints: Path) -> None:
    """Remove the checkpoints of a run whose adapter is published."""
    shutil.rmtree(checkpoints, ignore_errors=True)

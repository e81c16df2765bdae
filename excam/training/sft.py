"""LoRA fine-tuning (ExCAM, Appendix B) with TRL's SFTTrainer, PEFT, and our own row order.

The order of rows is fixed before training (a function of the seed and the rows), so a resumed run has exactly the
batches of an uninterrupted one, on any number of processes. The recipe determines the result, the layout the devices.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Recipe
from excam.core.exceptions import ConfigInvalid, InputInvalid, ModelInvalid
from excam.core.provenance import publish, say, write_json
from excam.inference import Batch, Choice, Choose
from excam.inference.chat import load_tokenizer
from excam.inference.loading import loading
from excam.inference.lora import VISION_MODULES
from excam.training import attention, devices, tokens, trainers
from excam.training.checkpoints import TrainingRun, exclusive_lock, last_complete_checkpoint, progress_callback
from excam.training.layout import ROWS, Layout
from excam.training.tokens import IGNORED_LABEL

if TYPE_CHECKING:
    import polars as pl
    from peft import PeftModel
    from transformers import PreTrainedTokenizerBase, TrainerCallback

# From a backend's `choose` to numbers that tell models apart, such as the likelihoods of fixed answers.
Probe = Callable[[Callable[[Sequence[Choose]], Iterator[Batch[Choice]]]], Any]
PUBLISHED = ("adapter_model.safetensors", "adapter_config.json", "loss.csv")


def train(
    run: TrainingRun,
    rows: pl.DataFrame,
    recipe: Recipe,
    layout: Layout,
    probe: Probe,
    watching: Sequence[TrainerCallback] = (),
) -> dict[str, Any] | None:
    """Train an adapter on `rows` (see `tokens.SCHEMA`), publish it, and return facts for its manifest.

    Of several processes the first publishes; the others return None. `probe` is run on base and adapter at the end.
    `watching` are more trainer callbacks. Continue from the last complete checkpoint of the same run. First raise
    InputInvalid for fewer rows than a step needs, ConfigInvalid or ModelInvalid if recipe, layout and base do not fit.
    """
    from transformers import set_seed

    layout.passes(recipe.rows_per_step)
    tracker = _tracker_settings(recipe.report_to, run.name)
    devices.check_devices(layout, run.weights)
    with exclusive_lock(run.checkpoints, run.name):
        seed = recipe.seed if recipe.seed is not None else run.seed
        set_seed(seed)
        tokenizer = load_tokenizer(run.weights)
        ordered = tokens.with_labels(training_order(rows, recipe, seed), recipe.loss)
        model = _load_with_lora(run.weights, recipe, layout)
        everything = [run.base, str(run.version), recipe.adapter_settings, layout.model_dump(), seed, ordered]
        run_id = hashlib.sha256(json.dumps(everything).encode()).hexdigest()
        last = last_complete_checkpoint(run.checkpoints, run_id)
        if last and not devices.rank():
            say(f"{run.name}: goes on from {last.name}")
        arguments = trainer_settings(recipe, layout, seed, run.checkpoints) | tracker
        trainer = trainers.build_trainer(trainers.trainer_class(layout), model, tokenizer, ordered, layout, arguments)
        attends = {"attention": attention.describe_attention(model)} if layout.attention == ROWS else {}
        if attends and not devices.rank():
            say(f"{run.name}: attention: {attends['attention']}")
        trainer.add_callback(progress_callback(trainer, run.name, run_id, len(ordered) // recipe.rows_per_step, last))
        for callback in watching:
            trainer.add_callback(callback)
        seconds = _train_from(trainer, last, layout)
        history = _publish(trainer, run.folder, run.name)
        if attends:
            attention.use_padded_attention(model)
        answers = _fixed_answers(model, tokenizer, probe)  # on every process: a sharded model is spread over all
    if not trainer.is_world_process_zero():
        return None
    seen = ordered[recipe.rows_per_step * int(last.name.split("-")[1]) :] if last else ordered
    return {
        "seed": seed,
        "chat_template": hashlib.sha256(str(tokenizer.chat_template).encode()).hexdigest(),
        "rows": rows.height,
        "steps": trainer.state.global_step,
        "tokens": sum(len(row["input_ids"]) for row in ordered),
        "supervised_tokens": sum(sum(label != IGNORED_LABEL for label in row["labels"]) for row in ordered),
        "training_seconds": round(seconds, 1),
        "resumed_from": last.name if last else None,
        "final_loss": history[-1]["loss"] if history else None,
        "fixed_answers": answers,
        **attends,
        **devices.speed_and_memory(model, sum(len(row["input_ids"]) for row in seen), seconds),
    }


def _train_from(trainer: Any, checkpoint: Path | None, layout: Layout) -> float:
    """Train from a checkpoint on, or from the start, and return the seconds."""
    started = time.monotonic()
    with devices.explain_out_of_memory(layout):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return time.monotonic() - started


def _fixed_answers(model: PeftModel, tokenizer: PreTrainedTokenizerBase, probe: Probe) -> dict[str, Any] | None:
    """Return what the probe measures of base and adapter; None if its questions do not fit the model."""
    from excam.inference.backends.transformers import Likelihoods

    backend = Likelihoods(model.eval(), tokenizer)
    try:
        tuned = probe(backend.choose)
        with model.disable_adapter():
            return {"base": probe(backend.choose), "tuned": tuned}
    except ModelInvalid:
        return None


def _tracker_settings(report_to: str, name: str) -> dict[str, str]:
    """Return the settings of SFTConfig for a loss tracker. Raise ConfigInvalid if its package is not installed."""
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


def training_order(rows: pl.DataFrame, recipe: Recipe, seed: int) -> pl.DataFrame:
    """Return the rows of all epochs in training order, complete steps only.

    With `recipe.order` "length", a step has prompts of similar length. `rows` has the columns of `tokens.SCHEMA`. Raise
    InputInvalid if there are fewer rows than one step needs.
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
            # by the prompt only: reports are longer than "no error", so row length would separate the classes
            shuffled.sort(key=prompts.__getitem__)
            size = recipe.rows_per_step
            steps = [shuffled[at : at + size] for at in range(0, len(shuffled), size)]
            shuffled = [row for step in chance.sample(steps, len(steps)) for row in step]
        ordered += shuffled
        epoch += 1
    return rows[ordered[:wanted]]


def _load_with_lora(weights: Path, recipe: Recipe, layout: Layout) -> PeftModel:
    base = trainers.load_base(weights, devices.weights_dtype(layout))
    with loading(weights):
        attention.set_attention(base, layout)
    return with_lora(base, recipe)


def with_lora(base: Any, recipe: Recipe) -> PeftModel:
    """Return the base model with untrained LoRA matrices. Raise ModelInvalid if `targets` matches no module."""
    from peft import LoraConfig, get_peft_model

    lora = LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=recipe.targets,
        exclude_modules=VISION_MODULES
        if any(re.fullmatch(VISION_MODULES, name) for name, _ in base.named_modules())
        else None,
        task_type="CAUSAL_LM",
    )
    try:
        return get_peft_model(base, lora)  # pyright: ignore[reportReturnType]
    except ValueError as problem:
        first = str(problem).splitlines()[0]
        raise ModelInvalid(f"training.targets: {recipe.targets}: {first}") from None


def trainer_settings(recipe: Recipe, layout: Layout, seed: int, checkpoints: Path) -> dict[str, Any]:
    """Return the settings of SFTConfig; every default that affects results is set explicitly.

    Args:
        recipe: of the adapter
        layout: processes, device and memory
        seed: of order, adapter and dropout
        checkpoints: the folder of checkpoints
    """
    on_gpu = layout.device == "gpu"
    return {
        "output_dir": str(checkpoints),
        "num_train_epochs": 1,  # the rows already contain every epoch
        "logging_nan_inf_filter": False,  # else a loss that is no number is logged as the mean of those before
        "save_strategy": "steps",
        "save_steps": recipe.save_steps,
        "save_total_limit": 2,
        "report_to": "none",  # overridden for a loss tracker
        "disable_tqdm": True,
        "seed": seed,
        "dataloader_num_workers": 0,
        "per_device_train_batch_size": layout.rows_per_pass,
        "gradient_accumulation_steps": layout.passes(recipe.rows_per_step),
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup_steps,
        "weight_decay": recipe.weight_decay,
        "adam_beta1": recipe.beta1,
        "adam_beta2": recipe.beta2,
        "max_grad_norm": recipe.max_grad_norm,
        "max_length": None,  # row lengths were checked before
        "packing": False,
        "padding_free": layout.padding == "free",
        "gradient_checkpointing": layout.checkpointing != "off",
        "deepspeed": layout.deepspeed,
        "fsdp": bool(layout.fsdp) or None,
        "fsdp_config": {"version": 2, **layout.fsdp} if layout.fsdp else None,
        "accelerator_config": {"use_configured_state": bool(layout.deepspeed) and not on_gpu},  # see `devices`
        "bf16": on_gpu,
        "use_cpu": not on_gpu and layout.processes == 1,  # with several processes it would prevent DeepSpeed
        "logging_steps": 1,
        "dataset_num_proc": None,
    }


def _publish(trainer: Any, folder: Path, name: str) -> list[dict[str, float]]:
    """Publish the adapter from the first process, and return what was logged with a loss."""
    history = [entry for entry in trainer.state.log_history if "loss" in entry]
    scratch = folder.with_name(f".{folder.name}.part")
    if trainer.is_world_process_zero():
        shutil.rmtree(scratch, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    state = trainers.adapter_weights(trainer)
    if not trainer.is_world_process_zero():
        return history
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.save_pretrained(str(scratch), state_dict=state, save_embedding_layers=False)
    config = json.loads((scratch / "adapter_config.json").read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = name.split("/")[0]  # a name instead of a local path
    if isinstance(config.get("target_modules"), list):
        config["target_modules"].sort()  # PEFT writes a set; sorting makes the bytes reproducible
    with publish(folder / "adapter_model.safetensors") as temporary:
        (scratch / "adapter_model.safetensors").rename(temporary)
    write_json(folder / "adapter_config.json", config)
    with publish(folder / "loss.csv") as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["step", "loss", "grad_norm", "learning_rate"])
        table.writerows([e["step"], e["loss"], e.get("grad_norm"), e.get("learning_rate")] for e in history)
    shutil.rmtree(scratch)
    return history

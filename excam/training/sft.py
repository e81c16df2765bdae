"""LoRA fine-tuning on error reports (Appendix B, spec 45-50): TRL's SFTTrainer, PEFT, and our own order of rows.

The order of rows is fixed before training starts (a function of seed and row ids), so a resumed run sees exactly the
batches of an uninterrupted one, on however many processes. What is learnt is the recipe's, on what is the layout's.
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
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Recipe
from excam.exceptions import ConfigInvalid, InputInvalid, ModelInvalid
from excam.inference import fixed_answers
from excam.inference.chat import load_tokenizer
from excam.inference.fixed_answers import Scores
from excam.inference.loading import loading
from excam.inference.lora import EYES
from excam.provenance import publish, say, write_json
from excam.training import devices, tokens, trainers
from excam.training.checkpoints import alone, last_whole, watcher
from excam.training.layout import Layout
from excam.training.tokens import IGNORED
from excam.versions import stage_version

if TYPE_CHECKING:
    import polars as pl
    from peft import PeftModel
    from transformers import PreTrainedTokenizerBase, TrainerCallback

PUBLISHED = ("adapter_model.safetensors", "adapter_config.json", "loss.csv")


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
    watching: Sequence[TrainerCallback] = (),
) -> dict[str, Any] | None:
    """Train an adapter on `rows` (see `tokens.SCHEMA`), publish it in `folder`, and return facts for its manifest.

    `weights` is the folder of the base model, `base` a digest of what is in it. Of several processes the first one
    publishes; the others return None. `watching` is told of every step. Continues from the last whole checkpoint of the
    same run in `checkpoints`. Raises InputInvalid when there are fewer rows than a step's, ConfigInvalid or
    ModelInvalid when recipe, layout and base do not go together, before anything is trained.
    """
    from transformers import set_seed

    layout.passes(recipe.rows_per_step)
    tracker = _tracker(recipe.report_to, name)
    devices.claim(layout, weights)
    with alone(checkpoints, name):
        seed = recipe.seed if recipe.seed is not None else seed
        set_seed(seed)
        tokenizer = load_tokenizer(weights)
        ordered = tokens.labelled(in_order(rows, recipe, seed), recipe.loss)
        model = _with_adapter(weights, recipe, layout)
        everything = [base, stage_version("train_adapter"), recipe.decides, layout.model_dump(), seed, ordered]
        run_id = hashlib.sha256(json.dumps(everything).encode()).hexdigest()
        last = last_whole(checkpoints, run_id)
        if last and not devices.rank():
            say(f"{name}: goes on from {last.name}")
        told = settings(recipe, layout, seed, checkpoints) | tracker
        trainer = trainers.assembled(trainers.trainer_class(layout), model, tokenizer, ordered, layout, told)
        trainer.add_callback(watcher(trainer, name, run_id, len(ordered) // recipe.rows_per_step, last))
        for one in watching:
            trainer.add_callback(one)
        started = time.monotonic()
        with devices.explained(layout):
            trainer.train(resume_from_checkpoint=str(last) if last else None)
        seconds = time.monotonic() - started
        history = [entry for entry in trainer.state.log_history if "loss" in entry]
        _publish(trainer, folder, history, name)
        answers = _fixed_answers(model, tokenizer)  # on every process: of a model that is shared out none has all
    if not trainer.is_world_process_zero():
        return None
    seen = ordered[recipe.rows_per_step * int(last.name.split("-")[1]) :] if last else ordered
    return {
        "seed": seed,
        "chat_template": hashlib.sha256(str(tokenizer.chat_template).encode()).hexdigest(),
        "rows": rows.height,
        "steps": trainer.state.global_step,
        "tokens": sum(len(row["input_ids"]) for row in ordered),
        "supervised_tokens": sum(sum(label != IGNORED for label in row["labels"]) for row in ordered),
        "training_seconds": round(seconds, 1),
        "resumed_from": last.name if last else None,
        "final_loss": history[-1]["loss"] if history else None,
        "fixed_answers": answers,
        **devices.measured(model, sum(len(row["input_ids"]) for row in seen), seconds),
    }


def _fixed_answers(model: PeftModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, Scores] | None:
    """Scores of the fixed answers by base and adapter, for `adapters.verify`; None where the base has no room."""
    from excam.inference.backends.transformers import Likelihoods

    backend = Likelihoods(model.eval(), tokenizer)
    try:
        tuned = fixed_answers.scores(backend.choose)
        with model.disable_adapter():
            return {"base": fixed_answers.scores(backend.choose), "tuned": tuned}
    except ModelInvalid:
        return None


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
    with loading(weights):
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


def _publish(trainer: Any, folder: Path, history: list[dict[str, float]], name: str) -> None:
    scratch = folder.with_name(f".{folder.name}.part")
    if trainer.is_world_process_zero():
        shutil.rmtree(scratch, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    state = trainers.adapter_of(trainer)
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

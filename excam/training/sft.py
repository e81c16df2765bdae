"""LoRA fine-tuning on error reports (Appendix B, spec 45-50): TRL's SFTTrainer, PEFT, and our own order of rows.

The order of rows is fixed before training starts (a function of seed and row ids), so a resumed run sees exactly the
batches of an uninterrupted one. Loss is taken on the report only ([silent] in the paper).
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Recipe
from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import chat
from excam.inference.chat import load_tokenizer
from excam.judges import report
from excam.provenance import Progress, publish, say, write_json
from excam.records import Sample
from excam.versions import stage_version

if TYPE_CHECKING:
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
    samples: Sequence[Sample],
    recipe: Recipe,
    seed: int,
    checkpoints: Path,
    folder: Path,
    name: str,
) -> dict[str, Any]:
    """Train an adapter on `samples`, publish it in `folder`, and return facts for its manifest.

    `weights` is the folder of the base model, `base` a digest of what is in it.
    Continues from the last whole checkpoint of the same run in `checkpoints`. Raises InputInvalid when a row is longer
    than `recipe.max_length`, ModelInvalid when the base or the recipe cannot be used.
    """
    from transformers import set_seed

    _one_device()
    set_seed(seed)
    tokenizer = load_tokenizer(weights)
    rows, too_long = encode(tokenizer, samples, recipe)
    ordered = in_order(rows, recipe, seed)
    model = _with_adapter(weights, recipe)
    everything = [
        base,
        stage_version("train_adapter"),
        recipe.model_dump(exclude={"save_steps", "rows"}),
        seed,
        ordered,
    ]
    run_id = hashlib.sha256(json.dumps(everything).encode())
    started = time.monotonic()
    last = _last_whole(checkpoints, run_id.hexdigest())
    if last:
        say(f"{name}: goes on from {last.name}")
    trainer = _trainer(model, tokenizer, ordered, recipe, seed, checkpoints)
    trainer.add_callback(_watcher(name, run_id.hexdigest(), len(ordered) // recipe.rows_per_step, last))
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    seconds = time.monotonic() - started
    history = [entry for entry in trainer.state.log_history if "loss" in entry]
    _publish(model, folder, history, name)
    tokens = sum(len(row["input_ids"]) for row in ordered)
    return {
        "device": str(model.device),
        "rows": len(rows),
        "rows_too_long": too_long,
        "steps": trainer.state.global_step,
        "tokens": tokens,
        "supervised_tokens": sum(sum(label != -100 for label in row["labels"]) for row in ordered),
        "training_seconds": round(seconds, 1),
        "resumed_from": last.name if last else None,
        "final_loss": history[-1]["loss"] if history else None,
    }


def encode(
    tokenizer: PreTrainedTokenizerBase, samples: Sequence[Sample], recipe: Recipe
) -> tuple[list[dict[str, list[int]]], int]:
    """Token ids and labels of the samples, and how many samples were left out as too long (spec 44).

    Labels are -100 up to where the report starts. No row is cut: with `overflow: refuse` the first that is longer than
    `max_length` tokens raises InputInvalid, with `drop` it is left out together with its twin.
    """
    rows: dict[str, list[dict[str, list[int]]]] = {}
    for sample in samples:
        messages = report.messages(sample.instruction, sample.output)
        encoded = chat.encode(tokenizer, messages, report.write(sample.report))
        if len(encoded.input_ids) > recipe.max_length and recipe.overflow == "refuse":
            raise InputInvalid(
                f"{sample.id}: {len(encoded.input_ids)} tokens; expected at most "
                f"training.max_length={recipe.max_length}; raise it, or set training.overflow to drop"
            )
        ids, start = list(encoded.input_ids), encoded.completion_start
        rows.setdefault(sample.pair, []).append({"input_ids": ids, "labels": [-100] * start + ids[start:]})
    fitting = [pair for pair in rows.values() if max(len(row["input_ids"]) for row in pair) <= recipe.max_length]
    kept = [row for pair in fitting for row in pair]
    return kept, len(samples) - len(kept)


def in_order(rows: Sequence[dict[str, list[int]]], recipe: Recipe, seed: int) -> list[dict[str, list[int]]]:
    """All epochs' rows in the order they are seen, whole steps only; `length` makes steps of like prompts."""
    wanted = int(len(rows) * recipe.epochs) // recipe.rows_per_step * recipe.rows_per_step
    if not wanted:
        raise InputInvalid(
            f"{len(rows)} training rows; expected at least training.rows_per_step={recipe.rows_per_step}"
        )
    ordered: list[dict[str, list[int]]] = []
    epoch = 0
    while len(ordered) < wanted:
        chance = random.Random(f"{seed}/{epoch}")
        shuffled = chance.sample(list(rows), len(rows))
        if recipe.order == "length":
            # by the prompt alone: reports are longer than "no error", so whole rows would part right from wrong ones
            shuffled.sort(key=lambda row: row["labels"].count(-100))
            size = recipe.rows_per_step
            steps = [shuffled[at : at + size] for at in range(0, len(shuffled), size)]
            shuffled = [row for step in chance.sample(steps, len(steps)) for row in step]
        ordered += shuffled
        epoch += 1
    return ordered[:wanted]


def _with_adapter(weights: Path, recipe: Recipe) -> PeftModel:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    if not any(weights.glob("*.safetensors")):
        raise ModelInvalid(f"{weights}: no *.safetensors; expected the folder of a fetched model")
    base = AutoModelForCausalLM.from_pretrained(
        weights, dtype=torch.bfloat16, local_files_only=True, use_safetensors=True, attn_implementation="sdpa"
    )
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


def _trainer(
    model: PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    ordered: list[dict[str, list[int]]],
    recipe: Recipe,
    seed: int,
    checkpoints: Path,
) -> Any:
    import torch
    from datasets import Dataset
    from trl.trainer.sft_config import SFTConfig

    on_gpu = torch.cuda.is_available()
    config = SFTConfig(
        output_dir=str(checkpoints),
        per_device_train_batch_size=min(recipe.rows_per_pass, recipe.rows_per_step),
        gradient_accumulation_steps=max(1, recipe.rows_per_step // recipe.rows_per_pass),
        num_train_epochs=1,  # `ordered` already holds every epoch
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup_steps,
        weight_decay=recipe.weight_decay,
        adam_beta1=recipe.beta1,
        adam_beta2=recipe.beta2,
        max_grad_norm=recipe.max_grad_norm,
        max_length=None,  # rows were measured in `encode`
        packing=False,
        gradient_checkpointing=recipe.checkpointing,
        bf16=on_gpu,
        use_cpu=not on_gpu,
        logging_steps=1,
        save_strategy="steps",
        save_steps=recipe.save_steps,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        seed=seed,
        dataset_num_proc=None,
        dataloader_num_workers=0,
    )
    data = Dataset.from_list(ordered)
    return _trainer_class(on_gpu)(model=model, args=config, train_dataset=data, processing_class=tokenizer)


def _trainer_class(on_gpu: bool) -> Any:
    """SFTTrainer that reads rows in the given order and, on a CPU, does the same work in less time.

    Without Triton, TRL's head scores every position, masked ones too: half of the time and a gigabyte on a CPU. The
    loss is the same sum over supervised tokens, divided by their number in the whole step. The adapter's matrices are
    cast to bfloat16 for the product instead of every activation to float32 (as Trainer does on a GPU), and short rows
    take the plain attention, whose backward pass is several times faster there than the fused one.
    """
    import torch
    from peft.helpers import disable_input_dtype_casting
    from torch.utils.data import SequentialSampler
    from trl.trainer.sft_trainer import SFTTrainer

    class InGivenOrder(SFTTrainer):
        def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
            return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)  # pyright: ignore

    class OnCpu(InGivenOrder):
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
                hidden = base.get_decoder()(
                    input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], use_cache=False
                ).last_hidden_state
            supervised = labels != -100
            logits = base.get_output_embeddings()(hidden[:, :-1][supervised]).float()
            loss = torch.nn.functional.cross_entropy(logits, labels[supervised], reduction="sum")
            return loss / (num_items_in_batch if num_items_in_batch is not None else supervised.sum())

    return InGivenOrder if on_gpu else OnCpu


def _watcher(name: str, run_id: str, steps: int, last: Path | None) -> TrainerCallback:
    from transformers import TrainerCallback

    progress = Progress(f"training {name}, steps", steps)
    progress.skip(int(last.name.split("-")[1]) if last else 0)

    class Watcher(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress.advance()

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            write_json(Path(args.output_dir, f"checkpoint-{state.global_step}", MARK), {"run": run_id})

    return Watcher()


def _last_whole(checkpoints: Path, run_id: str) -> Path | None:
    """The newest checkpoint that is complete and belongs to this very run; all others are removed."""
    found = sorted(checkpoints.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    chosen = None
    for path in found:
        mark = path / MARK
        if chosen is None and mark.exists() and json.loads(mark.read_text(encoding="utf-8"))["run"] == run_id:
            chosen = path
        else:
            shutil.rmtree(path)
    return chosen


def _publish(model: PeftModel, folder: Path, history: list[dict[str, float]], name: str) -> None:
    scratch = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    model.save_pretrained(str(scratch), save_embedding_layers=False)
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


def _one_device() -> None:
    """Raises ModelInvalid where several GPUs are visible: Trainer would multiply the rows of a step by them."""
    import torch

    if torch.cuda.device_count() > 1 and "LOCAL_RANK" not in os.environ:
        raise ModelInvalid(
            f"{torch.cuda.device_count()} GPUs visible; expected one, or rows_per_step would be multiplied; "
            "set CUDA_VISIBLE_DEVICES"
        )


def discard(checkpoints: Path) -> None:
    """Remove the checkpoints of a run whose adapter is published."""
    shutil.rmtree(checkpoints, ignore_errors=True)

"""How fast is an adapter trained? Our recipe in every layout of rows and activations, against what everyone gets.

    python -m bench.train --weights results/models/smollm2-135m/manifest.json \\
        --tokens results/tokens/smollm2-135m/*/train.parquet --layout cpu --ways trl padded-off free-off padded-full
    python -m bench.train --shape phi3-medium --tokens ... --layout single --steps 60   # on a GPU
    python -m bench.train --shape gemma3-27b --tokens ... --layout single --ways free-full-dense free-full-rows

`trl` is TRL's SFTTrainer as it comes, with the paper's settings. Ours are
`<padded|free>-<full|half|off>[-dense|-rows]`: how rows are laid out, which layers compute their
activations again, and the attention of rows end to end (else the layout's): under a dense mask, or within rows. Every
way runs in a process of its own, one after the other in every round, on the same rows in the same order; the first
steps are not timed. `--shape` takes random weights: speed and memory are those of real ones, losses are not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any

import polars as pl

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.inference import chat
from excam.training import attention, devices, layout, sft, tokens, trainers
from scripts import run

OURS = ["-".join(parts) for parts in product(("padded", "free"), ("full", "half", "off"))]
ATTENTION = {"dense": attention.DENSE, "rows": layout.ROWS}
APART = [f"{way}-{name}" for way in OURS if not way.startswith("padded") for name in ATTENTION]
WAYS = ("trl", *OURS, *APART)
ROWS = 26_300  # of the paper's mixture of all datasets
PAPER = {"phi3-medium": 80, "gemma3-27b": 160}  # GPU-minutes of one adapter, as the paper reports


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of a fetched model")
    parser.add_argument("--tokens", type=Path, nargs="+", required=True, help="tokenised rows of that model")
    parser.add_argument("--shape", choices=sorted(PAPER), help="random weights; rows and tokenizer of --weights")
    parser.add_argument("--layout", default="cpu")
    parser.add_argument("--ways", nargs="+", default=["trl", "padded-off", "free-off"], choices=WAYS)
    parser.add_argument("--steps", type=int, default=8, help="timed, in a round")
    parser.add_argument("--warm", type=int, default=1, help="steps before the clock starts")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rank", type=int, default=128)
    parser.add_argument("--rows-per-pass", type=int, help="else the layout's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    words = list(sys.argv[1:] if argv is None else argv)
    args = parser.parse_args(words)
    if args.one:
        print(json.dumps(_trained(args.one, args)))
        return

    runs_by_way: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    rounds: list[tuple[int, str]] = list(product(range(args.rounds), args.ways))
    for at, way in rounds:
        command = [sys.executable, "-m", "bench.train", *words, "--one", way]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            provenance.say(f"{way}: round {at + 1}: {done.stderr.strip().splitlines()[-1][:300]}")
            continue
        measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        runs_by_way[way].append(measured)
        provenance.say(f"{way}: round {at + 1}: {measured['tokens_per_s']} tokens a second")
    table = {way: _row(runs, runs_by_way[args.ways[0]], args.shape) for way, runs in runs_by_way.items()}
    for way, row in table.items():
        print(way, json.dumps(row))
    if args.numbers:
        provenance.write_json(args.numbers, {"command": words, "commit": provenance.git_commit(), "ways": table})


def _row(runs: list[dict[str, Any]], first: list[dict[str, Any]], shape: str | None) -> dict[str, Any]:
    """Medians over rounds, the ratio to the first way within each round, and how far the losses are from its."""
    rate = median(measurement["rows_per_s"] for measurement in runs)
    both = list(zip(runs, first, strict=False))
    apart = [
        abs(a - b) for measurement, other in both for a, b in zip(measurement["losses"], other["losses"], strict=False)
    ]
    minutes = ROWS / rate / 60
    return {
        "rows_per_s": round(rate, 3),
        "tokens_per_s": round(median(measurement["tokens_per_s"] for measurement in runs), 1),
        "times_first": round(median(a["rows_per_s"] / b["rows_per_s"] for a, b in both), 2) if both else None,
        "peak_share": runs[0]["peak_share"],
        "peak_memory_gib": max(measurement["peak_memory_gib"] for measurement in runs),
        "attention": runs[0]["attention"],
        "loss_mean": round(mean(runs[0]["losses"]), 4),
        "loss_apart_max": round(max(apart), 4) if apart else None,
        "minutes_for_26300_rows": round(minutes, 1),
        "paper_gpu_minutes": PAPER.get(shape or ""),
        "device": runs[0]["device"],
    }


def _trained(way: str, args: argparse.Namespace) -> dict[str, Any]:
    """One run: seconds of the timed steps, losses of all."""
    from transformers import TrainerCallback, set_seed

    set_seed(args.seed)
    rows, recipe, chosen = _rows(args), _recipe(args), _layout(way, args)
    clock: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            _finish()
            clock.append(time.monotonic())

    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(way, rows, recipe, chosen, Path(folder), args)
        trainer.add_callback(Clock())
        trainer.train()
    if len(clock) <= args.warm:
        raise InputInvalid(f"{len(clock)} steps; expected more than --warm {args.warm}: take more --steps")
    seconds = clock[-1] - clock[args.warm - 1]
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    lengths = [len(ids) for ids in trainer.train_dataset["input_ids"]]
    each = trainer.args.per_device_train_batch_size * trainer.args.gradient_accumulation_steps
    seen = sum(lengths[args.warm * each :])
    return {
        "losses": losses,
        "rows_per_s": seen / _mean_length(rows) / seconds,
        "tokens_per_s": round(seen / seconds, 1),
        "attention": attention.describe_attention(trainer.model),
        **devices.speed_and_memory(trainer.model, seen, seconds),
    }


def _finish() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _rows(args: argparse.Namespace) -> list[tokens.Row]:
    """The first rows of a shuffled whole; as many as all steps take."""
    recipe = _recipe(args)
    rows = pl.concat([tables.read_frame(path) for path in args.tokens]).sort("id")
    fitting = rows.filter(pl.col("input_ids").list.len() <= recipe.max_length)
    wanted = (args.warm + args.steps) * recipe.rows_per_step
    if fitting.height < wanted:
        raise InputInvalid(f"--tokens: {fitting.height} rows; expected {wanted} for {args.warm} + {args.steps} steps")
    return tokens.with_labels(sft.training_order(fitting, recipe, args.seed)[:wanted], recipe.loss)


def _recipe(args: argparse.Namespace) -> Recipe:
    return Recipe(rank=args.rank, max_length=2048, warmup_steps=1, learning_rate=1e-4, save_steps=10**6)


def _layout(way: str, args: argparse.Namespace) -> layout.Layout:
    base_layout = layout.load_layout(args.layout)
    padded = base_layout.model_copy(update={"padding": "padded", "attention": attention.DENSE})
    rows = {"rows_per_pass": args.rows_per_pass} if args.rows_per_pass else {}
    if way == "trl":  # the paper's: four rows on each of two devices, all activations computed again
        return padded.model_copy(update={"checkpointing": "full", "rows_per_pass": 4, **rows})
    padding, checkpointing, *last = way.split("-")
    if padding == "padded":
        return padded.model_copy(update={"checkpointing": checkpointing, **rows})
    attends = ATTENTION.get("".join(last), base_layout.attention)
    return base_layout.model_copy(
        update={"padding": "free", "checkpointing": checkpointing, "attention": attends, **rows}
    )


def _trainer(
    way: str, rows: list[tokens.Row], recipe: Recipe, chosen: layout.Layout, folder: Path, args: argparse.Namespace
) -> Any:
    from trl.trainer.sft_trainer import SFTTrainer

    settings = sft.trainer_settings(recipe, chosen, args.seed, folder)
    files = args.weights.parent / "files"
    base = _base(files, chosen, args)
    attention.set_attention(base, chosen)
    model = sft.with_lora(base, recipe)
    kind = trainers.in_given_order(SFTTrainer) if way == "trl" else trainers.trainer_class(chosen)
    return trainers.build_trainer(kind, model, chat.load_tokenizer(files), rows, chosen, settings)


def _mean_length(rows: list[tokens.Row]) -> float:
    return mean(len(row["input_ids"]) for row in rows)


def _base(files: Path, chosen: layout.Layout, args: argparse.Namespace) -> Any:
    import torch
    from transformers import AutoModelForCausalLM, Gemma3TextConfig, Phi3Config

    if not args.shape:
        how = {"dtype": torch.bfloat16, "local_files_only": True, "use_safetensors": True}
        return AutoModelForCausalLM.from_pretrained(files, **how)
    if args.shape == "phi3-medium":
        config: Any = Phi3Config(
            hidden_size=5120, intermediate_size=17920, num_hidden_layers=40, num_attention_heads=40,
            num_key_value_heads=10, max_position_embeddings=4096, vocab_size=50_000, sliding_window=None,
            pad_token_id=0, bos_token_id=None, eos_token_id=0,
        )  # fmt: skip
    else:
        config = Gemma3TextConfig(
            hidden_size=5376, intermediate_size=21504, num_hidden_layers=62, num_attention_heads=32,
            num_key_value_heads=16, head_dim=128, query_pre_attn_scalar=168, sliding_window=1024, vocab_size=262_208,
            max_position_embeddings=131_072,
        )  # fmt: skip
    with torch.device("cuda" if chosen.device == "gpu" else "cpu"):
        return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


if __name__ == "__main__":
    run(main)

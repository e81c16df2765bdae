"""A few optimizer steps of a recipe on its GPUs: the time of a step, and the memory for the longest rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from excam.config import Recipe
from excam.core import provenance
from excam.core.exceptions import ModelInvalid
from excam.error_reports import fixed_answers
from excam.error_reports.fixed_answers import PAIRS
from excam.error_reports.judges import report
from excam.inference import chat
from excam.preflight.rows import WRONG
from excam.preflight.sizes import parameters
from excam.training import sft, tokens
from excam.training.checkpoints import TrainingRun
from excam.training.layout import Layout

if TYPE_CHECKING:
    from transformers import TrainerCallback

EVENLY_STEPS = 2  # of rows drawn evenly: the first compiles and warms up, the second is timed


def try_training(
    *, name: str, weights: Path, rows: pl.DataFrame, recipe: Recipe, layout: Layout, scratch: Path
) -> dict[str, Any] | None:
    """Train on rows drawn evenly and, last, on the longest; return seconds and memory. None: another process does.

    `weights` is a manifest, `rows` what `rows.tried` returns; where it is empty, rows are made up. Raises what training
    raises.
    """
    per_step = recipe.rows_per_step
    made_up = rows.is_empty()
    if made_up:
        rows = _made_up(weights.parent / "files", recipe.max_length)
    by_length = rows.sort(pl.col("input_ids").list.len(), descending=True)
    usual = rows.filter(pl.col("drawn") == "evenly")
    longest = _repeated(by_length.head(per_step), per_step)
    evenly = _repeated(rows if usual.is_empty() else usual, EVENLY_STEPS * per_step)
    both = pl.concat([evenly, longest])
    recipe = _in_this_order(both, recipe)
    seconds: list[float] = []
    run = TrainingRun(
        weights=weights.parent / "files",
        base=provenance.outputs_json(weights),
        seed=0,
        checkpoints=scratch / "steps",
        folder=scratch / "adapter",
        name=name,
    )
    facts = sft.train(run, both, recipe, layout, fixed_answers.scores, watching=[_clock(seconds)])
    if facts is None:
        return None
    return {
        "made_up": made_up,
        "longest_tokens": max(map(len, longest["input_ids"])),
        "first_seconds": round(seconds[0], 2),
        "usual_seconds": round(seconds[1], 2),
        "longest_seconds": round(seconds[-1], 2),
        "processes": layout.processes,
        "parameters": parameters(scratch / "adapter/adapter_model.safetensors"),
        **{key: facts[key] for key in ("device", "peak_memory_gib")},
    }


def _made_up(weights: Path, length: int) -> pl.DataFrame:
    """Return one row of nearly `length` tokens, in the form of both kinds of draw."""
    tokenizer = chat.load_tokenizer(weights)
    asked, output = PAIRS[1]
    best = chat.encode(tokenizer, report.messages(asked, output), report.write(WRONG))
    if len(best.input_ids) > length:
        raise ModelInvalid(f"training.max_length={length}: a row of two sentences has {len(best.input_ids)} tokens")
    longer, times = best, 1
    while len(longer.input_ids) <= length:
        best, times = longer, times + 1 + times // 4
        longer = chat.encode(tokenizer, report.messages(asked, f"{output} " * times), report.write(WRONG))
    row = ("made up", "made up", list(best.input_ids), best.completion_start)
    frame = pl.DataFrame([row], schema=tokens.SCHEMA, orient="row")
    return pl.concat([frame.with_columns(pl.lit(drawn).alias("drawn")) for drawn in ("longest", "evenly")])


def _repeated(rows: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return this number of rows as training takes them, spread over the frame, with repetitions if there are fewer."""
    apart = max(1, rows.height // count)
    return rows.drop("drawn")[[at * apart % rows.height for at in range(count)]]


def _in_this_order(rows: pl.DataFrame, recipe: Recipe) -> Recipe:
    """Return the recipe with steps of rows of similar length, and a seed that puts the longest step last."""
    plain: dict[str, Any] = {"order": "length", "epochs": 1, "report_to": "none", "save_steps": rows.height}
    for seed in range(1000):
        tried_recipe = recipe.model_copy(update={**plain, "seed": seed})
        lengths = sft.training_order(rows, tried_recipe, seed)["prompt_tokens"].to_list()
        if sum(lengths[-recipe.rows_per_step :]) == sum(sorted(lengths)[-recipe.rows_per_step :]):
            return tried_recipe
    return recipe.model_copy(update=plain)


def _clock(seconds: list[float]) -> TrainerCallback:
    """Measure the time of each step until the GPU has finished it."""
    import torch
    from transformers import TrainerCallback

    class Clock(TrainerCallback):
        started = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.started = _now()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            seconds.append(_now() - self.started)

    def _now() -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.monotonic()

    return Clock()

"""Tokenize a mixture, train an adapter on it, and draw its losses."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.config import Recipe
from excam.core import paths, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import adapter_card, fixed_answers, record_files
from excam.error_reports.evaluation.cells import mixture_title
from excam.error_reports.judges import report
from excam.inference import chat, gpus
from excam.pages import plotting
from excam.scoring import manifests
from excam.scoring.manifests import BaseManifest
from excam.training import devices, sft, tokens
from excam.training.checkpoints import TrainingRun
from excam.training.layout import load_layout
from scripts import step


@step(
    version=3,
    inputs={"weights": "weights", "samples": "results/excam40k/*/{split}.parquet"},
    settings={"recipe": "training_rows"},
    outputs={
        "tokens": "results/tokens/{model}/*/{split}.parquet",
        "counts": "results/tokens/{model}/*/{split}.json",
    },
    stages=["asks.report"],
    environment="training",
)
def tokenize_samples(
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet, of each set"],
    recipe_json: Annotated[str, "what decides rows, of `training`, as JSON"],
    tokens_paths: Annotated[Sequence[Path], "of each set"],
    counts_paths: Annotated[Sequence[Path], "of each set"],
) -> None:
    """Tokenise all sets for the training of one model; its mixtures share the tokens.

    Rows that are too long to train on are dropped, whole pairs, and counted here: before a card is asked for.
    """
    files = weights_path.parent / "files"
    recipe = Recipe.model_validate_json(recipe_json)
    tokenizer, longest = chat.ids_tokenizer(files), chat.max_positions(files)
    for samples_path, tokens_path, counts_path in zip(samples_paths, tokens_paths, counts_paths, strict=True):
        examples = report.training_examples(record_files.read_samples(samples_path), recipe.report)
        rows = tokens.without_long_rows(tokens.encode(tokenizer, examples), recipe, longest)
        tables.write_frame(tokens_path, rows)
        counts = tokens.statistics(rows)
        provenance.write_json(counts_path, counts)
        provenance.say(f"{tokens_path}: {counts}")


@step(version=3)
def train_adapter(
    model: str,
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    trained_on: str,
    mixture_path: Annotated[Path, "the rows, by id"],
    tokens_paths: Annotated[Sequence[Path], "the same rows as tokens of this model"],
    recipe_json: Annotated[str, "the section `training` of config.yaml as JSON"],
    layout: Annotated[str, "a file of excam/training/layouts"],
    save_steps: int,
    seed: int,
    checkpoints_path: Path,
    adapter_path: Annotated[Path, "folder of the adapter"],
    report_to: Annotated[str, "a tracker that follows the loss"] = "none",
) -> None:
    """Train one LoRA adapter (Appendix B) on the processes of its layout; resume from its last checkpoint.

    The manifest is written last. Checkpoints stay until `verify_adapter`: Snakemake may start this job once more.
    """
    started = time.monotonic()
    chosen = load_layout(layout)
    name = f"{model}/{trained_on}"
    if "LOCAL_RANK" not in os.environ:  # the first process, before it starts others
        gpus.refuse_unusable(chosen.processes if chosen.device == "gpu" else 0, "set training.layout: cpu")
        provenance.refuse_changed(weights_path, weights_path.parent / "files")  # takes minutes, and no card
    devices.launch_processes(chosen, "scripts", sys.argv[1:], name)
    how = {"layout": layout, "save_steps": save_steps, "report_to": report_to}
    recipe = Recipe.model_validate({**json.loads(recipe_json), **how})
    rows = _mixture(mixture_path, trained_on)
    tokenised = tokens.read(tokens_paths, [row["id"] for row in rows])
    run = TrainingRun(
        weights=weights_path.parent / "files",
        base=provenance.outputs_json(weights_path),
        seed=seed,
        checkpoints=checkpoints_path,
        folder=adapter_path,
        name=name,
        version=train_adapter.version,
    )
    facts = sft.train(run, tokenised, recipe, chosen, fixed_answers.scores)
    if facts is None:  # another process of the layout publishes
        return
    facts |= {"rows_too_long": len(rows) - tokenised.height}
    base = provenance.read_json(weights_path, "settings", "licence")
    settings = {**recipe.model_dump(), "layout": {"name": layout, **chosen.model_dump(exclude_none=True)}}
    measured = {"recipe": settings, "measured": facts, "mixture": provenance.sha256(mixture_path)}
    provenance.write_text(adapter_path / "README.md", adapter_card.text(_card(model, trained_on, base, rows, measured)))
    provenance.write_manifest(
        adapter_path / "manifest.json",
        inputs=[mixture_path, *tokens_paths, weights_path],
        outputs=[adapter_path / name for name in (*sft.PUBLISHED, "README.md")],
        settings=settings,
        seconds=time.monotonic() - started,
        model=model,
        weights=weights_path.parent.name,
        base=base["revision"],
        base_model=manifests.read(weights_path, BaseManifest, "a fetched model").public(),
        trained_on=trained_on,
        languages=sorted({row["language"] for row in rows}),
        **facts,
    )


def _card(
    model: str, trained_on: str, base: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
) -> adapter_card.TrainedAdapter:
    """Return what the README of an adapter says; `base` is its model's manifest, `facts` has what is known of it."""
    return adapter_card.TrainedAdapter(
        model=model,
        source=base["settings"]["hub"],
        licence=base["licence"],
        trained_on=trained_on,
        by_dataset=dict(sorted(Counter(row["dataset"] for row in rows).items())),
        **facts,
    )


def _mixture(mixture: Path, trained_on: str) -> list[dict[str, Any]]:
    """Return a mixture's rows. Raises InputInvalid when the dataset that was to be left out is among them."""
    rows = list(tables.read_jsonl(mixture))
    if left_out := [row["id"] for row in rows if trained_on == f"without-{row['dataset']}"]:
        raise InputInvalid(
            f"{mixture}: {len(left_out)} rows of the left-out dataset, the first is {left_out[0]}; expected none; "
            "delete it and run again"
        )
    return rows


SCHEMA = {"trained_on": pl.String, "step": pl.Int64, "loss": pl.Float64, "smooth": pl.Float64}


LOSSES = {"step": pl.Int64, "loss": pl.Float64, "grad_norm": pl.Float64, "learning_rate": pl.Float64}


SHARE = 20  # a running mean reaches a twentieth of the run to either side: single steps of eight rows are mostly noise


@step(
    version=6,
    result="results/paper/losses/{model}",
    outputs=["numbers", "pictures"],
    category="Training",
    target="all",
    inputs={"losses": "losses"},
)
def figure_losses(
    model: str,
    losses_paths: Annotated[Sequence[Path], "adapters/<model>/<trained_on>/loss.csv"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    """Draw the loss curves of a base model's adapters from the numbers it writes.

    Training loss of each adapter of a base model by optimizer step, and its mean over the last twenty steps. The
    numbers are ``loss.csv`` beside each adapter.
    """
    losses = [(paths.axes(path)["trained_on"], tables.read_csv(path, LOSSES)) for path in losses_paths]
    window = 1 + 2 * (max(table.height for _, table in losses) // SHARE)
    smooth = pl.col("loss").rolling_mean(window, min_samples=1, center=True)
    curves = [
        table.select(pl.lit(name).alias("trained_on"), "step", "loss", smooth.alias("smooth")) for name, table in losses
    ]
    tables.write_csv(numbers_path, pl.concat(curves))
    drawn = tables.read_csv(numbers_path, SCHEMA)
    figure = plotting.curves(
        {
            mixture_title(name): part.select("step", "smooth").rows()
            for (name,), part in drawn.group_by("trained_on", maintain_order=True)
        },
        title=f"Training loss, {model}",
        across="optimizer step",
        up="loss per report token (nats)",
        note=("" if window == 1 else f"Running mean over {window} steps. ") + "One line per adapter.",
    )
    plotting.save(figure, pictures_paths)

"""The work of the complete experiment: at most so many rows, and the hours that they take.

Hours are known only from jobs that ended here with the same settings: their seconds for each answer or step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from excam.config import BY_DOCUMENTS, Experiment, Recipe
from excam.core.provenance import read_json
from excam.excam40k import datasets
from excam.preflight import needs
from excam.training.layout import load_layout

SPLITS = ("train", "dev", "test")
PAIRS_OF_A_BASE = 2  # at most: two forms of a question, or two severities


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """A kind of work. `hours` on `cards` each, or `cost` in the currency of the server's `price`; None: not known."""

    what: str
    of: str
    amount: str
    cards: int
    hours: float | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """At most so many rows of a benchmark by split, and pairs for which a model writes errors."""

    by_split: Mapping[str, int]
    generated: int


def rows_of(experiment: Experiment) -> dict[str, Rows]:
    """Return the rows of each benchmark, from `cap`."""
    return {name: _rows(experiment, name) for name in experiment.datasets}


def _rows(experiment: Experiment, name: str) -> Rows:
    entry, shares = experiment.datasets[name], experiment.construction.shares
    most = entry.cap * (1 if experiment.construction.cap_stage == "after" else 2 * PAIRS_OF_A_BASE)
    soft = datasets.load(name, entry.module).ERRORS == "soft" and needs.is_generated(experiment)
    return Rows({split: ceil(most * shares[split]) for split in SPLITS}, most // 2 if soft else 0)


def tasks(experiment: Experiment, results: Path) -> list[PlannedWork]:
    """Return the work in the order in which it is done, what exists already included."""
    rows = rows_of(experiment)
    made = list[PlannedWork]()
    if generated := sum(each.generated for each in rows.values()):
        name = experiment.generation.generator
        made.append(_asking("soft errors", experiment, name, generated, results / "errors" / "soft"))
    for name in experiment.tuned.models:
        made += _training(experiment, name, rows, results / "adapters" / name)
    test, dev = (sum(each.by_split[split] for each in rows.values()) for split in ("test", "dev"))
    for name in dict.fromkeys(system[0] for system in experiment.systems if system != BY_DOCUMENTS):
        judges = [system[1:] for system in experiment.systems if system[0] == name]
        count = len(judges) * test + (dev if ("all", "report") in judges else 0)
        made.append(_asking("judging", experiment, name, count, results / "transcripts" / name))
    subset = sum(min(experiment.construction.subset, each.by_split["test"]) for each in rows.values())
    count = len(experiment.external.judges) * subset
    return made + [
        _asking("external", experiment, name, count, results / "transcripts" / name)
        for name in experiment.external.models
    ]


def _asking(what: str, experiment: Experiment, name: str, count: int, folder: Path) -> PlannedWork:
    entry = experiment.models[name]
    price, wanted = entry.server and entry.server.price, json.loads(entry.request_settings)
    cost = price.cost(0, count * entry.sampling.max_tokens) if price else None

    def answers(manifest: Mapping[str, Any]) -> int:
        settings = manifest["settings"]
        return sum(manifest.get("answers", {}).values()) if settings.get("model", settings) == wanted else 0

    seconds = _seconds_each(folder, answers) if entry.is_local else None
    return PlannedWork(what, name, f"at most {count:,} answers", entry.gpus, _hours(seconds, count), cost)


def _training(experiment: Experiment, name: str, rows: Mapping[str, Rows], folder: Path) -> list[PlannedWork]:
    recipe, mixtures = experiment.recipe(name), experiment.tuned.mixtures
    count = sum(steps_of(recipe, mixture, rows) for mixture in mixtures)
    layout = load_layout(recipe.layout)

    def steps(manifest: Mapping[str, Any]) -> int:
        settings = manifest["settings"]
        trained = Recipe.model_validate({**settings, "layout": settings["layout"]["name"]})
        return manifest["steps"] if trained.adapter_settings == recipe.adapter_settings else 0

    seconds = _seconds_each(folder, steps)
    amount = f"{len(mixtures)} adapters, at most {count:,} steps of {recipe.rows_per_step} rows"
    cards = layout.processes if layout.device == "gpu" else 0
    return [PlannedWork("training", name, amount, cards, _hours(seconds, count))] if mixtures else []


def steps_of(recipe: Recipe, mixture: str, rows: Mapping[str, Rows]) -> int:
    """Return the most optimizer steps of one adapter."""
    count = sum(each.by_split["train"] for name, each in rows.items() if mixture != f"without-{name}")
    return int(min(count, recipe.rows or count) * recipe.epochs) // recipe.rows_per_step


def _seconds_each(folder: Path, done: Callable[[Mapping[str, Any]], int]) -> float | None:
    """Return the mean seconds of what `done` counts in the manifests below a folder; None if that is nothing."""
    manifests = [read_json(path, "settings", "seconds") for path in sorted(folder.rglob("*manifest.json"))]
    counted = [(manifest["seconds"], count) for manifest in manifests if (count := done(manifest))]
    return sum(seconds for seconds, _ in counted) / sum(count for _, count in counted) if counted else None


def _hours(seconds: float | None, count: int) -> float | None:
    return None if seconds is None else seconds * count / 3600

"""What an experiment needs: models, their sizes, disk space, cards."""

from __future__ import annotations

import re

from excam.config import LEXICON, Experiment, Model, Recipe
from excam.training.layout import load_layout

# The number of parameters in a name such as Qwen3-14B or gemma-3-27b-it; of 8x7B none is read.
PARAMETERS = re.compile(r"(?<![^-_])(\d+(?:\.\d+)?)([BM])(?![a-z0-9])", re.IGNORECASE)
SMALL = re.compile(r"awq|gptq|int[48]|fp8|[48]bit", re.IGNORECASE)  # of fewer bytes than two for each parameter
BYTES = 2  # for each parameter: bfloat16
# A LoRA of rank 128 on all linear layers has so many parameters for each of its base: 3.2 % of Phi-3-medium, 3.4 % of
# Gemma-3-27B. One is published as float32; a checkpoint holds it and Adam's two moments, and two are on disk at a time.
ADAPTED, RANK = 0.033, 128
PUBLISHED, CHECKPOINTS = 4, 2 * 12


def asked_models(experiment: Experiment) -> list[str]:
    """Return the models that `all` asks or trains."""
    named: list[str | None] = [*experiment.tuned.models, *(system[0] for system in experiment.systems)]
    named += [experiment.generation.generator, experiment.baselines.encoder]
    if section := experiment.macaron:
        named += [*section.models, *section.thinking, section.proofreader]
    if section := experiment.rubric:
        named += section.models
    if section := experiment.cult_eval:
        named += [*section.models, *section.judges, section.encoder]
    if section := experiment.calmqa:
        named += [*section.models, section.translator, section.extractor, section.verifier, section.relevance]
        named += [section.encoder]
    if section := experiment.crossing:
        named += [metric.model for metric in section.metrics.values()]
    return [name for name in dict.fromkeys(named) if name in experiment.models]


def fetched_models(experiment: Experiment) -> list[str]:
    """Return the entries of `models` whose weights are fetched."""
    local = (experiment.weights(name) for name in asked_models(experiment) if experiment.models[name].is_local)
    return list(dict.fromkeys(local))


def parameters(entry: Model) -> float | None:
    """Return how many parameters the model's name says it has; None if it does not say."""
    name = (entry.hub or (entry.wheel and entry.wheel.gguf) or "").rsplit("/", 1)[-1].removesuffix(".gguf")
    match = PARAMETERS.search(name.replace(".Q", "-Q"))
    if not match or (entry.hub and SMALL.search(name)):
        return None
    return float(match[1]) * (1e9 if match[2] in "Bb" else 1e6)


def adapter_parameters(entry: Model, recipe: Recipe) -> float | None:
    """Return about how many parameters a LoRA has on this base."""
    base = parameters(entry)
    return None if base is None else base * ADAPTED * recipe.rank / RANK


def most_cards(experiment: Experiment) -> int:
    """Return how many cards the largest job takes."""
    entries = [experiment.models[name] for name in asked_models(experiment)]
    layouts = [load_layout(experiment.recipe(name).layout) for name in experiment.tuned.models]
    return max([0, *(model.gpus for model in entries), *(each.processes for each in layouts if each.device == "gpu")])


def is_generated(experiment: Experiment) -> bool:
    """Return whether a model writes the soft errors."""
    return experiment.generation.generator != LEXICON

"""The models that an experiment asks, and the ways of asking: what a preflight tests."""

from __future__ import annotations

from excam.config import Experiment

LONGEST = 512  # tokens of an answer in a trial: thinking models may take many more in the run
SOFT_ERRORS = "soft-errors"  # beside the names of judges: how a generator is asked


def models(experiment: Experiment) -> list[str]:
    """Return the models with local weights that are asked: trained ones, baselines, the generator, the annotator."""
    named = [
        *experiment.tuned.models,
        *experiment.baselines.models,
        *experiment.external.models,
        experiment.generation.generator,
    ]
    return [name for name in dict.fromkeys(named) if name in experiment.models and experiment.models[name].is_local]


def ways_of_asking(experiment: Experiment, model: str) -> list[str]:
    """Return the judges that ask a model, and SOFT_ERRORS if it writes them."""
    asked = [judge for name, _, judge in experiment.systems if name == model]
    asked += experiment.external.judges if model in experiment.external.models else []
    asked += [SOFT_ERRORS] if model == experiment.generation.generator else []
    return list(dict.fromkeys(asked))


def fetched_models(experiment: Experiment) -> list[str]:
    """Return the entries of `models:` whose weights the experiment needs, those of the other systems last."""
    others = [name for name in asked_by_others(experiment) if experiment.models[name].is_local]
    return list(dict.fromkeys(experiment.weights(name) for name in [*models(experiment), *others]))


def asked_by_others(experiment: Experiment) -> list[str]:
    """Return the models that Macaron, the rubric, CulT-Eval and CaLMQA use, their encoders included."""
    named: list[str | None] = []
    if section := experiment.macaron:
        named += [*section.models, *section.thinking, section.proofreader]
    if section := experiment.rubric:
        named += section.models
    if section := experiment.cult_eval:
        named += [*section.models, *section.judges, section.encoder, section.metricx]
    if section := experiment.calmqa:
        named += [*section.models, section.translator, section.extractor, section.verifier, section.relevance]
        named += [section.encoder]
    return [name for name in dict.fromkeys(named) if name in experiment.models]

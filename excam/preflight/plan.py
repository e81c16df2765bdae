"""Which models an experiment asks, and in which ways: what is tried before a long run."""

from __future__ import annotations

from excam.config import Experiment

LONGEST = 512  # tokens of an answer in a trial: thinking models may take many more in the run
SOFT_ERRORS = "soft-errors"  # beside the names of judges: how a generator is asked


def models(experiment: Experiment) -> list[str]:
    """Return the models with weights here that are asked: trained ones, baselines, the generator, who annotates."""
    named = [
        *experiment.tuned.models,
        *experiment.baselines.models,
        *experiment.external.models,
        experiment.generation.generator,
        experiment.annotation.pre_annotator,
    ]
    return [name for name in dict.fromkeys(named) if name in experiment.models and experiment.models[name].is_local]


def ways(experiment: Experiment, model: str) -> list[str]:
    """Return the judges that ask a model, and SOFT_ERRORS where it writes them."""
    asked = [judge for name, _, judge in experiment.systems if name == model]
    asked += experiment.external.judges if model in experiment.external.models else []
    asked += [SOFT_ERRORS] if model == experiment.generation.generator else []
    return list(dict.fromkeys(asked))


def fetched(experiment: Experiment) -> list[str]:
    """Return the entries of `models:` whose weights the experiment needs."""
    embedder = [experiment.similarity.model] if experiment.similarity.model else []
    return list(dict.fromkeys(experiment.weights(name) for name in [*models(experiment), *embedder]))

"""All checks of a preflight, in the order in which a run meets them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from excam.config import Experiment
from excam.core.provenance import remove_published
from excam.preflight import here, plan, trial, tried
from excam.preflight.checks import FETCH, Check
from excam.preflight.trial import Trial


@dataclass(frozen=True, slots=True)
class Found:
    """What exists already, by benchmark (manifests, original pairs) and by model (manifests, trials)."""

    sources: Mapping[str, Path]
    samples: Mapping[str, Path]
    weights: Mapping[str, Path]
    asked: Mapping[str, Trial]
    rows: Mapping[str, Trial]
    trained: Mapping[str, Trial]


def trials(records: Iterable[Path]) -> dict[str, Trial]:
    """Return trials by their model. Raises ArtifactBroken."""
    read = [trial.read(record) for record in records]
    return {attempt.name: attempt for attempt in read}


def forget(records: Iterable[Path]) -> None:
    """Remove the trials that ended with a problem: what asks for them next makes them again."""
    for record in records:
        if trial.read(record).problem:
            remove_published(record)


def checks(experiment: Experiment, existing: Found, results: Path) -> list[Check]:
    """Return every check. `results`: the folder whose disk is looked at. Raises ArtifactBroken."""
    made = [
        *here.sources(experiment, existing.sources),
        *here.soft_errors(experiment, existing.samples),
        *here.weights(experiment, existing.weights),
        *here.keys(experiment, os.environ),
        here.disk(experiment, existing.weights, existing.trained, results),
    ]
    untried = [name for name in plan.models(experiment) if experiment.weights(name) not in existing.weights]
    if untried:
        made.append(Check("tried", ", ".join(untried), FETCH, "an answer, a training step, rows that fit", "unknown"))
    for name in plan.models(experiment):
        made += _trial_checks(experiment, name, existing) if name not in untried else []
    return made


def _trial_checks(experiment: Experiment, name: str, existing: Found) -> list[Check]:
    made = tried.row_checks(name, experiment, existing.rows[name])
    made += tried.model_checks(experiment, name, existing.asked[name], existing.weights[experiment.weights(name)])
    if name in experiment.tuned.models:
        made.append(tried.training_checks(name, experiment.recipe(name), existing.trained[name]))
    return made

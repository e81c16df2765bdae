"""Checks of local state: benchmarks, weights, keys, disk space."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from excam.config import LEXICON, Experiment, Recipe
from excam.core import licences
from excam.core.provenance import read_json
from excam.error_reports import record_files
from excam.excam40k import datasets
from excam.excam40k.construction import lexicon
from excam.preflight import plan, sizes
from excam.preflight.checks import FETCH, NEXT, Check, Verdict, gigabytes
from excam.preflight.trial import Trial


def sources(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Check that the benchmarks are present, and list the licences of their rows."""
    asked = {name: datasets.load(name, entry.module).SOURCE.licence for name, entry in experiment.datasets.items()}
    absent = [name for name in asked if name not in manifests]
    there = f"{len(asked) - len(absent)} of {len(asked)}"
    fetched = Check("fetched", "benchmarks", there, "all", "fine")
    if absent:
        fetched = Check("fetched", "benchmarks", f"{there}; {FETCH}: {', '.join(absent)}", f"all; {NEXT}", "unknown")
    return [fetched, _licences("benchmarks", asked)]


def _licences(of: str, asked: Mapping[str, str]) -> Check:
    """Name the licences that require more than attribution; unknown ones have to be read by a person."""
    bound = {name: licence for name, licence in asked.items() if not licences.is_permissive(licence)}
    unread = [name for name, licence in bound.items() if licences.terms(licence) is None]
    description = ", ".join(f"{name} ({licence})" for name, licence in bound.items())
    expected = f"read by you: {', '.join(unread)}" if unread else "named here"
    return Check("licences", of, f"not permissive: {description or 'none'}", expected, "unknown" if unread else "fine")


def soft_errors(experiment: Experiment, samples: Mapping[str, Path]) -> list[Check]:
    """Say in how many pairs of a benchmark `lexicon` can write an error: in most of them it cannot."""
    if experiment.generation.generator != LEXICON:
        return []
    made = []
    for name, path in samples.items():
        if datasets.load(name, experiment.datasets[name].module).ERRORS == "soft":
            right = record_files.read_samples(path)
            written, exchanged = lexicon.errors_that_can_be_written(right, experiment.seed)
            result = f"{written} of {len(right)} pairs can get an error, {exchanged} by an exchange of norms"
            expected = "read by you; pairs that words alone tell are left out later"
            made.append(Check("soft errors", f"{name} by {LEXICON}", result, expected, "fine" if written else "wrong"))
    return made


def weights(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Check that the files of the models are present, and list their sizes and licences."""
    names = plan.fetched_models(experiment)
    absent = [name for name in names if name not in manifests]
    there = {name: gigabytes(sizes.size(manifests[name].parent / "files")) for name in names if name in manifests}
    description = ", ".join(f"{name} {size}" for name, size in there.items()) or "none"
    checks = [Check("fetched", "weights", description, "all", "fine")] if there else []
    checks += (
        [Check("fetched", "weights", f"{FETCH}: {', '.join(absent)}", f"all; {NEXT}", "unknown")] if absent else []
    )
    checks += [check for name in there if (check := _whole(name, manifests[name]))]
    return [*checks, _licences("weights", {name: experiment.models[name].licence for name in names})]


def _whole(name: str, manifest: Path) -> Check | None:
    """Check that no file of the weights is missing. Their bytes are compared when they are loaded."""
    files = manifest.parent / "files"
    gone = [file for file in read_json(manifest, "outputs")["outputs"] if not (files / file).is_file()]
    if not gone:
        return None
    return Check("fetched", name, f"{len(gone)} files are gone, e.g. {gone[0]}", f"all; delete {manifest}", "wrong")


def keys(experiment: Experiment, environment: Mapping[str, str]) -> list[Check]:
    """Check that the key of each server is in the environment. No server is asked."""
    required = [*experiment.baselines.models, experiment.generation.generator, *plan.asked_by_others(experiment)]
    checks = []
    for name in dict.fromkeys([*required, *experiment.external.models]):
        server = experiment.models[name].server if name in experiment.models else None
        if server is None:
            continue
        key, needed = server.key_env, name in required
        there = not key or bool(environment.get(key))
        description = "needs none" if not key else f"{key} is {'set, not tried' if there else 'not set'}"
        expected = f"{key} set" if needed else f"{key} set, if the target external is wanted; all does without"
        verdict: Verdict = "fine" if there else "wrong" if needed else "unknown"
        checks.append(Check("key", name, description, expected if key else "none", verdict))
    return checks


def disk(experiment: Experiment, manifests: Mapping[str, Path], trained: Mapping[str, Trial], folder: Path) -> Check:
    """Check the disk space for adapters, and for the checkpoints of one training at a time."""
    free = shutil.disk_usage(folder).free
    needed, scratch, unknown = 0, 0, []
    for model in experiment.tuned.models:
        count = _trainable(experiment.recipe(model), manifests.get(experiment.weights(model)), trained.get(model))
        if count is None:
            unknown.append(f"adapters of {model}")
            continue
        left = [
            m for m in experiment.tuned.mixtures if not (folder / "adapters" / model / m / "manifest.json").exists()
        ]
        needed += len(left) * count * sizes.PUBLISHED_BYTES
        scratch = max(scratch, 3 * count * sizes.TRAINED_BYTES if left else 0)
    absent = [name for name in plan.fetched_models(experiment) if name not in manifests]
    unknown += [f"weights of {len(absent)} models"] if absent else []
    parts = [f"{gigabytes(needed)} for adapters, {gigabytes(scratch)} for checkpoints of each training at a time"]
    parts = parts if needed else []
    parts += [f"of unknown size: {', '.join(unknown)}"] if unknown else []
    expected = "; besides, ".join(parts) or "nothing large is still to be written"
    verdict: Verdict = "wrong" if free < needed + scratch else "unknown" if unknown else "fine"
    return Check("disk", str(folder), f"{gigabytes(free)} free (a quota is not seen)", expected, verdict)


def _trainable(recipe: Recipe, manifest: Path | None, trial: Trial | None) -> int | None:
    """Return the number of trainable parameters: from the trial's adapter, otherwise from the shapes of the weights."""
    if trial and not trial.problem:
        return int(trial.found["parameters"])
    return sizes.trainable(manifest.parent / "files", recipe) if manifest else None

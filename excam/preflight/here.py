"""What lies here: benchmarks, weights, keys, room on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from excam import datasets, licences
from excam.config import Experiment, Recipe
from excam.preflight import plan, sizes
from excam.preflight.checks import FETCH, NEXT, Check, Verdict, gigabytes
from excam.preflight.trial import Trial
from excam.provenance import read_json


def sources(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Are the benchmarks there, and which licences bind what is made of their rows?"""
    asked = {name: datasets.load(name).SOURCE.licence for name in experiment.datasets}
    absent = [name for name in asked if name not in manifests]
    there = f"{len(asked) - len(absent)} of {len(asked)}"
    fetched = Check("fetched", "benchmarks", there, "all", "fine")
    if absent:
        fetched = Check("fetched", "benchmarks", f"{there}; {FETCH}: {', '.join(absent)}", f"all; {NEXT}", "unknown")
    return [fetched, _licences("benchmarks", asked)]


def _licences(of: str, asked: Mapping[str, str]) -> Check:
    """Licences that ask for more than attribution are named; those that are not known have to be read."""
    bound = {name: licence for name, licence in asked.items() if not licences.permissive(licence)}
    unread = [name for name, licence in bound.items() if licences.kind(licence) == "unknown"]
    said = ", ".join(f"{name} ({licence})" for name, licence in bound.items())
    expected = f"read by you: {', '.join(unread)}" if unread else "named here"
    return Check("licences", of, f"not permissive: {said or 'none'}", expected, "unknown" if unread else "fine")


def weights(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Are the models' files there, how large are they, and under which licences?"""
    names = plan.fetched(experiment)
    absent = [name for name in names if name not in manifests]
    there = {name: gigabytes(sizes.size(manifests[name].parent / "files")) for name in names if name in manifests}
    said = ", ".join(f"{name} {size}" for name, size in there.items()) or "none"
    found = [Check("fetched", "weights", said, "whole", "fine")] if there else []
    found += [Check("fetched", "weights", f"{FETCH}: {', '.join(absent)}", f"all; {NEXT}", "unknown")] if absent else []
    found += [check for name in there if (check := _whole(name, manifests[name]))]
    return [*found, _licences("weights", {name: experiment.models[name].licence for name in names})]


def _whole(name: str, manifest: Path) -> Check | None:
    """A check of weights of which files are gone. Their bytes are compared when they are loaded."""
    files = manifest.parent / "files"
    gone = [file for file in read_json(manifest, "outputs")["outputs"] if not (files / file).is_file()]
    if not gone:
        return None
    return Check("fetched", name, f"{len(gone)} files are gone, e.g. {gone[0]}", f"whole; delete {manifest}", "wrong")


def keys(experiment: Experiment, environment: Mapping[str, str]) -> list[Check]:
    """Is the key of each server that is asked in the environment? No server is asked."""
    required = [*experiment.baselines.models, experiment.generation.generator]
    found = []
    for name in dict.fromkeys([*required, *experiment.external.models]):
        server = experiment.models[name].server if name in experiment.models else None
        if server is None:
            continue
        key, needed = server.key_env, name in required
        there = not key or bool(environment.get(key))
        said = "needs none" if not key else f"{key} is {'set, not tried' if there else 'not set'}"
        expected = f"{key} set" if needed else f"{key} set, if the target external is wanted; all does without"
        verdict: Verdict = "fine" if there else "wrong" if needed else "unknown"
        found.append(Check("key", name, said, expected if key else "none", verdict))
    return found


def disk(experiment: Experiment, manifests: Mapping[str, Path], trained: Mapping[str, Trial], folder: Path) -> Check:
    """Is there room for what is still to be written: adapters, and checkpoints of one training at a time?"""
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
    absent = [name for name in plan.fetched(experiment) if name not in manifests]
    unknown += [f"weights of {len(absent)} models"] if absent else []
    parts = [f"{gigabytes(needed)} for adapters, {gigabytes(scratch)} for checkpoints of each training at a time"]
    parts = parts if needed else []
    parts += [f"of unknown size: {', '.join(unknown)}"] if unknown else []
    expected = "; besides, ".join(parts) or "nothing large is still to be written"
    verdict: Verdict = "wrong" if free < needed + scratch else "unknown" if unknown else "fine"
    return Check("disk", str(folder), f"{gigabytes(free)} free (a quota is not seen)", expected, verdict)


def _trainable(recipe: Recipe, manifest: Path | None, trial: Trial | None) -> int | None:
    """Trainable parameters: counted in the adapter of the trial, else from the shapes of the weights."""
    if trial and not trial.problem:
        return int(trial.found["parameters"])
    return sizes.trainable(manifest.parent / "files", recipe) if manifest else None

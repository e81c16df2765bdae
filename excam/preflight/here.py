"""What lies here: benchmarks, weights, keys, room on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from excam import datasets, licences
from excam.config import Experiment, Recipe
from excam.preflight import plan, sizes
from excam.preflight.checks import FETCH, Check, Verdict, gigabytes
from excam.preflight.trial import Trial
from excam.provenance import read_json


def sources(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Is each benchmark there, and what does its licence ask for?"""
    found = []
    for name in experiment.datasets:
        licence = datasets.load(name).SOURCE.licence
        kind = licences.kind(licence)
        asks = f"{licence} ({kind})" if kind != "permissive" else licence
        there = name in manifests
        verdict: Verdict = "fine" if there and kind != "unknown" else "unknown"
        expected = "fetched" if kind != "unknown" else "fetched; read its licence"
        found.append(Check("benchmark", name, f"{asks}; {'fetched' if there else FETCH}", expected, verdict))
    return found


def weights(experiment: Experiment, manifests: Mapping[str, Path]) -> list[Check]:
    """Are each model's files there, how large are they, and under which licence?"""
    return [_weights(name, experiment.models[name].licence, manifests.get(name)) for name in plan.fetched(experiment)]


def _weights(name: str, licence: str, manifest: Path | None) -> Check:
    known = licences.permissive(licence)
    expected = "fetched" if known else "fetched; terms that you have read"
    if manifest is None:
        return Check("weights", name, f"{licence}; {FETCH}", expected, "unknown")
    files = manifest.parent / "files"
    gone = [file for file in read_json(manifest, "outputs")["outputs"] if not (files / file).is_file()]
    if gone:
        return Check("weights", name, f"{len(gone)} files are gone, e.g. {gone[0]}", f"delete {manifest}", "wrong")
    return Check(
        "weights", name, f"{licence}; {gigabytes(sizes.size(files))}", expected, "fine" if known else "unknown"
    )


def keys(experiment: Experiment, environment: Mapping[str, str]) -> list[Check]:
    """Is the key of each server that is asked in the environment? No server is asked."""
    asked = [*experiment.external.models, *experiment.baselines.models, experiment.generation.generator]
    found = []
    for name in dict.fromkeys(asked):
        server = experiment.models[name].server if name in experiment.models else None
        if server is None:
            continue
        key = server.key_env
        there = not key or bool(environment.get(key))
        said = "needs no key" if not key else f"{key} is {'set, not tried' if there else 'not set'}"
        skipped = name in experiment.external.models and not there
        expected = f"{key} set" if key else "-"
        expected += "; `external` skips this judge, `all` does not ask it" if skipped else ""
        found.append(Check("key of a server", name, said, expected, "fine" if there else "wrong"))
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
    expected = (
        f"at least {gigabytes(needed + scratch)}: adapters {gigabytes(needed)}, checkpoints {gigabytes(scratch)} "
    )
    expected += "for each training at a time"
    if unknown:
        expected += f"; besides, of unknown size: {', '.join(unknown)}"
    verdict: Verdict = "wrong" if free < needed + scratch else "unknown" if unknown else "fine"
    return Check("disk", str(folder), f"{gigabytes(free)} free (a quota is not seen)", expected, verdict)


def _trainable(recipe: Recipe, manifest: Path | None, trial: Trial | None) -> int | None:
    """Trainable parameters: counted in the adapter of the trial, else from the shapes of the weights."""
    if trial and not trial.problem:
        return int(trial.found["parameters"])
    return sizes.trainable(manifest.parent / "files", recipe) if manifest else None

"""What is here beside what the configuration asks for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from excam.config import Experiment
from excam.core import licences
from excam.core.provenance import read_json
from excam.excam40k import datasets
from excam.inference.gpus import visible_gpus
from excam.preflight import needs

Verdict = Literal["wrong", "unknown", "fine"]
Settings = Mapping[str, Mapping[str, Any]]  # by name, as the manifest of what is fetched records them


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    check: str
    of: str
    found: str
    expected: str
    verdict: Verdict


def checks(
    experiment: Experiment, sources: Settings, weights: Settings, results: Path, environment: Mapping[str, str]
) -> list[Check]:
    """Return every check, in the order in which a run meets them. `results`: the folder that a run writes into."""
    rows, models = _here(results / "sources", sources), _here(results / "models", weights)
    rows_licences = {
        name: datasets.load(name, entry.module).SOURCE.licence for name, entry in experiment.datasets.items()
    }
    return [
        _fetched("benchmarks", rows, results / "sources"),
        *_rows(rows),
        _licences("benchmarks", rows_licences),
        _fetched("weights", models, results / "models"),
        _licences("weights", {name: experiment.models[name].licence for name in weights}),
        *_keys(experiment, environment),
        disk(experiment, models, results),
        cards(experiment, len(visible_gpus()), is_cluster=shutil.which("sbatch") is not None),
    ]


def _here(folder: Path, wanted: Settings) -> dict[str, dict[str, Any] | None]:
    """Return the manifests of what is fetched as this configuration says; None for what is not, or is incomplete."""
    manifests: dict[str, dict[str, Any] | None] = {}
    for name, settings in wanted.items():
        path = folder / name / "manifest.json"
        manifest = read_json(path, "settings", "outputs") if path.is_file() else None
        whole = manifest and all((path.parent / "files" / file).is_file() for file in manifest["outputs"])
        manifests[name] = manifest if manifest and whole and manifest["settings"] == settings else None
    return manifests


def _fetched(of: str, manifests: Mapping[str, Any], folder: Path) -> Check:
    absent = [name for name, manifest in manifests.items() if manifest is None]
    other = [name for name in absent if (folder / name / "manifest.json").is_file()]
    found = f"{len(manifests) - len(absent)} of {len(manifests)}"
    found += f"; not fetched: {', '.join(absent)}" if absent else ""
    found += f"; of another configuration, or incomplete: {', '.join(other)}" if other else ""
    return Check(
        "fetched", of, found, "all; a run fetches the others" if absent else "all", "unknown" if absent else "fine"
    )


def _rows(manifests: Mapping[str, dict[str, Any] | None]) -> list[Check]:
    """Check that each fetched benchmark has rows."""
    counts = {name: int(manifest["rows"]) for name, manifest in manifests.items() if manifest}
    empty = [name for name, count in counts.items() if not count]
    found = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return [Check("rows", "benchmarks", found, "some of each", "wrong" if empty else "fine")] if counts else []


def _licences(of: str, asked: Mapping[str, str]) -> Check:
    """Name the licences that require more than attribution; unknown ones have to be read by a person."""
    bound = {name: licence for name, licence in asked.items() if not licences.is_permissive(licence)}
    unread = [name for name, licence in bound.items() if licences.terms(licence) is None]
    found = ", ".join(f"{name} ({licence})" for name, licence in bound.items())
    expected = f"read by you: {', '.join(unread)}" if unread else "named here"
    return Check("licences", of, f"not permissive: {found or 'none'}", expected, "unknown" if unread else "fine")


def _keys(experiment: Experiment, environment: Mapping[str, str]) -> list[Check]:
    """Check that the key of each server is in the environment. No server is asked."""
    required = needs.asked_models(experiment)
    made = list[Check]()
    for name in dict.fromkeys([*required, *experiment.external.models]):
        server = experiment.models[name].server
        if server and (key := server.key_env):
            is_set, needed = bool(environment.get(key)), name in required
            expected = f"{key} set" + ("" if needed else ", if the target external is wanted; all does without")
            verdict: Verdict = "fine" if is_set else "wrong" if needed else "unknown"
            made.append(Check("key", name, f"{key} is {'set, not tried' if is_set else 'not set'}", expected, verdict))
    return made


def disk(experiment: Experiment, models: Mapping[str, Any], folder: Path) -> Check:
    """Compare free space with the weights and adapters that are still to be written, and the largest checkpoints."""
    free, unknown, weights, adapters, checkpoints = _free(folder), list[str](), 0.0, 0.0, 0.0
    for name in (name for name, manifest in models.items() if manifest is None):
        size = needs.parameters(experiment.models[name])
        weights += (size or 0) * needs.BYTES
        unknown += [f"weights of {name}"] if size is None else []
    for name in experiment.tuned.models:
        base = experiment.models[experiment.weights(name)]
        size = needs.adapter_parameters(base, experiment.recipe(name))
        places = [folder / "adapters" / name / mixture / "manifest.json" for mixture in experiment.tuned.mixtures]
        left = sum(not place.is_file() for place in places)
        adapters += (size or 0) * needs.PUBLISHED * left
        checkpoints = max(checkpoints, (size or 0) * needs.CHECKPOINTS if left else 0)
        unknown += [f"adapters of {name}"] if size is None and left else []
    needed = weights + adapters + checkpoints
    parts = {"weights": weights, "adapters": adapters, "checkpoints of one training": checkpoints}
    expected = f"at least {gigabytes(needed)}: " + ", ".join(
        f"{gigabytes(part)} for {name}" for name, part in parts.items()
    )
    expected += f"; of unknown size: {', '.join(unknown)}" if unknown else ""
    verdict: Verdict = "wrong" if free < needed else "unknown" if unknown else "fine"
    return Check("disk", str(folder), f"{gigabytes(free)} free (a quota is not seen)", expected, verdict)


def _free(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is on, or will be."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return shutil.disk_usage(there).free


def cards(experiment: Experiment, count: int, *, is_cluster: bool) -> Check:
    """Compare the number of cards of this machine with those of the largest job; of a cluster they are not seen."""
    needed = needs.most_cards(experiment)
    seen = f"{count or 'no'} card{'' if count == 1 else 's'} here"
    seen += "; those of Slurm are not seen" if is_cluster else ""
    verdict: Verdict = "fine" if count >= needed else "unknown" if is_cluster else "wrong"
    return Check("cards", "the largest job", seen, f"{needed} on a machine", verdict)


def gigabytes(size: float) -> str:
    """Return bytes as a text in GB, of 10^9; in MB where there is less than one."""
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:,.0f} GB"

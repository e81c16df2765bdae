"""What is here beside what the configuration asks for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from excam.config import Experiment
from excam.core.provenance import read_json
from excam.inference.gpus import visible_gpus
from excam.preflight import needs

Verdict = Literal["wrong", "unknown", "fine"]
Settings = Mapping[str, Mapping[str, Any]]  # by name, as the manifest of what is fetched records them


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    check: str
    of: str
    found: str
    expected: str
    verdict: Verdict


def checks(
    experiment: Experiment,
    sources: Settings,
    weights: Settings,
    results: Path,
    environment: Mapping[str, str],
    *,
    is_cluster: bool,
) -> list[Finding]:
    """Return every finding, in the order in which a run meets them.

    Args:
        experiment: the configuration
        sources: what each benchmark is fetched from
        weights: what each model is fetched from
        results: the folder that a run writes into
        environment: its variables, for the keys of servers
        is_cluster: whether jobs run on other machines
    """
    rows, models = _here(results / "sources", sources), _here(results / "models", weights)
    return [
        _fetched("benchmarks", rows, results / "sources"),
        *_rows(rows),
        _fetched("weights", models, results / "models"),
        *_keys(experiment, environment),
        disk(experiment, models, results),
        cards(experiment, len(visible_gpus()), is_cluster=is_cluster),
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


def _fetched(of: str, manifests: Mapping[str, Any], folder: Path) -> Finding:
    absent = [name for name, manifest in manifests.items() if manifest is None]
    other = [name for name in absent if (folder / name / "manifest.json").is_file()]
    there = f"{len(manifests) - len(absent)} of {len(manifests)}"
    there += f"; not fetched: {', '.join(absent)}" if absent else ""
    there += f"; of another configuration, or incomplete: {', '.join(other)}" if other else ""
    return Finding(
        "fetched", of, there, "all; a run fetches the others" if absent else "all", "unknown" if absent else "fine"
    )


def _rows(manifests: Mapping[str, dict[str, Any] | None]) -> list[Finding]:
    """Check that each fetched benchmark has rows."""
    counts = {name: int(manifest["rows"]) for name, manifest in manifests.items() if manifest}
    empty = [name for name, count in counts.items() if not count]
    numbers = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return [Finding("rows", "benchmarks", numbers, "some of each", "wrong" if empty else "fine")] if counts else []


def _keys(experiment: Experiment, environment: Mapping[str, str]) -> list[Finding]:
    """Check that the key of each server is in the environment. No server is asked."""
    required = needs.asked_models(experiment)
    made = list[Finding]()
    for name in dict.fromkeys([*required, *experiment.external.models]):
        server = experiment.models[name].server
        if server and (key := server.key_env):
            is_set, needed = bool(environment.get(key)), name in required
            expected = f"{key} set" + ("" if needed else ", if the target external is wanted; all does without")
            verdict: Verdict = "fine" if is_set else "wrong" if needed else "unknown"
            state = f"{key} is set, not tried" if is_set else f"{key} is not set"
            made.append(Finding("key", name, state, expected, verdict))
    return made


def disk(experiment: Experiment, models: Mapping[str, Any], folder: Path) -> Finding:
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
    return Finding("disk", str(folder), f"{gigabytes(free)} free (a quota is not seen)", expected, verdict)


def _free(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is on, or will be."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return shutil.disk_usage(there).free


def cards(experiment: Experiment, count: int, *, is_cluster: bool) -> Finding:
    """Compare the number of cards of this machine with those of the largest job; of a cluster they are not seen."""
    needed = needs.most_cards(experiment)
    here = f"{count or 'no'} card{'' if count == 1 else 's'} here"
    here += "; those of the cluster are not seen" if is_cluster else ""
    verdict: Verdict = "fine" if count >= needed else "unknown" if is_cluster else "wrong"
    return Finding("cards", "the largest job", here, f"{needed} on a machine", verdict)


def gigabytes(size: float) -> str:
    """Return bytes as a text in GB, of 10^9; in MB where there is less than one."""
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:,.0f} GB"

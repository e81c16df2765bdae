"""What the trials found: answers, cards, memory, steps, rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.config import Experiment, Recipe
from excam.preflight import plan, sizes
from excam.preflight.checks import Check, Verdict, gigabytes
from excam.preflight.trial import Trial

ROOM = 2 * 10**9  # bytes that kernels, compiled once, may take in a cache folder
LOADED = {"lora": 1.2, "merged": 2.2}  # host memory while a model loads, in sizes of its weights


def opened(experiment: Experiment, name: str, trial: Trial, manifest: Path) -> list[Check]:
    """Does a model answer on its own cards, and is its machine what it needs?"""
    entry = experiment.models[name]
    checks = [_answers(name, trial)]
    if entry.gpus:
        checks += [_cards(name, entry.gpus, trial), _compiler(name, trial)]
    size = sizes.size(manifest.parent / "files")
    return [*checks, _memory(name, LOADED[entry.serve] * size, entry.serve, trial), *_folders(name, trial)]


def _answers(name: str, trial: Trial) -> Check:
    if trial.problem:
        return Check("answers", name, trial.problem, "", "wrong")
    found = trial.found
    speed = found["together_tokens"] / max(found["together_seconds"], 1e-9)
    said = (
        f"opens in {found['open_seconds']:.0f} s after {found['check_seconds']:.0f} s of hashing; "
        f"{found['answer_tokens']} tokens in {found['answer_seconds']:.1f} s; {speed:.0f} tokens a second with "
        f"{found['together']} questions at once; context {found['engine'].get('context')}"
    )
    return Check("answers", name, said, "an answer to a short question", "fine")


def _cards(name: str, wanted: int, trial: Trial) -> Check:
    cards, found = trial.node["cards"], trial.found
    kinds = ", ".join(f"{card['name']} (driver {card['driver']})" for card in cards[:1])
    said = f"{len(cards)} cards on {trial.node['host']}{': ' if kinds else ''}{kinds}"
    used = str(found.get("engine", {}).get("device", ""))
    expected = f"{wanted} of them used"
    if found.get("cuda"):
        expected += f"; this torch is built for CUDA {found['cuda']}"
    if used:
        said += f"; the engine runs on {used}"
    on_cpu = used.lower() == "cpu" or (bool(found) and not found.get("cuda"))
    verdict: Verdict = "wrong" if len(cards) < wanted or on_cpu else "fine" if found else "unknown"
    return Check("cards", name, said, expected, verdict)


def _compiler(name: str, trial: Trial) -> Check:
    there = trial.node["compiler"]
    said = there or f"neither cc nor gcc on {trial.node['host']}"
    return Check(
        "compiler", name, said, "a C compiler: Triton builds its launchers with it", "fine" if there else "wrong"
    )


def _memory(name: str, needed: float, serve: str, trial: Trial) -> Check:
    free = trial.node["memory_bytes"]
    if free is None or not needed:
        return Check("host memory", name, "not told", gigabytes(needed), "unknown")
    expected = f"{gigabytes(needed)}: {LOADED[serve]:g} x the weights (serve: {serve})"
    said = f"{gigabytes(free)} for this job on {trial.node['host']}"
    return Check("host memory", name, said, expected, "fine" if free >= needed else "wrong")


def _folders(name: str, trial: Trial) -> list[Check]:
    """One line for all folders that are fine, one for each that is not."""
    folders: dict[str, dict[str, Any]] = trial.node["folders"]
    bad = {key: one for key, one in folders.items() if one["free_bytes"] < ROOM or not one["writable"]}
    said = {key: f"{key} {one['path']}: {gigabytes(one['free_bytes'])} free" for key, one in folders.items()}
    expected = f"{gigabytes(ROOM)} and the right to write; set the variable elsewhere"
    if not bad:
        least = min(one["free_bytes"] for one in folders.values())
        return [
            Check("caches", name, f"{', '.join(folders)}: at least {gigabytes(least)} free", gigabytes(ROOM), "fine")
        ]
    return [
        Check("caches", name, said[key] + ("" if one["writable"] else ", not writable"), expected, "wrong")
        for key, one in bad.items()
    ]


def stepped(name: str, recipe: Recipe, trial: Trial) -> Check:
    """Does a training step of the recipe go through with the longest rows?"""
    expected = f"a step of {recipe.rows_per_step} rows, rank {recipe.rank}, layout {recipe.layout}"
    if trial.problem:
        return Check("trains", name, trial.problem, "", "wrong")
    found = trial.found
    longest = f"{found['longest_tokens']} tokens{', made up' if found['made_up'] else ''}"
    said = (
        f"{found['usual_seconds']:g} s a usual step, {found['longest_seconds']:g} s with the longest rows ({longest}), "
        f"{found['peak_memory_gib']:g} GiB at most, {found['parameters'] / 1e6:.1f}M parameters on "
        f"{found['processes']} x {found['device']}"
    )
    return Check("trains", name, said, expected, "fine")


def measured(name: str, experiment: Experiment, trial: Trial) -> list[Check]:
    """Do the longest rows of the benchmarks go into the model?"""
    trained = name in experiment.tuned.models
    if trial.problem:
        return [Check("rows", name, trial.problem, "", "wrong")]
    found: dict[str, Any] = trial.found["datasets"]
    checks = _training_rows(name, experiment.recipe(name), trial.found["positions"], found) if trained else []
    return checks + [_questions(name, experiment, way, found) for way in plan.ways(experiment, name)]


def _training_rows(name: str, recipe: Recipe, positions: int | None, found: Mapping[str, Any]) -> list[Check]:
    limit = recipe.max_length
    if positions is not None and limit > positions:
        return [Check("training rows", name, f"training.max_length={limit}", f"at most {positions} tokens", "wrong")]
    counts = {dataset: one["training"] for dataset, one in found.items()}
    said, over = _longest(counts)
    expected = f"at most training.max_length={limit}"
    if over and recipe.overflow == "drop":
        expected += "; longer ones are dropped, whole pairs"
    elif over:
        expected += "; longer ones are refused: set training.overflow to drop"
    wrong = over and recipe.overflow == "refuse"
    return [Check("training rows", name, said, expected, "wrong" if wrong else "fine" if counts else "unknown")]


def _questions(name: str, experiment: Experiment, way: str, found: Mapping[str, Any]) -> Check:
    entry = experiment.models[name]
    counts = {dataset: one["questions"][way] for dataset, one in found.items() if way in one["questions"]}
    said, over = _longest(counts)
    limit = next((one["limit"] for one in counts.values()), 0)
    expected = f"at most {limit}: the context less max_tokens={entry.sampling.max_tokens}"
    if over:
        expected += (
            "; longer ones are refused: raise context, lower max_tokens, or overflow: shorten"
            if entry.overflow == "refuse"
            else "; longer ones get shorter answers"
        )
    wrong = over and entry.overflow == "refuse"
    what = "soft-error prompts" if way == plan.SOFT_ERRORS else f"questions ({way})"
    return Check(
        what, name, said, expected if counts else "rows", "wrong" if wrong else "fine" if counts else "unknown"
    )


def _longest(counts: Mapping[str, Mapping[str, int]]) -> tuple[str, int]:
    if not counts:
        return "no rows yet: no benchmark is fetched", 0
    longest = max(counts, key=lambda dataset: counts[dataset]["longest"])
    over = {dataset: one["over"] for dataset, one in counts.items() if one["over"]}
    said = f"longest {counts[longest]['longest']} tokens ({longest})"
    told = ", ".join(f"{dataset} {count}" for dataset, count in over.items())
    return said + (f"; over the limit: {told} of the longest 200 each" if over else "; none over"), sum(over.values())

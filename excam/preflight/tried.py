"""Checks on the results of the trials: answers, GPUs, memory, steps, rows."""

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


def model_checks(experiment: Experiment, name: str, trial: Trial, manifest: Path) -> list[Check]:
    """Check that a model answers on its GPUs, and that its machine has what it needs."""
    entry = experiment.models[name]
    checks = [_answer_check(name, trial)]
    if words := trial.found.get("words"):
        checks.append(_words_check(name, words))
    if entry.gpus:
        checks += [_card_check(name, entry.gpus, trial), _compiler_check(name, trial)]
    size = sizes.size(manifest.parent / "files")
    return [*checks, _memory_check(name, LOADED[entry.serve] * size, entry.serve, trial), *_folders(name, trial)]


def _answer_check(name: str, trial: Trial) -> Check:
    if trial.problem:
        return Check("answers", name, trial.problem, "", "wrong")
    measured = trial.found
    speed = measured["together_tokens"] / max(measured["together_seconds"], 1e-9)
    result = (
        f"opens in {measured['open_seconds']:.0f} s after {measured['check_seconds']:.0f} s of hashing; "
        f"{measured['answer_tokens']} tokens in {measured['answer_seconds']:.1f} s; {speed:.0f} tokens a second with "
        f"{measured['together']} questions at once; context {measured['engine'].get('context')}"
    )
    return Check("answers", name, result, "an answer to a short question", "fine")


def _words_check(name: str, words: Mapping[str, Any]) -> Check:
    """Say what words alone tell about the errors that a generator wrote; pairs that they tell are left out later."""
    result = f"{words['pairs']} of {words['asked']} answers are errors"
    if words["scaled"]:
        scaled, low, high = words["scaled"]
        result += f"; words tell {scaled:.2f} [{low:.2f}, {high:.2f}] of them (0 is chance, 1 all)"
    expected = "errors, whose words are also in right rows; pairs that words tell are left out"
    return Check("soft errors", name, result, expected, "fine" if words["pairs"] else "wrong")


def _card_check(name: str, wanted: int, trial: Trial) -> Check:
    cards, measured = trial.node["cards"], trial.found
    kinds = ", ".join(f"{card['name']} (driver {card['driver']})" for card in cards[:1])
    result = f"{len(cards)} cards on {trial.node['host']}{': ' if kinds else ''}{kinds}"
    used = str(measured.get("engine", {}).get("device", ""))
    expected = f"{wanted} of them used"
    if measured.get("cuda"):
        expected += f"; this torch is built for CUDA {measured['cuda']}"
    if used:
        result += f"; the engine runs on {used}"
    on_cpu = used.lower() == "cpu" or (bool(measured) and not measured.get("cuda"))
    verdict: Verdict = "wrong" if len(cards) < wanted or on_cpu else "fine" if measured else "unknown"
    return Check("cards", name, result, expected, verdict)


def _compiler_check(name: str, trial: Trial) -> Check:
    there = trial.node["compiler"]
    result = there or f"neither cc nor gcc on {trial.node['host']}"
    return Check(
        "compiler", name, result, "a C compiler: Triton builds its launchers with it", "fine" if there else "wrong"
    )


def _memory_check(name: str, needed: float, serve: str, trial: Trial) -> Check:
    free = trial.node["memory_bytes"]
    if free is None or not needed:
        return Check("host memory", name, "not known", gigabytes(needed), "unknown")
    expected = f"{gigabytes(needed)}: {LOADED[serve]:g} x the weights (serve: {serve})"
    result = f"{gigabytes(free)} for this job on {trial.node['host']}"
    return Check("host memory", name, result, expected, "fine" if free >= needed else "wrong")


def _folders(name: str, trial: Trial) -> list[Check]:
    """Return one check for all folders without a problem, and one for each folder with a problem."""
    folders: dict[str, dict[str, Any]] = trial.node["folders"]
    bad = {key: folder for key, folder in folders.items() if folder["free_bytes"] < ROOM or not folder["writable"]}
    result = {key: f"{key} {folder['path']}: {gigabytes(folder['free_bytes'])} free" for key, folder in folders.items()}
    expected = f"{gigabytes(ROOM)} and the right to write; set the variable elsewhere"
    if not bad:
        least = min(folder["free_bytes"] for folder in folders.values())
        return [
            Check("caches", name, f"{', '.join(folders)}: at least {gigabytes(least)} free", gigabytes(ROOM), "fine")
        ]
    return [
        Check("caches", name, result[key] + ("" if folder["writable"] else ", not writable"), expected, "wrong")
        for key, folder in bad.items()
    ]


def training_checks(name: str, recipe: Recipe, trial: Trial) -> Check:
    """Check that a training step of the recipe succeeds with the longest rows."""
    expected = f"a step of {recipe.rows_per_step} rows, rank {recipe.rank}, layout {recipe.layout}"
    if trial.problem:
        return Check("trains", name, trial.problem, "", "wrong")
    measured = trial.found
    longest = f"{measured['longest_tokens']} tokens{', made up' if measured['made_up'] else ''}"
    result = (
        f"{measured['usual_seconds']:g} s a usual step, {measured['longest_seconds']:g} s with the longest rows "
        f"({longest}), {measured['peak_memory_gib']:g} GiB at most, {measured['parameters'] / 1e6:.1f}M parameters on "
        f"{measured['processes']} x {measured['device']}"
    )
    return Check("trains", name, result, expected, "fine")


def row_checks(name: str, experiment: Experiment, trial: Trial) -> list[Check]:
    """Check that the longest rows of the benchmarks fit into the model."""
    trained = name in experiment.tuned.models
    if trial.problem:
        return [Check("rows", name, trial.problem, "", "wrong")]
    datasets: dict[str, Any] = trial.found["datasets"]
    checks = _training_rows(name, experiment.recipe(name), trial.found["positions"], datasets) if trained else []
    return checks + [_question_check(name, experiment, way, datasets) for way in plan.ways_of_asking(experiment, name)]


def _training_rows(name: str, recipe: Recipe, positions: int | None, datasets: Mapping[str, Any]) -> list[Check]:
    limit = recipe.max_length
    if positions is not None and limit > positions:
        return [Check("training rows", name, f"training.max_length={limit}", f"at most {positions} tokens", "wrong")]
    counts = {dataset: summary["training"] for dataset, summary in datasets.items()}
    result, over = _longest_and_excess(counts)
    expected = f"at most training.max_length={limit}"
    if over and recipe.overflow == "drop":
        expected += "; longer ones are dropped, whole pairs"
    elif over:
        expected += "; longer ones are refused: set training.overflow to drop"
    wrong = over and recipe.overflow == "refuse"
    return [Check("training rows", name, result, expected, "wrong" if wrong else "fine" if counts else "unknown")]


def _question_check(name: str, experiment: Experiment, way: str, datasets: Mapping[str, Any]) -> Check:
    entry = experiment.models[name]
    counts = {
        dataset: summary["questions"][way] for dataset, summary in datasets.items() if way in summary["questions"]
    }
    result, over = _longest_and_excess(counts)
    limit = next((counted["limit"] for counted in counts.values()), 0)
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
        what, name, result, expected if counts else "rows", "wrong" if wrong else "fine" if counts else "unknown"
    )


def _longest_and_excess(counts: Mapping[str, Mapping[str, int]]) -> tuple[str, int]:
    if not counts:
        return "no rows yet: no benchmark is fetched", 0
    longest = max(counts, key=lambda dataset: counts[dataset]["longest"])
    over = {dataset: counted["over"] for dataset, counted in counts.items() if counted["over"]}
    result = f"longest {counts[longest]['longest']} tokens ({longest})"
    long = ", ".join(f"{dataset} {count}" for dataset, count in over.items())
    return result + (f"; over the limit: {long} of the longest 200 each" if over else "; none over"), sum(over.values())

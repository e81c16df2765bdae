"""The work of the complete experiment, with GPU hours and costs estimated from the trials.

Counts are upper bounds: unusable answers of a generator and rows that are too long reduce them. Existing results are
counted too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from excam.config import LEXICON, Experiment
from excam.error_reports import record_files
from excam.excam40k import datasets
from excam.preflight.plan import LONGEST
from excam.preflight.systems import Requests
from excam.preflight.trial import Trial
from excam.training import layout

SPLITS = ("train", "dev", "test")
UNTRIED = "no trial that went well"
PAIRS_OF_A_BASE = 2  # at most: two forms of a question, or two severities


@dataclass(frozen=True, slots=True)
class Rows:
    """At most this many rows of a benchmark, original and corrupted; pairs a generator writes; UTF-8 bytes of a typical
    row.
    """

    by_split: Mapping[str, int]
    generated: int
    bytes_each: float | None  # None: not drawn yet


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of work: its amount, its hours and GPUs, and the basis of the estimate. None: unknown."""

    what: str
    of: str
    amount: str
    hours: float | None
    cards: int
    rests_on: str


@dataclass(frozen=True, slots=True)
class Bill:
    """The requests of one kind to a server, at most, and their cost in the currency of its `price`; None: no price."""

    what: str
    model: str
    rows: int
    cost: float | None
    rests_on: str


def rows_of(experiment: Experiment, samples: Mapping[str, Path]) -> dict[str, Rows]:
    """Count the rows of each benchmark, from its right pairs where they are drawn, else from `cap`."""
    return {name: _rows(experiment, name, samples.get(name)) for name in experiment.datasets}


def _rows(experiment: Experiment, name: str, samples: Path | None) -> Rows:
    cap, shares = experiment.datasets[name].cap, experiment.construction.shares
    most = cap if experiment.construction.cap_stage == "after" else cap * 2 * PAIRS_OF_A_BASE
    soft = datasets.load(name, experiment.datasets[name].module).ERRORS == "soft"
    if samples is None:
        by_split = {split: ceil(most * shares[split]) for split in SPLITS}
        return Rows(by_split, most // 2 if soft else 0, None)
    right = record_files.read_samples(samples)
    part = min(1.0, most / (2 * len(right))) if right else 0.0
    by_split = {split: ceil(part * 2 * sum(sample.split == split for sample in right)) for split in SPLITS}
    texts = sum(len(f"{sample.instruction}{sample.output}".encode("utf-8", "replace")) for sample in right)
    return Rows(by_split, len(right) if soft else 0, texts / len(right) if right else None)


def planned_tasks(
    experiment: Experiment,
    rows: Mapping[str, Rows],
    asked: Mapping[str, Trial],
    trained: Mapping[str, Trial],
    others: Sequence[Requests] = (),
) -> list[Task]:
    """Return the work that takes a card, in the order in which it is done; models behind servers are in `bills`."""
    tasks = _generation_tasks(experiment, rows, asked)
    for model in experiment.tuned.models:
        tasks += _training_tasks(experiment, model, rows, asked, trained.get(model))
    for model in dict.fromkeys(system[0] for system in experiment.systems):
        tasks += _judging_tasks(experiment, model, rows, asked.get(model))
    tasks += [
        _asking_task(line.what, experiment, line.model, line.count, 1, asked.get(line.model))
        for line in others
        if experiment.models[line.model].is_local
    ]
    return tasks


def _generation_tasks(experiment: Experiment, rows: Mapping[str, Rows], asked: Mapping[str, Trial]) -> list[Task]:
    name = experiment.generation.generator
    if name == LEXICON or not experiment.models[name].is_local:
        return []
    prompts = sum(each.generated for each in rows.values())
    loads = 2 * experiment.generation.shards * sum(each.generated > 0 for each in rows.values())
    return [_asking_task("soft errors", experiment, name, prompts, loads, asked.get(name))]


def _asking_task(what: str, experiment: Experiment, model: str, rows: int, loads: int, trial: Trial | None) -> Task:
    amount = f"at most {rows:,} prompts; engines to load: {loads}"
    entry = experiment.models[model]
    if trial is None or trial.problem:
        return Task(what, model, amount, None, entry.gpus, UNTRIED)
    measured = trial.found
    tokens = measured["together_tokens"] / measured["together"]
    rests = f"{measured['together']} answers at once, {tokens:.0f} tokens each"
    if measured["cut"]:
        more = max(0, entry.sampling.max_tokens - LONGEST)  # tokens that a truncated answer could still have had
        tokens = (measured["together_tokens"] + measured["cut"] * more) / measured["together"]
        rests += f"; {measured['cut']} were cut and count with max_tokens"
    seconds = rows * tokens * measured["together_seconds"] / max(1, measured["together_tokens"])
    seconds += loads * (measured["open_seconds"] + measured["check_seconds"])
    return Task(what, model, amount, seconds / 3600, entry.gpus, rests)


def _training_tasks(
    experiment: Experiment, model: str, rows: Mapping[str, Rows], asked: Mapping[str, Trial], trial: Trial | None
) -> list[Task]:
    recipe, steps = (
        experiment.recipe(model),
        [steps_of(experiment, model, mixture, rows) for mixture in experiment.tuned.mixtures],
    )
    if not steps:
        return []
    amount = f"{len(steps)} adapters, at most {sum(steps):,} steps of {recipe.rows_per_step} rows"
    hours, rests, cards = None, UNTRIED, layout.load_layout(recipe.layout)
    if trial and not trial.problem:
        measured = trial.found
        hours = sum(steps) * measured["usual_seconds"] / 3600
        kind = "made-up rows" if measured["made_up"] else "rows drawn evenly"
        rests = f"{measured['usual_seconds']:g} s a step of {kind}; loading and saving not counted"
    made = Task("training", model, amount, hours, cards.processes if cards.device == "gpu" else 0, rests)
    answered, loads = asked.get(model), len(steps)
    hours, rests = None, UNTRIED
    if answered and not answered.problem:
        hours = loads * (answered.found["open_seconds"] + answered.found["check_seconds"]) / 3600
        rests = "loading as for judging, a job each; fewer where jobs share an engine"
    return [
        made,
        Task("proof of adapters", model, f"engines to load: {loads}", hours, experiment.models[model].gpus, rests),
    ]


def steps_of(experiment: Experiment, model: str, mixture: str, rows: Mapping[str, Rows]) -> int:
    """Return the most optimizer steps of one adapter."""
    recipe = experiment.recipe(model)
    count = sum(each.by_split["train"] for name, each in rows.items() if mixture != f"without-{name}")
    return int(min(count, recipe.rows or count) * recipe.epochs) // recipe.rows_per_step


def _judging_tasks(experiment: Experiment, model: str, rows: Mapping[str, Rows], trial: Trial | None) -> list[Task]:
    if not experiment.models[model].is_local:
        return []
    test, dev = (sum(each.by_split[split] for each in rows.values()) for split in ("test", "dev"))
    own = [system for system in experiment.systems if system[0] == model]
    with_dev = [system for system in own if system[1:] == ("all", "report")]
    count = len(own) * test + len(with_dev) * dev
    return [_asking_task("judging", experiment, model, count, len(own) + len(with_dev), trial)]


def bills(experiment: Experiment, rows: Mapping[str, Rows], others: Sequence[Requests] = ()) -> list[Bill]:
    """Return what each model behind a server is asked at most: prompts of a token a byte, answers of max_tokens."""
    judged = [
        _bill(experiment, "judging and errors", model, count, prompt_bytes, count)
        for model, (count, prompt_bytes) in _at_servers(experiment, rows).items()
    ]
    return judged + [
        _bill(experiment, line.what, line.model, line.count, line.prompt_bytes, line.texts)
        for line in others
        if not experiment.models[line.model].is_local
    ]


def _bill(experiment: Experiment, what: str, model: str, count: int, prompt_bytes: float | None, texts: int) -> Bill:
    """Return the bill of `count` requests, of which `texts` are answered by max_tokens and the others by one token."""
    entry = experiment.models[model]
    price = entry.server and entry.server.price
    answers = texts * entry.sampling.max_tokens + (count - texts)
    cost = price.cost(ceil(prompt_bytes or 0), answers) if price else None
    rests = f"answers of {entry.sampling.max_tokens if texts else 1} tokens"
    rests += ", prompts of a token a byte" if prompt_bytes is not None else "; prompts not counted: no rows yet"
    return Bill(what, model, count, cost, rests if price else "no price in config.yaml")


def _at_servers(experiment: Experiment, rows: Mapping[str, Rows]) -> dict[str, tuple[int, float | None]]:
    """Return the number of requests to each model behind a server, and the bytes of their prompts."""
    template = 1000  # bytes of a prompt's own words: more than any judge's
    subset = {name: min(experiment.construction.subset, each.by_split["test"]) for name, each in rows.items()}
    tests = {name: each.by_split["test"] for name, each in rows.items()}
    generated = {name: each.generated for name, each in rows.items()}
    wanted = [(model, subset) for model in experiment.external.models for _ in experiment.external.judges]
    wanted += [(model, tests) for model, _, _ in experiment.systems]
    wanted += [(experiment.generation.generator, generated)]
    counted: dict[str, tuple[int, float | None]] = {}
    for model, counts in wanted:
        if model == LEXICON or experiment.models[model].is_local:
            continue
        before, size = counted.get(model, (0, 0.0))
        sizes = [(count, rows[name].bytes_each) for name, count in counts.items()]
        known = [count * (each + template) for count, each in sizes if each is not None]
        whole = size is not None and len(known) == len(sizes)
        counted[model] = (before + sum(counts.values()), size + sum(known) if whole and size is not None else None)
    return counted

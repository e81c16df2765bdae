"""A cluster on paper: the workflow's real jobs on so many GPUs, with the times of the paper and assumptions of ours.

A job starts when its inputs are there and enough GPUs are free; of those that could, the one with the longest way to
the end. GPUs are one pool (a job of four may take them on two machines); jobs without a GPU wait for their inputs only.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from bench.processes import Job

# --- Assumptions. Minutes; "paper" as printed in Appendix B and E, "ours" measured here, "assumed" neither.
TRAINING = {"gemma3-27b": 160.0, "phi3-medium-4k": 80.0}  # GPU-minutes of a LoRA: printed 80 and 40 on two GPUs
CYCLE = 300.0  # GPU-minutes of asking all twenty adapters, loading included; printed as 5 h, on one GPU as we take it
GENERATION = 48 * 60.0  # GPU-minutes of soft errors, without loading; printed as 48 GPU hours
LOADING = {"generator": 6.0, "large": 2.0, "small": 1.5}  # of an engine
LARGE = ("gemma3-27b", "mistral-24b")  # the other judges have 14B
BENCHMARKS = 9  # a job that judges asks about one of them
THINKING = ("ds-r1-14b", "qwen3-14b")
SLOWER = 4.0  # thinking baselines, against an adapter of the same size
PLAIN = 0.15  # a job without a GPU: start-up of Python and seconds of work
QUEUED = 0.5  # what Slurm takes to start a job with a GPU
ASSUMPTIONS = (
    ("a LoRA of Gemma 3 27B, of Phi-3 medium", "80 and 40 min on two GPUs; on one twice as long", "paper; assumed"),
    ("asking all twenty adapters", "5 h on one GPU, Gemma's 20 min each, Phi's 10", "paper; split by size: assumed"),
    ("soft errors", "48 GPU hours, the same for each job, and 6 min of loading a job", "paper; loading: assumed"),
    ("a baseline asked in one way", "as an adapter of its size (14B: 10 min); thinking ones 40 min", "assumed"),
    ("verify_adapter", "an engine to load, and a minute", "assumed"),
    ("judging the dev sets", "half of judging the test sets", "assumed; rows"),
    ("a job without a GPU", "9 s (3.4 s on average in the run of ten adapters)", "ours"),
    ("Slurm starts a job with GPUs after", "30 s", "assumed"),
    ("weights and benchmarks", "fetched beforehand", ""),
)


@dataclass(frozen=True, slots=True)
class Task:
    """One job: its GPUs, minutes, and the jobs it waits for, by place in the list."""

    job: Job
    minutes: float
    after: frozenset[int]


@dataclass(frozen=True, slots=True)
class Run:
    """A simulated run. `waited`: minutes by rule on the chain that leads to the end, in GPU queues included."""

    hours: float
    gpu_hours: float
    longest: float  # hours of the longest chain of jobs, as if there were GPUs for all
    shared: float  # hours if all GPUs were busy all the time
    waited: Mapping[str, float]


def minutes(job: Job, generating: int) -> float:
    """How long a job takes, from the table above; soft errors are shared out among so many jobs."""
    model = job.wildcards.get("model", "")
    if job.rule.startswith("fetch_"):
        return 0.0
    if not job.gpus:
        return PLAIN
    if job.rule == "train_adapter":
        return QUEUED + TRAINING[model] / job.gpus
    if job.rule == "generate_soft_errors":
        return QUEUED + LOADING["generator"] + GENERATION / generating / job.gpus
    if job.rule == "verify_adapter":
        return QUEUED + loading(job) + 1
    thinking = SLOWER if model in THINKING else 1.0
    adapter = CYCLE / 30 * (2 if model in LARGE else 1)  # ten of one size and ten of twice that
    fewer = job.wildcards.get("split") == "dev"
    asking = max(0.0, adapter * thinking * (0.5 if fewer else 1.0) - loading(job))
    return QUEUED + loading(job) + asking / (BENCHMARKS if job.dataset else 1)


def loading(job: Job) -> float:
    """Minutes until a job's engine answers."""
    if job.rule == "generate_soft_errors":
        return LOADING["generator"]
    return LOADING["large" if job.wildcards.get("model") in LARGE else "small"]


def tasks(jobs: Sequence[Job]) -> list[Task]:
    """The graph of a plan: who makes a file comes before who reads it."""
    maker = {output: place for place, job in enumerate(jobs) for output in job.outputs}
    generating = sum(job.rule == "generate_soft_errors" for job in jobs)
    before = [frozenset(maker[file] for file in job.inputs if file in maker) for job in jobs]
    return [Task(job, minutes(job, generating), after) for job, after in zip(jobs, before, strict=True)]


def adapters_of(graph: Sequence[Task], rule: str) -> list[int]:
    """The jobs of a rule that have to do with an adapter."""
    return [
        place
        for place, task in enumerate(graph)
        if task.job.rule == rule and task.job.wildcards.get("trained_on", "nothing") != "nothing"
    ]


def one_after_another(graph: Sequence[Task], places: Sequence[int]) -> list[Task]:
    """The same jobs, these in this order, each after the one before."""
    chained = list(graph)
    for before, place in pairwise(places):
        chained[place] = replace(graph[place], after=graph[place].after | {before})
    return chained


def as_in_the_paper(graph: Sequence[Task]) -> list[Task]:
    """Adapter after adapter is trained, then one after the other is asked, then the baselines; nothing is verified."""
    unverified = [
        replace(task, minutes=0.0, job=replace(task.job, gpus=0)) if task.job.rule == "verify_adapter" else task
        for task in graph
    ]
    asked = adapters_of(graph, "judge")
    baselines = [place for place, task in enumerate(graph) if task.job.rule == "judge" and place not in asked]
    seen = set[tuple[str | None, ...]]()
    for place in (*asked, *baselines):
        task = unverified[place]
        system = tuple(map(task.job.wildcards.get, ("model", "trained_on", "judge")))
        if system in seen:  # about another benchmark: it finds the model loaded
            unverified[place] = replace(task, minutes=task.minutes - QUEUED - loading(task.job))
        seen.add(system)
    return one_after_another(unverified, [*adapters_of(graph, "train_adapter"), *asked, *baselines])


def allocations(graph: Sequence[Task], sizes: Mapping[str, int]) -> list[list[int]]:
    """Places of the jobs that share an allocation, and so an engine; `sizes` is `group-components` of a profile.

    What hangs together (an adapter's proof and its judging) counts once; so many of a group share an allocation.
    """
    groups: defaultdict[tuple[str, str], defaultdict[tuple[str, ...], list[int]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for place in in_order(graph):
        job = graph[place].job
        at = job.wildcards
        if job.rule == "generate_soft_errors":
            groups["generator", ""][str(place),].append(place)
        elif job.rule in ("verify_adapter", "judge"):
            own = at["trained_on"] != "nothing"
            groups["engine_{model}", at["model"]][(at["trained_on"],) if own else ("nothing", str(place))].append(place)
    shared = []
    for (name, _), parts in groups.items():
        left = iter(parts.values())
        while chunk := list(islice(left, sizes.get(name, 1))):
            shared.append([place for part in chunk for place in part])
    return shared


def in_allocations(graph: Sequence[Task], sizes: Mapping[str, int]) -> list[Task]:
    """The jobs of an allocation one after another, once what all of them need is there; the first loads the engine."""
    chained = list(graph)
    for places in allocations(graph, sizes):
        outside = frozenset().union(*(graph[place].after for place in places)) - set(places)
        for number, place in enumerate(places):
            before = {places[number - 1]} if number else set[int]()
            spared = QUEUED + loading(graph[place].job) if number else 0.0
            chained[place] = replace(
                graph[place], minutes=max(0.0, graph[place].minutes - spared), after=outside | before
            )
    return chained


def loads(graph: Sequence[Task], sizes: Mapping[str, int]) -> list[Job]:
    """A job for each time that weights go onto cards; a base asked with adapters and without takes two engines."""
    loaded_jobs = [task.job for task in graph if task.job.gpus and task.job.rule == "train_adapter"]
    for places in allocations(graph, sizes):
        jobs = (graph[place].job for place in places)
        loaded_jobs += {job.wildcards.get("trained_on", "nothing") == "nothing": job for job in jobs}.values()
    return loaded_jobs


def ways(
    single: Sequence[Task], zero2: Sequence[Task], shards: Sequence[Task], sizes: Mapping[str, int]
) -> dict[str, Sequence[Task]]:
    """Ways to run the experiment, from its plans: one GPU a LoRA, two, soft errors in 16 shards instead of 2."""
    return {
        "as `config.yaml` has it: one GPU a LoRA, an allocation a job": single,
        "soft errors in 16 shards a dataset and severity instead of 2": shards,
        "two GPUs a LoRA": zero2,
        "as `config.yaml` and `profiles/slurm` have it: jobs of an engine share an allocation": in_allocations(
            single, sizes
        ),
        "the paper's order: LoRA after LoRA on two GPUs, then asked in turn": as_in_the_paper(zero2),
    }


def training_and_asking(graph: Sequence[Task]) -> list[Task]:
    """The same graph where all but the adapters costs nothing: what the paper calls a training and evaluation cycle."""
    counted = {p for rule in ("train_adapter", "verify_adapter", "judge") for p in adapters_of(graph, rule)}
    return [
        task if place in counted else replace(task, minutes=0.0, job=replace(task.job, gpus=0))
        for place, task in enumerate(graph)
    ]


def in_order(graph: Sequence[Task]) -> list[int]:
    """Places, every job after those it waits for. Raises ValueError where jobs wait for each other."""
    waiting = [len(task.after) for task in graph]
    followers = following(graph)
    ready = [place for place, number in enumerate(waiting) if not number]
    for place in ready:
        for follower in followers[place]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    if len(ready) < len(graph):
        raise ValueError("jobs that wait for each other")
    return ready


def following(graph: Sequence[Task]) -> list[list[int]]:
    """The jobs that wait for each job."""
    followers: list[list[int]] = [[] for _ in graph]
    for place, task in enumerate(graph):
        for before in task.after:
            followers[before].append(place)
    return followers


def simulate(graph: Sequence[Task], gpus: int) -> Run:
    """Run the jobs on so many GPUs. Raises ValueError where a job needs more of them."""
    if any(task.job.gpus > gpus for task in graph):
        raise ValueError(f"a job needs more than {gpus} GPUs")
    ahead, followers = _ahead(graph), following(graph)
    started, ended = [0.0] * len(graph), [0.0] * len(graph)
    held_up: list[int | None] = [None] * len(graph)  # whose end let it start
    waiting = [len(task.after) for task in graph]
    ready = [(-ahead[place], place) for place, number in enumerate(waiting) if not number]
    running: list[tuple[float, int]] = []
    now, free, last = 0.0, gpus, None
    while ready or running:
        left = []
        for priority, place in sorted(ready):
            task = graph[place]
            if task.job.gpus > free:
                left.append((priority, place))
                continue
            free -= task.job.gpus
            started[place], ended[place], held_up[place] = now, now + task.minutes, last
            heapq.heappush(running, (ended[place], place))
        ready = left
        now, last = heapq.heappop(running)
        free += graph[last].job.gpus
        for follower in followers[last]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append((-ahead[follower], follower))
    work = sum(task.job.gpus * task.minutes for task in graph) / 60
    return Run(now / 60, work, max(ahead) / 60, work / gpus, _chain(graph, started, ended, held_up))


def summary(run: Run) -> str:
    """A run in a cell: its hours, and what they went into on the chain that leads to its end."""
    longest = sorted(run.waited.items(), key=lambda pair: -pair[1])[:3]
    return f"{run.hours:.1f}: " + ", ".join(f"{rule} {spent / 60:.1f}" for rule, spent in longest)


def _ahead(graph: Sequence[Task]) -> list[float]:
    """Minutes from the start of each job to the end of the longest chain it opens."""
    ahead, followers = [0.0] * len(graph), following(graph)
    for place in reversed(in_order(graph)):
        ahead[place] = graph[place].minutes + max((ahead[follower] for follower in followers[place]), default=0.0)
    return ahead


def _chain(
    graph: Sequence[Task], started: Sequence[float], ended: Sequence[float], held_up: Sequence[int | None]
) -> dict[str, float]:
    """Minutes by rule along what the last job waited for, one after the other, back to the start."""
    minutes_of: defaultdict[str, float] = defaultdict(float)
    place: int | None = max(range(len(graph)), key=ended.__getitem__)
    while place is not None:
        minutes_of[graph[place].job.rule] += graph[place].minutes
        place = held_up[place] if started[place] else None
    return dict(minutes_of)

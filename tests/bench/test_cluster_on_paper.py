"""The cluster on paper keeps to its rules: schedules worked out by hand, and what must hold for any graph."""

import random
from collections import Counter

import pytest
import yaml

from bench import cluster, dag
from bench.cluster import Task, simulate
from bench.processes import ROOT, Job
from excam import config


def job(rule="judge", gpus=1, inputs=(), outputs=(), **wildcards):
    return Job(rule, wildcards.get("dataset", ""), tuple(inputs), tuple(outputs), (), wildcards, gpus)


def graph(*rows):
    """Rows of minutes, GPUs, and the places waited for."""
    return [Task(job(f"rule-{n}", gpus), minutes, frozenset(after)) for n, (minutes, gpus, *after) in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "gpus", "hours"),
    [
        ([(60, 1)] * 4, 2, 2),  # two and two
        ([(60, 1)] * 5, 2, 3),  # one more
        ([(60, 2), (60, 1), (60, 1)], 2, 2),  # the pair beside the two
        ([(60, 1), (60, 1, 0), (60, 1, 1)], 4, 3),  # one chain, more GPUs than it can use
        ([(60, 0)] * 9, 1, 1),  # no GPU needed: nothing to wait for
        ([(10, 1), (10, 1), (60, 1), (60, 1, 2)], 1, 140 / 60),
        ([(60, 1), (60, 1), (60, 1), (120, 0, 2)], 1, 3),  # the longest way first, and its end beside the others
    ],
)
def test_schedules_worked_out_by_hand(rows, gpus, hours):
    run = simulate(graph(*rows), gpus)
    assert run.hours == pytest.approx(hours)
    assert run.gpu_hours == pytest.approx(sum(minutes * cards for minutes, cards, *_ in rows) / 60)


@pytest.mark.parametrize("seed", range(30))
def test_what_holds_for_any_graph(seed):
    """Between the bounds (Graham's, for one GPU a job), and the chain to the end accounts for every minute."""
    rng = random.Random(seed)
    rows = [
        (rng.choice([0, 7, 30, 60]), rng.choice([0, 1]), *rng.sample(range(n), rng.randint(0, min(n, 2))))
        for n in range(60)
    ]
    for gpus in (1, 3, 100):
        run = simulate(graph(*rows), gpus)
        assert max(run.longest, run.shared) - 1e-9 <= run.hours <= run.longest + run.shared + 1e-9
        assert sum(run.waited.values()) == pytest.approx(60 * run.hours)
    assert simulate(graph(*rows), 100).hours == pytest.approx(run.longest)


def test_a_job_too_large_for_the_cluster_is_refused():
    with pytest.raises(ValueError, match="more than 3 GPUs"):
        simulate(graph((1, 4)), 3)


def test_jobs_that_wait_for_each_other_are_refused():
    with pytest.raises(ValueError, match="wait for each other"):
        simulate(graph((1, 1, 1), (1, 1, 0)), 1)


def paper(cells=("",)):
    """Twenty adapters and nothing else, each asked by a job for everything or for each benchmark."""
    jobs = []
    for model in ("gemma3-27b", "phi3-medium-4k"):
        for mixture in range(10):
            at = {"model": model, "trained_on": f"mixture-{mixture}"}
            name = f"{model}/{mixture}"
            jobs.append(job("train_adapter", 2, (), (f"{name}.adapter",), **at))
            jobs.append(job("verify_adapter", 1, (f"{name}.adapter",), (f"{name}.verified",), **at))
            for cell in cells:
                jobs.append(job("judge", 1, (f"{name}.verified",), (f"{name}.{cell}.jsonl",), dataset=cell, **at))
    return cluster.tasks(jobs)


def test_the_papers_order_takes_what_the_paper_says():
    """Twenty hours of training and five of asking, the start of forty jobs apart."""
    run = simulate(cluster.as_in_the_paper(paper()), 4)
    assert run.hours == pytest.approx(25 + 40 * cluster.QUEUED / 60)
    assert simulate(cluster.training_and_asking(cluster.as_in_the_paper(paper())), 64).hours == run.hours
    assert simulate(cluster.as_in_the_paper(paper("abcdefghi")), 4).hours == pytest.approx(run.hours)


SHARED = {"engine_{model}": 5, "generator": 4}


def test_an_allocation_loads_once_and_puts_jobs_in_a_row():
    """Ten adapters of a base in two allocations: nine jobs of ten in each find the engine loaded."""
    alone, together = paper(), cluster.in_allocations(paper(), SHARED)
    saved = sum(task.minutes for task in alone) - sum(task.minutes for task in together)
    assert saved == pytest.approx(2 * 9 * (2.0 + 1.5 + 2 * cluster.QUEUED))
    assert simulate(together, 64).hours > simulate(alone, 64).hours
    assert cluster.in_order(together)


def counted(graph, sizes):
    return Counter(job.rule for job in cluster.loads(graph, sizes))


def test_loads_are_counted():
    """Of each training; of an engine once an allocation, twice where adapters and the base itself are asked."""
    assert counted(paper(), {}) == {"train_adapter": 20, "judge": 20}
    assert counted(paper(), SHARED) == {"train_adapter": 20, "judge": 4}
    bare = [job("judge", 1, (), (f"{way}.jsonl",), model="phi4", trained_on="nothing") for way in "abc"]
    shards = [job("generate_soft_errors", 4) for _ in range(16)]
    assert counted(cluster.tasks([*bare, *shards]), SHARED) == {"judge": 1, "generate_soft_errors": 4}
    mixed = [*bare, job("judge", 1, (), ("d.jsonl",), model="phi4", trained_on="all")]
    assert counted(cluster.tasks(mixed), SHARED) == {"judge": 2}


def test_the_generators_hours_are_shared_out_among_its_jobs():
    """However many shards: 48 GPU hours, and a load a job."""
    for number in (16, 128):
        tasks = cluster.tasks([job("generate_soft_errors", 4) for _ in range(number)])
        hours = sum(task.minutes * task.job.gpus for task in tasks) / 60
        assert hours == pytest.approx(48 + number * 4 * 6.5 / 60)


def test_a_larger_experiment_is_an_experiment():
    from snakemake.utils import update_config

    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    single = config.load(raw)
    update_config(raw, dag.enlarged(10))
    ten = config.load(raw)
    assert len(ten.systems) == 10 * len(single.systems)
    assert ten.generation.shards == 10 * single.generation.shards

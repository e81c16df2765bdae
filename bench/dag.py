"""What planning costs, and what the paper's experiment would cost on a cluster.

    python -m bench.dag --parts plan fresh schedule --times 1 10

`plan`: `snakemake --dry-run` of the paper's experiment and of one so many times as large (more base models, tuned and
as baselines, and more shards; there are nine benchmarks), each in a process of its own: jobs, seconds, processor
seconds, memory. Then once more, looking every few milliseconds whose code it is in, and at heavy libraries loaded.
`fresh`: the same where everything is up to date; the files are empty, and Snakemake's `--touch` records them as its own
(two minutes). `schedule`: the real jobs on 4, 16, 64 GPUs with the paper's times (`bench.cluster`). `hours`: what they
take on H100s by the assumptions of `bench/hours.yaml`, some changed; `--configs` are laid over `config.yaml`:

    python -m bench.dag --parts hours --assume mfu=.4 --configs experiments/h100.yaml
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import yaml
from snakemake.utils import update_config

from bench import cluster, hours
from bench.cluster import Task
from bench.processes import ROOT, environment, planned
from excam import config
from excam.pages.markdown import table

GOAL = 5.0  # seconds to plan the paper's experiment, or to find it up to date
MOST_SHARDS = 999  # as many as a configuration may have
LOOK = 0.004  # seconds between two looks at what runs
HEAVY = ("torch", "transformers", "vllm", "sklearn", "scipy", "matplotlib")
MADE = ("results", "logs", "benchmarks")  # what a run makes; everything else is linked into its folder


@dataclass(frozen=True, slots=True)
class Planned:
    """One dry run."""

    jobs: int
    wall: float
    cpu: float
    peak: float  # MB
    output: str


def main(argv: Sequence[str] | None = None) -> None:
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["watch"]:
        watch(words[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--parts", nargs="+", choices=["plan", "fresh", "schedule", "hours"], default=["plan", "schedule"]
    )
    parser.add_argument("--times", nargs="+", type=int, default=[1, 10], help="100 takes minutes and gigabytes")
    parser.add_argument("--gpus", nargs="+", type=int, default=[4, 16, 64])
    parser.add_argument(
        "--assume", nargs="+", default=[], metavar="NAME=VALUE", help="other than bench/hours.yaml has it"
    )
    parser.add_argument("--configs", nargs="+", type=Path, default=[], help="files laid over config.yaml, for `hours`")
    args = parser.parse_args(words)
    print(f"load of this machine, others' work included: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as place:
        folder = checkout(Path(place))
        if "plan" in args.parts:
            plan(folder, args.times)
        if "fresh" in args.parts:
            fresh(folder)
        if "schedule" in args.parts:
            schedule(folder, args.gpus)
        if "hours" in args.parts:
            hours_of(folder, args.configs, args.assume)


def checkout(folder: Path) -> Path:
    """A folder to run in that has the repository's files and nothing a run has made."""
    for path in ROOT.iterdir():
        if path.name not in MADE and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    return folder


def enlarged(times: int) -> dict[str, Any]:
    """Config fields that make the experiment so many times as large: copies of its models under other names."""
    raw = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    overlay: dict[str, Any] = {
        "models": {},
        "generation": {"shards": min(MOST_SHARDS, raw["generation"]["shards"] * times)},
    }
    for role in ("tuned", "baselines"):
        names = [f"{model}-{copy}" for copy in range(1, times) for model in raw[role]["models"]]
        overlay[role] = {"models": raw[role]["models"] + names}
        overlay["models"] |= {name: raw["models"][name.rpartition("-")[0]] for name in names}
    return overlay


def overlay(folder: Path, name: str, fields: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


def words_of(folder: Path, *configs: Path) -> list[str]:
    """Return Snakemake's command for the complete experiment in this folder."""
    words = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--cores", "1"]
    return [*words, "--configfile", str(ROOT / "config.yaml"), *map(str, configs), "--", "all"]


def measured(command: Sequence[str]) -> Planned:
    """Run a command that plans, and read what it cost from the kernel."""
    with tempfile.TemporaryFile("w+") as out:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment(), cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    if process.returncode:
        sys.exit(f"bench: {output[-2000:]}")
    total = re.search(r"^total +(\d+)$", output, re.MULTILINE)
    cpu = usage.ru_utime + usage.ru_stime
    return Planned(int(total[1]) if total else 0, wall, cpu, usage.ru_maxrss / 1024, output)


def plan(folder: Path, sizes: Sequence[int]) -> None:
    """The table of dry runs, and whose code the first one runs."""
    snakemake = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules"]
    rows, configs = [], {times: overlay(folder, f"times-{times}", enlarged(times)) for times in sizes}
    for times in sizes:
        dry_run = measured([*snakemake, *words_of(folder, configs[times])])
        rows.append(
            (
                f"{times} x",
                f"{dry_run.jobs:,}",
                f"{dry_run.wall:.1f}",
                f"{dry_run.cpu:.1f}",
                f"{1000 * dry_run.cpu / dry_run.jobs:.2f}",
                f"{dry_run.peak:.0f}",
            )
        )
        if times == 1:
            print(f"the paper's plan in under {GOAL:.0f} s: {'yes' if dry_run.wall < GOAL else 'no'}\n")
    print(table(("experiment", "jobs", "seconds", "CPU s", "CPU ms a job", "memory, MB"), rows))
    if 1 in configs:
        looked(words_of(folder, configs[1]))


def looked(words: Sequence[str]) -> None:
    """Whose code a dry run is in."""
    dry_run = measured(
        [sys.executable, "-m", "bench.dag", "watch", "snakemake", "--dry-run", "--quiet", "rules", *words]
    )
    print("\n" + dry_run.output[dry_run.output.index("CPU seconds by owner") :])


def watch(words: Sequence[str]) -> None:
    """Run Snakemake in this process, look every few milliseconds whose code it is in, and tell.

    Each look counts for the processor time since the one before, so that time spent waiting for a disk is not counted.
    """
    seconds_by_owner: defaultdict[str, float] = defaultdict(float)
    done, thread = threading.Event(), threading.main_thread().ident
    assert thread is not None

    def look() -> None:
        before = time.process_time()
        while not done.wait(LOOK):
            seconds_by_owner[whose(sys._current_frames()[thread])] += (now := time.process_time()) - before
            before = now

    (looking := threading.Thread(target=look)).start()
    sys.argv = list(words)
    try:
        from snakemake.cli import main as snakemake

        snakemake()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        done.set()
        looking.join()
    shares = ", ".join(
        f"{name} {seconds:.2f}" for name, seconds in sorted(seconds_by_owner.items(), key=lambda pair: -pair[1])
    )
    print(f"CPU seconds by owner: {shares}")
    print(f"of {', '.join(HEAVY)} loaded: {', '.join(name for name in HEAVY if name in sys.modules) or 'none'}")


def whose(frame: FrameType | None) -> str:
    """Whose code is at work: the innermost of ours or Snakemake's, with whatever library it called."""
    here = Path(__file__)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(str(ROOT)) and "site-packages" not in path and path != str(here):
            return "ours, rules" if path.endswith((".smk", "Snakefile")) else f"ours, {Path(path).name}"
        if "/snakemake" in path:
            return "Snakemake"
        frame = frame.f_back
    return "loading Snakemake"


def fresh(folder: Path) -> None:
    """A dry run where nothing is left to do."""
    config = overlay(folder, "as-it-is", {})
    for job in planned(folder, [ROOT / "config.yaml", config], ["all"]):
        for file in map(folder.joinpath, job.outputs):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    snakemake = [sys.executable, "-m", "snakemake"]
    measured([*snakemake, "--touch", "--forceall", "--quiet", "rules", *words_of(folder, config)])
    dry_run = measured([*snakemake, "--dry-run", *words_of(folder, config)])
    if "Nothing to be done" not in dry_run.output or "missing provenance" in dry_run.output:
        sys.exit(f"bench: not up to date: {dry_run.output[-2000:]}")
    under = "yes" if dry_run.wall < GOAL else "no"
    print(
        f"\nup to date: {dry_run.wall:.1f} s, {dry_run.cpu:.1f} s CPU, {dry_run.peak:.0f} MB; "
        f"under {GOAL:.0f} s: {under}"
    )


def schedule(folder: Path, sizes: Sequence[int]) -> None:
    """Makespan and GPU hours of each way to run it, and what the end waited for."""
    graphs = [
        cluster.tasks(planned(folder, [ROOT / "config.yaml", overlay(folder, f"way-{number}", fields)], ["all"]))
        for number, fields in enumerate(({}, {"training": {"layout": "zero2"}}, {"generation": {"shards": 16}}))
    ]
    together = grouped()
    single, zero2, shards = graphs
    ways = cluster.ways(single, zero2, shards, together)
    print("\n" + table(("assumed", "", "from"), cluster.ASSUMPTIONS))
    print(f"\n### The whole experiment: {len(single):,} jobs, {sum(t.job.gpus > 0 for t in single)} of them on GPUs\n")
    for title, sharing in (("a job each", {}), ("as `profiles/slurm` groups them", together)):
        loads = Counter(job.rule for job in cluster.loads(single, sharing))
        by_rule = ", ".join(f"{rule} {number}" for rule, number in sorted(loads.items()))
        print(f"Loads of weights, {title}: {sum(loads.values())} ({by_rule})\n")
    simulated(ways, sizes, lambda graph: graph)
    print("\n### Training and asking the twenty adapters alone\n")
    simulated(ways, sizes, cluster.training_and_asking)


def grouped() -> dict[str, int]:
    """How many of what hangs together share an allocation, as the profile of a Slurm cluster has it."""
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    return {
        name: int(number)
        for name, _, number in (component.rpartition("=") for component in profile["group-components"])
    }


def hours_of(folder: Path, configs: Sequence[Path], changed: Sequence[str]) -> None:
    """The table of kinds of work, their sum, and what they rest on."""
    try:
        assumed, sources = hours.assumptions(changed)
    except ValueError as problem:
        sys.exit(f"bench: {problem}")
    files = [ROOT / "config.yaml", *(path.resolve() for path in configs)]
    raw: dict[str, Any] = {}
    for path in files:
        update_config(raw, yaml.safe_load(path.read_text(encoding="utf-8")))
    jobs = planned(folder, files, ["all"])
    done = hours.Estimate(config.load(raw), assumed, sources).all(jobs, cluster.loads(cluster.tasks(jobs), grouped()))
    print("\n" + table(hours.HEAD, [work.cells() for work in done]))
    print(f"\ntogether {sum(work.hours for work in done):.1f} H100-hours, computed, not measured on a card\n")
    stated = ((name, f"{value:g}" if isinstance(value, float | int) else str(value)) for name, value in assumed.items())
    print(table(("assumption", "", "from"), [(*assumption, sources[assumption[0]]) for assumption in stated]))


def simulated(
    ways: Mapping[str, Sequence[Task]], sizes: Sequence[int], part: Callable[[Sequence[Task]], Sequence[Task]]
) -> None:
    """A row for each way; beside the hours, those of the chain of jobs and queues that its end waited for."""
    rows = []
    for name, graph in ways.items():
        runs = [cluster.simulate(part(graph), gpus) for gpus in sizes]
        rows.append((name, f"{runs[0].gpu_hours:.0f}", f"{runs[0].longest:.1f}", *map(cluster.summary, runs)))
    head = ("way", "GPU hours", "longest chain, hours", *(f"hours on {gpus} GPUs" for gpus in sizes))
    print(table(head, rows))


if __name__ == "__main__":
    main()

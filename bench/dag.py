"""What planning costs, and what the paper's experiment would cost on a cluster.

    python -m bench.dag --parts plan fresh --times 1 10

`plan`: `snakemake --dry-run` of the paper's experiment and of one so many times as large (more base models, tuned and
as baselines, and more shards; there are nine benchmarks), each in a process of its own: jobs, seconds, processor
seconds, memory. `fresh`: the same where everything is up to date; the files are empty, and Snakemake's `--touch`
records them as its own (two minutes). `hours`: what the jobs take on H100s by the assumptions of `bench/hours.yaml`,
some changed; `--configs` are laid over `config.yaml`:

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
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from bench import hours
from bench.processes import ROOT, environment, planned
from excam import config
from excam.pages.markdown import table

GOAL = 5.0  # seconds to plan the paper's experiment, or to find it up to date
MOST_SHARDS = 999  # as many as a configuration may have
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=["plan", "fresh", "hours"], default=["plan"])
    parser.add_argument("--times", nargs="+", type=int, default=[1, 10], help="100 takes minutes and gigabytes")
    parser.add_argument(
        "--assume", nargs="+", default=[], metavar="NAME=VALUE", help="other than bench/hours.yaml has it"
    )
    parser.add_argument("--configs", nargs="+", type=Path, default=[], help="files laid over config.yaml, for `hours`")
    args = parser.parse_args(argv)
    print(f"load of this machine, others' work included: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as place:
        folder = checkout(Path(place))
        if "plan" in args.parts:
            plan(folder, args.times)
        if "fresh" in args.parts:
            fresh(folder)
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
    """The table of dry runs."""
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
    done = hours.Estimate(config.load(raw), assumed, sources).all(jobs, hours.loads(jobs, grouped()))
    print("\n" + table(hours.HEAD, [work.cells() for work in done]))
    print(f"\ntogether {sum(work.hours for work in done):.1f} H100-hours, computed, not measured on a card")
    for what in (("soft errors",), ("training", "verify", "judging with adapters")):
        print(f"of these {', '.join(what)}: {sum(work.hours for work in done if work.what.startswith(what)):.1f}")
    stated = ((name, f"{value:g}" if isinstance(value, float | int) else str(value)) for name, value in assumed.items())
    print("\n" + table(("assumption", "", "from"), [(*assumption, sources[assumption[0]]) for assumption in stated]))


if __name__ == "__main__":
    main()

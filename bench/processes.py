"""The jobs of the workflow as child processes, and what they cost: CPU, wall time, memory of each and of all."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EVERY = 0.05  # seconds between two looks at the memory of the living
PAGE = os.sysconf("SC_PAGE_SIZE")
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)  # as Snakemake sets them
FIRST = ("build_samples",)  # rules that open long chains


@dataclass(frozen=True, slots=True)
class Job:
    rule: str
    dataset: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    command: tuple[str, ...]
    wildcards: Mapping[str, str] = field(default_factory=dict, hash=False)
    gpus: int = 0


Living = tuple[subprocess.Popen[bytes], Job, float]  # process, what it does, since when


@dataclass(frozen=True, slots=True)
class Cost:
    """One finished process; `output` names the job, `peak` is its largest resident set in MB."""

    rule: str
    dataset: str
    output: str
    cpu: float
    wall: float
    peak: float


@dataclass(slots=True)
class Bill:
    """All processes of one run; `together` is the largest sum of resident sets at one time, shared pages twice."""

    costs: list[Cost] = field(default_factory=list)
    wall: float = 0.0
    together: float = 0.0

    @property
    def cpu(self) -> float:
        return sum(cost.cpu for cost in self.costs)

    def of_rule(self, rule: str) -> float:
        return sum(cost.cpu for cost in self.costs if cost.rule == rule)


def planned(folder: Path, configs: Sequence[Path], targets: Sequence[str]) -> list[Job]:
    """What `snakemake --dry-run` would run in `folder`, with the very command lines of the rules."""
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--directory", str(folder), "-n", "-p"]
    command += ["--forceall", "--configfile", *map(str, configs), "--", *targets]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"bench: snakemake: {(done.stderr + done.stdout)[-2000:]}")
    blocks = re.split(r"\n *(?:local)?rule ", done.stdout + done.stderr)
    return [_job(block) for block in blocks[1:]]


def _job(block: str) -> Job:
    lines = block.splitlines()
    facts = dict(line.strip().split(": ", 1) for line in lines[1:] if line.startswith("    ") and ": " in line)
    shell = next(line.removeprefix("Shell command: ") for line in lines if line.startswith("Shell command: "))
    command = shlex.split(shell.partition(" 2>&1 | tee ")[0])
    wildcards = dict(pair.split("=", 1) for pair in facts.get("wildcards", "").split(", ") if "=" in pair)
    inputs, outputs = (tuple(filter(None, facts.get(kind, "").split(", "))) for kind in ("input", "output"))
    gpus = re.search(r"\bgpu=(\d+)", facts.get("resources", ""))
    rule, command = lines[0].rstrip(":"), (sys.executable, *command[1:])
    return Job(rule, wildcards.get("dataset", ""), inputs, outputs, command, wildcards, int(gpus[1]) if gpus else 0)


def run(jobs: Iterable[Job], folder: Path, processes: int) -> Bill:
    """Run jobs, each as soon as its inputs are there, at most `processes` at a time. Stops at the first that fails."""
    waiting = sorted(jobs, key=lambda job: job.rule not in FIRST)
    alive: dict[int, Living] = {}
    missing = {output for job in waiting for output in job.outputs}
    bill, finished = Bill(), threading.Event()
    watch = threading.Thread(target=_watch, args=(alive, bill, finished))
    started = time.perf_counter()
    watch.start()
    try:
        while waiting or alive:
            ready = [job for job in waiting if missing.isdisjoint(job.inputs)]
            for job in ready[: processes - len(alive)]:
                waiting.remove(job)
                started_one = _start(job, folder)
                alive[started_one.pid] = (started_one, job, time.perf_counter())
            cost, job = _next(alive, folder)
            bill.costs.append(cost)
            missing -= set(job.outputs)
    finally:
        bill.wall = time.perf_counter() - started
        finished.set()
        watch.join()
    return bill


def _log(job: Job, folder: Path) -> Path:
    return folder / "logs" / (job.outputs[0].replace("/", "_") + ".log")


def _start(job: Job, folder: Path) -> subprocess.Popen[bytes]:
    log = _log(job, folder)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        return subprocess.Popen(job.command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT, env=environment())


def _next(alive: dict[int, Living], folder: Path) -> tuple[Cost, Job]:
    """Wait for any child; what the kernel counted for it and the children it waited for."""
    pid, status, usage = os.wait4(-1, 0)
    process, job, began = alive.pop(pid)
    process.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for: `subprocess` must not
    if process.returncode:
        sys.exit(f"bench: {shlex.join(job.command)}\n{_log(job, folder).read_text(errors='replace')[-3000:]}")
    seconds = time.perf_counter() - began
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Cost(job.rule, job.dataset, job.outputs[0], cpu, seconds, peak), job


def _watch(alive: Mapping[int, object], bill: Bill, finished: threading.Event) -> None:
    while not finished.wait(EVERY):
        bill.together = max(bill.together, sum(map(_resident, list(alive))))


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 2**20
    except (OSError, IndexError):
        return 0.0


def environment() -> dict[str, str]:
    """What Snakemake gives a job of one thread, and the repository's modules."""
    return os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(ROOT)}

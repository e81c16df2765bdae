"""SIGKILL at random moments of a complete run of the workflow, and a comparison with an undisturbed run.

A kill hits everything (Snakemake and its jobs), one job alone, or Snakemake alone, whose jobs then go on; it comes some
job starts after the command was typed and within the time that the last of them takes. After each kill the user's way
back: `--unlock` if Snakemake was hit, and the same command again.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checkout import Run, tells_of_the_run

from excam.core.provenance import say

HOW = {"everything": 5, "one job": 4, "Snakemake alone": 2}  # what is hit, and how often in proportion
START = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}\S.*\n)+)", re.MULTILINE)
BUSY = "another job is training it"  # what a job says whose orphan of a killed Snakemake is still at work


@dataclass(frozen=True, slots=True)
class Job:
    rule: str
    output: str  # its first


@dataclass(frozen=True, slots=True)
class Kill:
    """`hit`: jobs that were running, as Snakemake knew it; `steps`: those of complete checkpoints, by training."""

    how: str
    hit: tuple[Job, ...]
    steps: Mapping[str, int]


@dataclass(slots=True)
class Story:
    """What happened in one folder. `said`: all that each invocation printed."""

    kills: list[Kill] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    starts: Counter[Job] = field(default_factory=Counter)
    refused: int = 0  # invocations that ended because an orphan was still training
    seconds: float = 0.0

    @property
    def redone(self) -> Counter[str]:
        """Starts beyond the first of each job, by rule."""
        again = Counter({job: count - 1 for job, count in self.starts.items()})
        return Counter(
            {rule: sum(n for job, n in again.items() if job.rule == rule) for rule in {j.rule for j in again}}
        )

    @property
    def allowed(self) -> int:
        return sum(len(kill.hit) for kill in self.kills) + self.refused


def started(said: str) -> dict[int, Job]:
    """Jobs that an invocation has started, by Snakemake's number; targets have no output and are none."""
    jobs = {}
    for rule, block in START.findall(said):
        facts = dict(line.strip().split(": ", 1) for line in block.splitlines() if ": " in line)
        if "output" in facts and "jobid" in facts:
            jobs[int(facts["jobid"])] = Job(rule, facts["output"].split(", ")[0])
    return jobs


def finished(said: str) -> set[int]:
    return {int(number) for number in re.findall(r"^Finished jobid: (\d+) ", said, re.MULTILINE)}


def scripts(folder: Path, group: int | None = None) -> dict[int, str]:
    """Process ids of the steps at work in this folder, or in this process group of it, and their rules."""
    rules = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
            if words[1:3] == [b"-m", b"scripts"] and (place / "cwd").readlink() == folder:
                rules[int(place.name)] = words[3].decode()
        except OSError:  # it has ended meanwhile
            continue
    return {pid: rule for pid, rule in rules.items() if group is None or _group(pid) == group}


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def checkpoints(folder: Path) -> dict[str, int]:
    """Return the steps of the last complete checkpoint, by training."""
    steps: dict[str, int] = {}
    for mark in (folder / "results/checkpoints").glob("*/*/checkpoint-*/whole.json"):
        name = "/".join(mark.parts[-4:-2])
        steps[name] = max(steps.get(name, 0), int(mark.parent.name.split("-")[1]))
    return steps


def durations(folder: Path) -> dict[str, float]:
    """Mean seconds of a job by rule, as a finished run measured them."""
    spent: dict[str, list[float]] = {}
    for file in (folder / "benchmarks").rglob("*.tsv"):
        rule = file.relative_to(folder / "benchmarks").parts[0].removesuffix(".tsv")
        spent.setdefault(rule, []).append(float(file.read_text().splitlines()[1].split("\t")[0]))
    return {rule: sum(values) / len(values) for rule, values in spent.items()}


def disturbed(run: Run, kills: int, seed: int, seconds: Mapping[str, float], jobs: int, *targets: str) -> Story:
    """Kill a run of so many jobs so often, let it end, and tell. Ends the program where it fails of itself."""
    chance, story, began = random.Random(seed), Story(), time.monotonic()
    while len(story.kills) < kills:
        left, more = jobs - len(story.starts), kills - len(story.kills)
        after = chance.randint(1, max(1, left // (more + 1)))
        how = chance.choices(list(HOW), list(HOW.values()))[0]
        if not _kill(run, story, how, after, chance, seconds, targets):
            break
    while _invoke(run, story, targets):
        _wait_for_orphans(run.folder)
    story.seconds = time.monotonic() - began
    return story


def _invoke(run: Run, story: Story, targets: Sequence[str]) -> bool:
    """Let the workflow run to its end; whether it must be typed again, since an orphan was still at work."""
    done = run(*targets)
    _note(story, done.text)
    if done.returncode and BUSY not in done.text:
        sys.exit(f"killed_runs: after {len(story.kills)} kills the workflow fails: {done.text[-3000:]}")
    story.refused += bool(done.returncode)
    return bool(done.returncode)


def _note(story: Story, said: str) -> None:
    story.said.append(said)
    story.starts.update(started(said).values())


def _kill(
    run: Run, story: Story, how: str, after: int, chance: random.Random, seconds: Mapping[str, float],
    targets: Sequence[str],
) -> bool:  # fmt: skip
    """Start the workflow and kill; False where it was through before."""
    with tempfile.NamedTemporaryFile("w+") as output:
        process = run.start(*targets, said=Path(output.name))
        last = _nth_start(process, Path(output.name), after)
        deadline = time.monotonic() + chance.uniform(0, seconds.get(last.rule, 1.0) if last else 0)
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        alive = scripts(run.folder, process.pid)
        while how == "one job" and not alive and process.poll() is None:
            time.sleep(0.01)
            alive = scripts(run.folder, process.pid)
        said = Path(output.name).read_text()
        running = {number: job for number, job in started(said).items() if number not in finished(said)}
        steps = checkpoints(run.folder)
        if process.poll() is None:
            hit = _hit(process, how, chance, alive, list(running.values()))
            story.kills.append(Kill(how, hit, steps))
            say(f"kill {len(story.kills)} of {how}: {', '.join(job.output for job in hit) or 'no job'}; {steps}")
        process.wait()
        said = Path(output.name).read_text()
    _note(story, said)
    if process.returncode == 0:
        return False
    if how == "one job" and "Error in rule" not in said and BUSY not in said:
        sys.exit(f"killed_runs: a job was killed and Snakemake does not say so: {said[-3000:]}")
    story.refused += BUSY in said
    if how != "one job" and run("--unlock").returncode:
        sys.exit("killed_runs: --unlock failed")
    return True


def _nth_start(process: subprocess.Popen[str], output: Path, after: int) -> Job | None:
    """The job that is started as number `after`, once it is; None where the run is over before."""
    while process.poll() is None:
        jobs = list(started(output.read_text()).values())
        if len(jobs) >= after:
            return jobs[after - 1]
        time.sleep(0.02)
    return None


def _hit(
    process: subprocess.Popen[str], how: str, chance: random.Random, alive: Mapping[int, str], running: Sequence[Job]
) -> tuple[Job, ...]:
    """kill -9, and the jobs it concerns."""
    if how == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    elif how == "Snakemake alone":
        os.kill(process.pid, signal.SIGKILL)
    else:
        pid = chance.choice(sorted(alive))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            os.killpg(process.pid, signal.SIGKILL)
            return tuple(running)
        return tuple(job for job in running if job.rule == alive[pid])[:1]
    return tuple(running)


def _wait_for_orphans(folder: Path) -> None:
    while scripts(folder):
        time.sleep(0.2)


def files(folder: Path) -> Iterator[Path]:
    """Everything below results/, by its path from there."""
    home = folder / "results"
    return (path.relative_to(home) for path in sorted(home.rglob("*")) if path.is_file())


def compared(whole: Run, killed: Run) -> dict[str, list[str]]:
    """Files that only one run has, and those of both that differ."""
    ours, theirs = set(files(killed.folder)), set(files(whole.folder))
    both = [f"results/{path}" for path in sorted(ours & theirs) if not tells_of_the_run(path)]
    a, b = whole.digest(*both), killed.digest(*both)
    return {
        "compared": both,
        "lost": sorted(map(str, theirs - ours)),
        "left behind": sorted(map(str, ours - theirs)),
        "differing": [name for name in both if a[name] != b[name]],
    }

"""SIGKILL at random moments of a run of the workflow, and a comparison with an undisturbed run.

A kill hits Snakemake and its jobs, some job starts after the command was typed. After each comes the user's way back:
`--unlock`, and the same command again.
"""

from __future__ import annotations

import os
import random
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checkout import Run, tells_of_the_run

START = re.compile(r"^(?:local)?rule \w+:\n((?: {4}\S.*\n)+)", re.MULTILINE)


@dataclass(slots=True)
class Story:
    """What happened in one folder: kills, jobs that were running at one, and how often each first output was begun."""

    kills: int = 0
    hit: int = 0
    starts: Counter[str] = field(default_factory=Counter)

    @property
    def redone(self) -> int:
        """Starts beyond the first of each job."""
        return self.starts.total() - len(self.starts)


def started(said: str) -> dict[int, str]:
    """First outputs of the jobs that an invocation has started, by Snakemake's number; targets have none."""
    jobs = {}
    for block in START.findall(said):
        facts = dict(line.strip().split(": ", 1) for line in block.splitlines() if ": " in line)
        if "output" in facts and "jobid" in facts:
            jobs[int(facts["jobid"])] = facts["output"].split(", ")[0]
    return jobs


def finished(said: str) -> set[int]:
    return {int(number) for number in re.findall(r"^Finished jobid: (\d+) ", said, re.MULTILINE)}


def disturbed(run: Run, kills: int, seed: int, jobs: int, *targets: str) -> Story:
    """Kill a run of so many jobs so often, let it end, and tell."""
    chance, story = random.Random(seed), Story()
    while story.kills < kills:
        after = chance.randint(1, max(1, (jobs - len(story.starts)) // (kills - story.kills + 1)))
        if not _killed(run, story, after, chance.uniform(0, 1), targets):
            return story
    done = run(*targets)
    assert done.returncode == 0, f"after {kills} kills the workflow fails: {done.text[-3000:]}"
    story.starts.update(started(done.text).values())
    return story


def _killed(run: Run, story: Story, after: int, seconds: float, targets: Sequence[str]) -> bool:
    """Start the workflow and kill it so many seconds behind a start of a job; False where it was through before."""
    with tempfile.NamedTemporaryFile("w+") as output:
        said = Path(output.name)
        process = run.start(*targets, said=said)
        while process.poll() is None and len(started(said.read_text())) < after:
            time.sleep(0.02)
        time.sleep(seconds)
        is_hit = process.poll() is None
        if is_hit:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        text = said.read_text()
    story.starts.update(started(text).values())
    if is_hit:
        story.kills += 1
        story.hit += len(started(text).keys() - finished(text))
        assert run("--unlock").returncode == 0
    else:
        assert process.returncode == 0, f"after {story.kills} kills the workflow fails: {text[-3000:]}"
    return is_hit


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

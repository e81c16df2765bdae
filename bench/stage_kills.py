"""Is a killed script's output ever half a file? `kill -9` at random moments of single jobs of a finished run.

    python -m bench.stage_kills --kills 50 --folder FOLDER

FOLDER is a checkout in which `snakemake --profile local all` has ended. Jobs of `STAGES` are run again by the commands
that Snakemake recorded: their outputs are deleted, the script is killed within the time that it takes undisturbed, and
each output must be absent or have the bytes of the finished run. Then the same command runs to its end and every output
must have these bytes. Stops with code 1 at the first that has not.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.markdown import table
from excam.provenance import say, sha256

STAGES = {
    "templating": ("build_samples", "make_hard_errors", "split_samples"),
    "evaluation": ("score", "evaluate", "compare_systems"),
    "figures": ("figure_3", "figure_10", "figure_11"),
}


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the finished run: what to type, and the hashes of what it made."""

    rule: str
    command: str
    outputs: dict[Path, str]


def jobs(folder: Path) -> dict[str, list[Job]]:
    """Return the recorded jobs of each rule in `STAGES`."""
    summary = ["snakemake", "--profile", "local", "--detailed-summary", "all"]
    done = subprocess.run(summary, cwd=folder, capture_output=True, text=True, check=True)
    start = done.stdout.index("output_file\t")
    made: dict[tuple[str, str], list[Path]] = {}
    for row in csv.DictReader(done.stdout[start:].splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        made.setdefault((row["rule"], row["shellcmd"]), []).append(folder / row["output_file"])
    wanted = [rule for rules in STAGES.values() for rule in rules]
    return {
        rule: [
            Job(rule, command, {path: sha256(path) for path in sorted(outputs)})
            for (name, command), outputs in sorted(made.items())
            if name == rule and command.startswith("python -m scripts.")
        ]
        for rule in wanted
    }


def started(job: Job, folder: Path) -> subprocess.Popen[bytes]:
    """Start a job without its outputs, in a process group of its own."""
    for path in job.outputs:
        path.unlink(missing_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(["bash", "-c", job.command], cwd=folder, start_new_session=True, **quiet)


def damaged(job: Job, may_be_absent: bool) -> list[Path]:
    """Return the outputs that are neither those of the finished run nor, where that is allowed, absent."""
    return [
        path
        for path, expected in job.outputs.items()
        if (sha256(path) != expected if path.exists() else not may_be_absent)
    ]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of each stage")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)

    chance = random.Random(args.seed)
    recorded, lines = jobs(args.folder), []
    for stage, rules in STAGES.items():
        pool = [chance.choice(recorded[rule]) for rule in rules]
        seconds = {job.rule: _undisturbed(job, args.folder) for job in pool}
        absent = 0
        for number in range(args.kills):
            job = pool[number % len(pool)]
            process = started(job, args.folder)
            time.sleep(chance.uniform(0.2, 1.0) * seconds[job.rule])
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            absent += not all(path.exists() for path in job.outputs)
            _check(job, may_be_absent=True)
            started(job, args.folder).wait()
            _check(job, may_be_absent=False)
            say(f"{stage}: {number + 1} of {args.kills}")
        lines.append((stage, ", ".join(rules), args.kills, absent, 0))
    print(
        table(("stage", "scripts", "kills", "of them before the last output was there", "outputs that differ"), lines)
    )


def _undisturbed(job: Job, folder: Path) -> float:
    begun = time.monotonic()
    started(job, folder).wait()
    _check(job, may_be_absent=False)
    return time.monotonic() - begun


def _check(job: Job, may_be_absent: bool) -> None:
    if wrong := damaged(job, may_be_absent):
        sys.exit(f"{job.rule}: {wrong[0]}: not the bytes of the finished run; {job.command}")


if __name__ == "__main__":
    main()

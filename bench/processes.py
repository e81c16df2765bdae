"""The jobs that Snakemake plans, with their command lines, and the environment it gives them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = tuple(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"))  # as Snakemake sets them


@dataclass(frozen=True, slots=True)
class Job:
    rule: str
    dataset: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    command: tuple[str, ...]
    wildcards: Mapping[str, str] = field(default_factory=dict, hash=False)
    gpus: int = 0


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


def environment() -> dict[str, str]:
    """What Snakemake gives a job of one thread, and the repository's modules."""
    return os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(ROOT)}

"""GPUs of a machine shared out among its jobs: each goes to one job at a time, where no scheduler hands them out.

Snakemake counts the GPUs of local jobs and assigns none, so jobs side by side would all start on the first. Here a job
takes a lock per GPU and lets CUDA see those alone. The kernel gives the locks back when the process ends, however it
ends. Nothing is loaded for this, as CUDA reads its variables when it is first used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path

from excam.exceptions import ModelInvalid
from excam.provenance import say

VISIBLE = "CUDA_VISIBLE_DEVICES"
LOCKS = "EXCAM_GPU_LOCKS"  # names another folder, e.g. one that containers share
FOLDER = "/tmp/excam-gpus"  # noqa: S108 - every process of the machine has to find it; it holds empty files
AGAIN, MOMENT, REMINDED = 0.2, 2.0, 600.0  # seconds: between two tries, before a wait is told, until it is told again

_taken: list[int] = []  # files whose locks this process holds, open until it ends


def take(wanted: int, job: str) -> None:
    """Take so many GPUs for this process and those that it starts, waiting for them; it sees no other, 0 none at all.

    Chosen are the first that are free of those in CUDA_VISIBLE_DEVICES (Slurm's, or the user's), else of all. Several
    are taken all at once or not at all, so no two jobs wait for each other. Where there is no GPU, nothing is done, and
    the engine says what it makes of that. `job` stands in front of what is told.

    Raises ModelInvalid where there are some, but fewer.
    """
    if not wanted:
        os.environ[VISIBLE] = ""
    if not wanted or _taken or not (seen := visible()):
        return
    if len(seen) < wanted:
        whose = f"{VISIBLE} names" if VISIBLE in os.environ else "this machine has"
        raise ModelInvalid(
            f"{whose} {len(seen)} GPUs ({', '.join(seen)}); expected {wanted}; set the model's `gpus`, or choose "
            "another training.layout"
        )
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers as nvidia-smi gives them
    os.environ[VISIBLE] = ",".join(_when_free(wanted, seen, job))
    say(f"{job}: on GPU {os.environ[VISIBLE]}, of {len(seen)}")


def visible() -> dict[str, str]:
    """GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them, and what each is called on this machine.

    One card may have several names (0, GPU-3fd2..., its first characters), and inside a Slurm job other numbers.
    """
    listed = _listed()
    named = os.environ.get(VISIBLE)
    words = list(listed) if named is None else [word.strip() for word in named.split(",")]
    words = list(takewhile(lambda word: word not in ("", "-1"), words))  # as CUDA reads it
    return {word: _unique(word, listed) for word in words}


def _unique(word: str, listed: Mapping[str, str]) -> str:
    uuids = [uuid for number, uuid in listed.items() if word == number or uuid.startswith(word)]
    return uuids[0] if uuids else "-".join(filter(None, (os.environ.get("SLURM_JOB_ID"), word)))


def _listed() -> dict[str, str]:
    """Number and UUID of each card the driver knows; empty without a driver."""
    try:
        said = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(re.findall(r"^GPU (\d+): .*\(UUID: (GPU-[^)]+)\)", said, re.MULTILINE))


def _when_free(wanted: int, seen: Mapping[str, str], job: str) -> list[str]:
    """Wait in the queue of those who choose among the same cards: a job of several is not overtaken for ever."""
    queue = "queue-" + hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()[:12]
    first, tell_at = None, time.monotonic() + MOMENT
    while True:
        first = _locked(queue) if first is None else first
        if first is not None and (words := _free(wanted, seen)):
            os.close(first)
            return words
        if time.monotonic() > tell_at:
            others = "other jobs have them (`lslocks` tells which)"
            say(f"{job}: waiting for {wanted} of the GPUs {', '.join(seen)}: {others}")
            tell_at = time.monotonic() + REMINDED
        time.sleep(AGAIN)


def _free(wanted: int, seen: Mapping[str, str]) -> list[str]:
    """The first free cards, now locked; none of them where there are not enough."""
    locks = ((word, lock) for word, name in seen.items() if (lock := _locked(name)) is not None)
    got = dict(islice(locks, wanted))
    if len(got) == wanted:
        _taken.extend(got.values())
        return list(got)
    _close(got.values())
    return []


def _close(files: Iterable[int]) -> None:
    for file in files:
        os.close(file)


def _locked(name: str) -> int | None:
    """The open file of a lock that is now ours; None where another process has it."""
    file = _opened(Path(os.environ.get(LOCKS, FOLDER)) / re.sub(r"[^\w.-]", "_", name))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back when the process ends, also when it is killed
    except BlockingIOError:
        os.close(file)
        return None
    return file


def _opened(path: Path) -> int:
    """A lock's file, whoever made it: read-only is enough for a lock, and all that another user's file allows."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o1777)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)

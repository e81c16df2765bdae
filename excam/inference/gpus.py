"""Assign the GPUs of a machine to its jobs, one job per GPU, if no scheduler does so.

Snakemake counts the GPUs of local jobs but does not assign them, so parallel jobs would all use the first. Here a job
locks each GPU it uses and makes only those visible to CUDA. The kernel releases the locks when the process ends. This
needs no CUDA library, because CUDA reads its environment variables at first use.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path

from excam.core.exceptions import ModelInvalid
from excam.core.provenance import say

VISIBLE = "CUDA_VISIBLE_DEVICES"
LOCKS = "EXCAM_GPU_LOCKS"  # variable with another folder, e.g. one that containers share
FOLDER = "/tmp/excam-gpus"  # noqa: S108 - the same for all processes of the machine; has only empty files
# Counted by CUDA itself: NVML, which torch prefers, also counts GPUs that an old driver cannot use.
COUNT_PROGRAM = """
import torch
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
print(torch.__version__, torch.version.cuda or "none", count)
"""
# Seconds: between two tries, before the first message about a wait, between messages
RETRY_INTERVAL, ANNOUNCE_AFTER, ANNOUNCE_AGAIN = (0.2, 2.0, 600.0)

_held_locks: list[int] = []  # files whose locks this process holds, open until it ends


def take_gpus(wanted: int, job: str) -> None:
    """Wait for `wanted` free GPUs, lock them, and make only them visible to this process and its children.

    The first free ones of CUDA_VISIBLE_DEVICES (set by Slurm or the user) are used, else of all. Several are locked
    together or not at all, so that jobs cannot block each other. 0 hides all GPUs. On a machine without GPUs this does
    nothing, since `refuse_unusable` reports that. `job` is the prefix of messages.

    Raise ModelInvalid if there are GPUs, but fewer than wanted.
    """
    if not wanted:
        os.environ[VISIBLE] = ""
    if not wanted or _held_locks or not (seen := visible_gpus()):
        return
    if len(seen) < wanted:
        whose = f"{VISIBLE} names" if VISIBLE in os.environ else "this machine has"
        raise ModelInvalid(
            f"{whose} {len(seen)} GPUs ({', '.join(seen)}); expected {wanted}; set the model's `gpus`, or choose "
            "another training.layout"
        )
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers as nvidia-smi gives them
    os.environ[VISIBLE] = ",".join(_wait_for_gpus(wanted, seen, job))
    say(f"{job}: on GPU {os.environ[VISIBLE]}, of {len(seen)}")


def refuse_unusable(
    wanted: int, instead: str = "set the model's `gpus: 0`", python: str | Path = sys.executable
) -> None:
    """Raise ModelInvalid if the torch of an environment cannot use `wanted` GPUs; without torch, do nothing.

    The check runs in a subprocess, because CUDA reads its variables at first use, and an engine cannot start processes
    after that. The message names the CUDA version of torch; `instead` says how to use the CPU. Falling
    back to the CPU silently would turn minutes into days. `python` is the program of the environment.
    """
    if not wanted or (answer := _torch_facts(python)) is None:
        return
    version, cuda, count = answer
    if int(count) >= wanted:
        return
    built = "a CPU build" if cuda == "none" else f"built for CUDA {cuda}"
    remedy = "./setup.sh core-cuda or vllm-cuda makes the environment for cards"
    if cuda != "none":
        remedy = f"a driver for that CUDA (13 needs R580), or other cards in {VISIBLE}"
    raise ModelInvalid(
        f"torch {version} ({built}) sees {count} GPUs; expected {wanted}; {remedy}, or {instead} to run on the CPU"
    )


def _torch_facts(python: str | Path) -> list[str] | None:
    """Return torch's version, its CUDA version, and its number of usable GPUs; None without torch."""
    try:
        words = [str(python), "-c", COUNT_PROGRAM]
        facts = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600).stdout.split()
    except subprocess.TimeoutExpired:
        return None
    return facts if len(facts) == 3 else None


def nvidia_smi(*words: str) -> tuple[int, str]:
    """Return the exit status of the driver's own program and what it printed; 127 and nothing without a driver."""
    try:
        done = subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 127, ""
    return done.returncode, done.stdout


def visible_gpus() -> dict[str, str]:
    """Return the GPUs that this process may use: names in CUDA_VISIBLE_DEVICES to names unique on this machine.

    One GPU may have several names (0, GPU-3fd2..., its first characters), and other numbers inside a Slurm job.
    """
    listed = _driver_gpus()
    named = os.environ.get(VISIBLE)
    words = list(listed) if named is None else [word.strip() for word in named.split(",")]
    words = list(takewhile(lambda word: word not in ("", "-1"), words))  # as CUDA reads it
    return {word: _machine_wide_name(word, listed) for word in words}


def _machine_wide_name(word: str, listed: Mapping[str, str]) -> str:
    uuids = [uuid for number, uuid in listed.items() if word == number or uuid.startswith(word)]
    return uuids[0] if uuids else "-".join(filter(None, (os.environ.get("SLURM_JOB_ID"), word)))


def _driver_gpus() -> dict[str, str]:
    """Return the UUID of each GPU by its number in the driver; empty without a driver."""
    return dict(re.findall(r"^GPU (\d+): .*\(UUID: (GPU-[^)]+)\)", nvidia_smi("-L")[1], re.MULTILINE))


def _wait_for_gpus(wanted: int, seen: Mapping[str, str], job: str) -> list[str]:
    """Return `wanted` locked GPUs, waiting in a queue so that smaller jobs cannot overtake a large one forever."""
    queue = "queue-" + hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()[:12]
    first, tell_at = None, time.monotonic() + ANNOUNCE_AFTER
    while True:
        first = _try_lock(queue) if first is None else first
        if first is not None and (words := _lock_free_gpus(wanted, seen)):
            os.close(first)
            return words
        if time.monotonic() > tell_at:
            others = "other jobs have them (`lslocks` tells which)"
            say(f"{job}: waiting for {wanted} of the GPUs {', '.join(seen)}: {others}")
            tell_at = time.monotonic() + ANNOUNCE_AGAIN
        time.sleep(RETRY_INTERVAL)


def _lock_free_gpus(wanted: int, seen: Mapping[str, str]) -> list[str]:
    """Lock and return the first free GPUs; lock none and return [] if there are too few."""
    locks = ((word, lock) for word, name in seen.items() if (lock := _try_lock(name)) is not None)
    got = dict(islice(locks, wanted))
    if len(got) == wanted:
        _held_locks.extend(got.values())
        return list(got)
    for lock in got.values():
        os.close(lock)
    return []


def _try_lock(name: str) -> int | None:
    """Lock a name and return the open file; None if another process holds the lock."""
    return lock_or_close(_open_lock_file(Path(os.environ.get(LOCKS, FOLDER)) / re.sub(r"[^\w.-]", "_", name)))


def lock_or_close(file: int) -> int | None:
    """Lock an open file and return it; close it and return None if another process holds the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the process ends, also if killed
    except BlockingIOError:
        os.close(file)
        return None
    return file


def _open_lock_file(path: Path) -> int:
    """Open a lock file, creating it if necessary; read-only, which suffices for a lock on another user's file."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o1777)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)

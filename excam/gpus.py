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
import sys
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
DRIVER = Path("/proc/driver/nvidia/version")
NUMBER = re.compile(r"\b\d{3}\.[\d.]+\b")  # of a driver, e.g. 580.65.06
# By CUDA itself: NVML, which torch asks first where it may, counts cards that an old driver cannot be used with.
SEEN = """
import torch
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
print(torch.__version__, torch.version.cuda or "none", count)
"""
AGAIN, MOMENT, REMINDED = 0.2, 2.0, 600.0  # seconds: between two tries, before a wait is told, until it is told again

_taken: list[int] = []  # files whose locks this process holds, open until it ends


def take(wanted: int, job: str) -> None:
    """Take so many GPUs for this process and those that it starts, waiting for them; it sees no other, 0 none at all.

    Chosen are the first that are free of those in CUDA_VISIBLE_DEVICES (Slurm's, or the user's), else of all. Several
    are taken all at once or not at all, so no two jobs wait for each other. Where there is no GPU, nothing is done:
    `refuse_unusable` has spoken before. `job` stands in front of what is told.

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


def refuse_unusable(wanted: int, instead: str = "set the model's `gpus: 0`") -> None:
    """Ask the torch that is installed whether it can use so many GPUs; without one, its engine says what it lacks.

    In a process of its own: CUDA reads its variables when it is first used, and an engine could start no processes
    after that. Raises ModelInvalid, naming the driver and the CUDA that torch was built for; `instead` is how one asks
    for the CPU. Nothing goes on there unasked: what takes minutes on a card takes days.
    """
    if not wanted or (answer := _torch()) is None:
        return
    version, cuda, count = answer
    if int(count) >= wanted:
        return
    driver = _driver()
    built = "a CPU build" if cuda == "none" else f"built for CUDA {cuda}"
    raise ModelInvalid(
        f"torch {version} ({built}) sees {count} GPUs; expected {wanted}; driver: {driver}; {_remedy(cuda, driver)}, "
        f"or {instead} to run on the CPU"
    )


def _remedy(cuda: str, driver: str) -> str:
    if cuda == "none":
        return "make the environment for cards (./setup.sh core-cuda, ./setup.sh vllm-cuda)"
    if driver == "none":
        return "run it where there are cards and their driver"
    if VISIBLE in os.environ:
        return f"look at {VISIBLE}={os.environ[VISIBLE]}, and whether the driver is one for that CUDA"
    return "have a driver for that CUDA installed (13 needs R580 or newer)"


def _torch() -> list[str] | None:
    """Version of torch, the CUDA it was built for, and how many cards it can use; None where there is no torch."""
    try:
        words = [sys.executable, "-c", SEEN]
        told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600).stdout.split()
    except subprocess.TimeoutExpired:
        return None
    return told if len(told) == 3 else None


def _driver() -> str:
    """Version of the driver of the cards."""
    with suppress(OSError):
        if found := NUMBER.search(DRIVER.read_text(encoding="utf-8", errors="replace")):
            return found[0]
    with suppress(OSError, subprocess.TimeoutExpired):
        words = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60).stdout
        if found := NUMBER.search(said):
            return found[0]
    return "none"


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

"""The machine that a trial runs on: GPUs and driver, memory, compiler, disk space of the folders that libraries use."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

from excam.inference import gpus
from excam.training import devices

ASKED = ("name", "driver_version", "memory.total", "memory.free")  # of nvidia-smi, in this order; memory in MiB
CACHES = ("XDG_CACHE_HOME", "HF_HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")


def facts() -> dict[str, Any]:
    """Return the facts before anything is loaded; sizes in bytes, None if the machine does not report them."""
    return {
        "host": platform.node(),
        "cards": cards(),
        "memory_bytes": memory(),
        "compiler": shutil.which("cc") or shutil.which("gcc"),
        "folders": {name: room(path) for name, path in folders().items()},
    }


def cards() -> list[dict[str, Any]]:
    """Return name, driver and memory of each card that the driver shows; empty without a driver."""
    status, printed = gpus.nvidia_smi(f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in line.split(",")] for line in printed.splitlines()]
    return [
        {"name": row[0], "driver": row[1], "total_bytes": _mebibytes(row[2]), "free_bytes": _mebibytes(row[3])}
        for row in rows
        if not status and len(row) == len(ASKED)
    ]


def _mebibytes(text: str) -> int | None:
    return int(text) << 20 if text.isdecimal() else None


def memory() -> int | None:
    """Return the bytes that this job may take: what is free, or the limit of Slurm or the kernel where that is less."""
    limits = [devices.available_memory()]
    if asked := os.environ.get("SLURM_MEM_PER_NODE", ""):
        limits.append(int(asked) << 20 if asked.isdecimal() else None)
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limits.append(_number(Path(name)))
    known = [limit for limit in limits if limit]
    return min(known) if known else None


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def folders() -> dict[str, Path]:
    """Return where libraries put what they compile and unpack, by the name of the setting that moves it."""
    named = {name: Path(os.environ[name]) for name in CACHES if os.environ.get(name)}
    return {"HOME": Path.home(), "TMPDIR": Path(tempfile.gettempdir()), **named}


def room(path: Path) -> dict[str, Any]:
    """Return the free bytes of a folder's disk and whether the folder, or the nearest one there is, may be written to.

    A quota is not seen.
    """
    there = next((folder for folder in (path, *path.parents) if folder.is_dir()), Path("/"))
    return {
        "path": str(path),
        "free_bytes": shutil.disk_usage(there).free,
        "writable": os.access(there, os.W_OK),
    }

"""SHA-256 of files, computed in parallel and cached per node and file state.

A file's state is the metadata that changes with its bytes: device, inode, size, and modification times in nanoseconds.
Digests that were verified for a state are cached for a week in the user's cache folder. The cache can only confirm that
a file is unchanged: a file that seems to differ is always read.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

CACHE = "EXCAM_CACHE"  # another cache folder, if the user's default cannot be written or is slow
MAX_AGE = 7 * 24 * 3600.0  # seconds until a file is read again even if its state has not changed
CLOCK_TOLERANCE = 2.0  # seconds: within one tick of a coarse clock a file may change again without a new time
THREADS = 16  # more threads would only wait for the disk
GONE = "gone"  # used instead of the digest of a missing file

_digests_by_state: dict[str, str] = {}  # files that this process has read


def sha256(path: Path) -> str:
    """Return the hexadecimal digest of a file, always reading it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(paths: Iterable[Path]) -> dict[Path, str]:
    """Return hexadecimal digests in the order of `paths`, reading in parallel and caching within this process."""
    from concurrent.futures import ThreadPoolExecutor

    wanted = list(paths)
    with ThreadPoolExecutor(reader_threads()) as pool:  # hashlib releases the global interpreter lock
        return dict(zip(wanted, pool.map(_digest, wanted), strict=True))


def unverified_files(expected: Mapping[Path, str]) -> list[Path]:
    """Return the existing files that this node has not yet verified against these digests in their current state."""
    return [path for path, digest in expected.items() if path.is_file() and _cached_digest(path) != digest]


def mismatches(expected: Mapping[Path, str]) -> dict[Path, str]:
    """Return the files whose digests differ from `expected`, with their real digest, or `GONE` if missing.

    Files that this node has verified are not read again (see `unverified_files`).
    """
    actual = {path: GONE for path in expected if not path.is_file()}
    if unverified_files(expected):
        actual |= digests(unverified_files(expected))
        _store_verified(expected, actual)
    return {path: actual[path] for path, digest in expected.items() if actual.get(path, digest) != digest}


def reader_threads() -> int:
    """Return how many files are read in parallel."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(THREADS, cores)


def _state(about: os.stat_result) -> str:
    """Return a cache key for the state of a file on this node; inode numbers differ between nodes."""
    facts = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return hashlib.sha256(json.dumps([platform.node(), *facts]).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        before, began = os.fstat(stream.fileno()), time.time()
        if digest := _digests_by_state.get(_state(before)):
            return digest
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        after = os.fstat(stream.fileno())
    if _state(before) == _state(after) and began - max(before.st_mtime, before.st_ctime) > CLOCK_TOLERANCE:
        _digests_by_state[_state(before)] = digest
    return digest


def _cached_digest(path: Path) -> str | None:
    """Return the digest cached for the state of a file, by this process or another of this user, or None."""
    state = _state(path.stat())
    with suppress(OSError, RuntimeError):
        entry = _folder() / state
        if state not in _digests_by_state and 0 <= time.time() - entry.stat().st_mtime < MAX_AGE:
            return entry.read_text(encoding="ascii", errors="replace")
    return _digests_by_state.get(state)


def _store_verified(expected: Mapping[Path, str], actual: Mapping[Path, str]) -> None:
    """Cache the digests of files that match. Errors of a full or read-only disk are ignored: the cache is optional."""
    with suppress(OSError, RuntimeError):
        folder = _folder()
        _remove_expired(folder)
        for path, digest in actual.items():
            if expected[path] == digest == _digests_by_state.get(state := _state(path.stat())):
                temporary = folder / f".{secrets.token_hex(8)}"
                temporary.write_text(digest, encoding="ascii")
                temporary.replace(folder / state)


def _remove_expired(folder: Path) -> None:
    """Remove expired entries, and temporary files of killed processes."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another job removed it first
            if time.time() - path.stat().st_mtime > MAX_AGE:
                path.unlink()


def _folder() -> Path:
    """Return the cache folder, made where it is missing. Raise OSError or RuntimeError if there can be none."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(os.environ.get(CACHE) or Path(home, "excam")) / "hashes"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    return place

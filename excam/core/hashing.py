"""SHA-256 of files, computed in parallel and cached per node and file state.

A file's state is the metadata that changes with its bytes: device, inode, size, and modification times in nanoseconds.
Digests that were verified for a state are cached for a week in a folder that only the user can write to. The cache can
only confirm that a file is unchanged: a file that seems to differ is always read.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

CACHE = "EXCAM_CACHE"  # another cache folder, if the user's default cannot be written or is slow
MAX_AGE = 7 * 24 * 3600.0  # seconds until a file is read again even if its state has not changed
CLOCK_TOLERANCE = 2.0  # seconds: within one tick of a coarse clock a file may change again without a new time
PATIENCE, RETRY_INTERVAL = 600.0, 0.2  # seconds to wait for a job that reads the same files, and between two attempts
THREADS = 16  # more threads would only wait for the disk
GONE = "gone"  # used instead of the digest of a missing file
DIGEST = re.compile(rb"[0-9a-f]{64}")

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
    with _cache_folder() as folder:
        return _without_cached_match(folder, expected)


def mismatches(expected: Mapping[Path, str]) -> dict[Path, str]:
    """Return the files whose digests differ from `expected`, with their real digest, or `GONE` if missing.

    Files that this node has verified are not read again (see `unverified_files`). Jobs of one node that start together
    wait for the first one and use its cached result.
    """
    gone = {path: GONE for path in expected if not path.is_file()}
    with _cache_folder() as folder:
        if not _without_cached_match(folder, expected):
            return gone
        with _exclusive_lock(folder):
            actual = digests(_without_cached_match(folder, expected))
            _store_verified(folder, expected, actual)
    other = {path: digest for path, digest in actual.items() if digest != expected[path]}
    return {path: (gone | other)[path] for path in expected if path in gone or path in other}


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


def _without_cached_match(folder: int | None, expected: Mapping[Path, str]) -> list[Path]:
    return [path for path, digest in expected.items() if path.is_file() and _cached_digest(folder, path) != digest]


def _cached_digest(folder: int | None, path: Path) -> str | None:
    """Return the digest cached for the state of a file, by this process or another of this user, or None."""
    state = _state(path.stat())
    if folder is None or state in _digests_by_state:
        return _digests_by_state.get(state)
    try:
        file = os.open(state, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(file, "rb") as stream:
        about, content = os.fstat(file), stream.read(65)
    if not _is_own(about) or not 0 <= time.time() - about.st_mtime < MAX_AGE or not DIGEST.fullmatch(content):
        return None
    return content.decode("ascii")


def _store_verified(folder: int | None, expected: Mapping[Path, str], actual: Mapping[Path, str]) -> None:
    """Cache the digests of files that match. Errors of a full or read-only disk are ignored: the cache is optional."""
    if folder is None:
        return
    with suppress(OSError):
        _remove_expired(folder)
        for path, digest in actual.items():
            state = _state(path.stat())
            if expected[path] == digest == _digests_by_state.get(state):
                _write_cache_entry(folder, state, digest)


def _write_cache_entry(folder: int, name: str, text: str) -> None:
    temporary = f".{secrets.token_hex(8)}"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write(text)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_expired(folder: int) -> None:
    """Remove expired entries, and temporary files of killed processes."""
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):  # another job removed it first
            if time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime > MAX_AGE:
                os.unlink(name, dir_fd=folder)


@contextmanager
def _cache_folder() -> Iterator[int | None]:
    """Yield a descriptor of the cache folder, or None if there is none that only this user can write to.

    All files are opened relative to this descriptor, so that the folder cannot be replaced in the meantime.
    """
    folder = None
    with suppress(OSError, RuntimeError):  # no home, no space, or read-only: nothing is cached
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = Path(os.environ.get(CACHE) or Path(home, "excam")) / "hashes"
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield folder if folder is not None and _is_own(os.fstat(folder)) else None
    finally:
        if folder is not None:
            os.close(folder)


def _is_own(about: os.stat_result) -> bool:
    """Return whether only this user can have written it."""
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@contextmanager
def _exclusive_lock(folder: int | None) -> Iterator[None]:
    """Hold a lock while files are read; wait at most `PATIENCE` seconds, and not at all if locks are unsupported."""
    file = None
    with suppress(OSError):
        if folder is not None:
            name = hashlib.sha256(platform.node().encode()).hexdigest()[:16] + ".lock"
            file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=folder)
            os.utime(file)
            _lock(file)
    try:
        yield
    finally:
        if file is not None:
            os.close(file)  # releases the lock; so does the kernel if the process is killed


def _lock(file: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(RETRY_INTERVAL)
        else:
            return

"""sha256 of files: several at once, and of large ones once for each node and state of the file.

A state is all that the file system tells of a file that changes with its bytes: device, inode, size, and the times of
its last change in nanoseconds. What a file of some state was seen to hold is kept in a folder of the user's own, for a
week. Nothing is believed of it but that a file is as it should be: whatever seems to differ is read.
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

CACHE = "EXCAM_CACHE"  # names another folder, where that of the user cannot be written or is slow
KEPT = 7 * 24 * 3600.0  # seconds until a file is read again although nothing seems to have happened to it
YOUNG = 2.0  # seconds: within a tick of a coarse clock, a file may change once more and keep its times
PATIENCE, AGAIN = 600.0, 0.2  # seconds to wait for another job that reads, and between two tries
THREADS = 16  # more wait for the disk
GONE = "gone"  # in place of the digest of a file that is not there
DIGEST = re.compile(rb"[0-9a-f]{64}")

_known: dict[str, str] = {}  # digests by state, of files that this process has read


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes, always read."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(paths: Iterable[Path]) -> dict[Path, str]:
    """Hex digests of files, in their order; several are read at once, and none twice that is as this process saw it."""
    wanted = list(paths)
    with ThreadPoolExecutor(threads()) as pool:  # hashlib gives the interpreter's lock away
        return dict(zip(wanted, pool.map(_digest, wanted), strict=True))


def unread(expected: Mapping[Path, str]) -> list[Path]:
    """Files that this node has not seen with these digests, as they are now; without those that are not there."""
    with _folder() as folder:
        return _unseen(folder, expected)


def unlike(expected: Mapping[Path, str]) -> dict[Path, str]:
    """Files whose digests are others, and what they are; `GONE` for one that is not there. Reads what is `unread`.

    Jobs of one node that begin together wait for the first: what it has read they need not read.
    """
    gone = {path: GONE for path in expected if not path.is_file()}
    with _folder() as folder:
        if not _unseen(folder, expected):
            return gone
        with _alone(folder):
            found = digests(_unseen(folder, expected))
            _keep(folder, expected, found)
    other = {path: digest for path, digest in found.items() if digest != expected[path]}
    return {path: (gone | other)[path] for path in expected if path in gone or path in other}


def threads() -> int:
    """How many files are read at once."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(THREADS, cores)


def _state(about: os.stat_result) -> str:
    """A name for the state of a file on this node; other nodes may have other files under the same numbers."""
    facts = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return hashlib.sha256(json.dumps([platform.node(), *facts]).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        before, began = os.fstat(stream.fileno()), time.time()
        if known := _known.get(_state(before)):
            return known
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        after = os.fstat(stream.fileno())
    if _state(before) == _state(after) and began - max(before.st_mtime, before.st_ctime) > YOUNG:
        _known[_state(before)] = digest
    return digest


def _unseen(folder: int | None, expected: Mapping[Path, str]) -> list[Path]:
    return [path for path, digest in expected.items() if path.is_file() and _seen(folder, path) != digest]


def _seen(folder: int | None, path: Path) -> str | None:
    """What a file of this state was seen to hold, by this process or, within a week, by one of this user's."""
    state = _state(path.stat())
    if folder is None or state in _known:
        return _known.get(state)
    try:
        file = os.open(state, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(file, "rb") as stream:
        about, content = os.fstat(file), stream.read(65)
    if not _is_own(about) or not 0 <= time.time() - about.st_mtime < KEPT or not DIGEST.fullmatch(content):
        return None
    return content.decode("ascii")


def _keep(folder: int | None, expected: Mapping[Path, str], found: Mapping[Path, str]) -> None:
    """Keep what was seen of files that are as they should be; a full or read-only disk is none of our business."""
    if folder is None:
        return
    with suppress(OSError):
        _forget(folder)
        for path, digest in found.items():
            state = _state(path.stat())
            if expected[path] == digest == _known.get(state):
                _write(folder, state, digest)


def _write(folder: int, name: str, text: str) -> None:
    temporary = f".{secrets.token_hex(8)}"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write(text)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _forget(folder: int) -> None:
    """Remove what is too old to be believed, and what killed processes left."""
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):  # another job does the same
            if time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime > KEPT:
                os.unlink(name, dir_fd=folder)


@contextmanager
def _folder() -> Iterator[int | None]:
    """The open folder of what was seen; None where there is none that this user alone can write to.

    It is opened once and everything in it is named from there, so nobody can put another in its place meanwhile.
    """
    folder = None
    with suppress(OSError, RuntimeError):  # no home, no room, read-only: then nothing is kept
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
    """Whether nobody else can have written it."""
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@contextmanager
def _alone(folder: int | None) -> Iterator[None]:
    """Wait while another job of this node reads, some minutes at most; where files have no locks, not at all."""
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
            os.close(file)  # gives the lock back, also when the process is killed


def _lock(file: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(AGAIN)
        else:
            return

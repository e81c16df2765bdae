"""Input of commands: a file, a pipe, or standard input. A device is refused because reading it may never end."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from excam.core.exceptions import InputInvalid
from excam.core.provenance import disk_full_names

EXPECTED_INPUT = "expected a file, a pipe, or - for standard input"


def refuse_address(path: Path) -> None:
    """Raise InputInvalid, with what fetches it, if `path` is an address, which has lost a slash by that."""
    if not (parts := re.fullmatch(r"(https?:|hf:)/(?!/)(.+)", str(path))):
        return
    address = f"{parts[1]}//{parts[2]}"
    command = "hf download --repo-type dataset" if "huggingface.co/" in address or parts[1] == "hf:" else "curl -L -O"
    raise InputInvalid(f"{address}: is an address; {EXPECTED_INPUT}; fetch it first, by {command}")


def refuse_device(path: Path) -> None:
    """Raise InputInvalid if `path` is a device such as /dev/zero, or an address. A missing file passes."""
    refuse_address(path)
    if path.exists() and _is_device(path.stat()):
        raise InputInvalid(f"{path}: is a device; {EXPECTED_INPUT}")


def standard_input() -> BinaryIO:
    """Return standard input as bytes. Raise InputInvalid if it is closed, or a device other than a terminal."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `<&-`
        raise InputInvalid("stdin: is closed; expected text on it")
    try:
        status = os.fstat(sys.stdin.fileno())
    except (OSError, ValueError):  # a program replaced stdin with an object that has no file
        return sys.stdin.buffer
    if _is_device(status) and not sys.stdin.isatty():
        raise InputInvalid("stdin: is a device; expected text on it")
    return sys.stdin.buffer


def _is_device(status: os.stat_result) -> bool:
    """Return whether it is a device other than /dev/null, which ends immediately."""
    device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    return device and status.st_rdev != Path(os.devnull).stat().st_rdev


@contextmanager
def spooled(path: Path) -> Iterator[Path]:
    """Yield the path itself, or of a copy that can be read twice: of a pipe, or of standard input for `-`.

    Raises InputInvalid for a device or a closed standard input.
    """
    if str(path) in ("-", "/dev/stdin"):
        with _copied(standard_input(), "", "stdin") as copy:
            yield copy
    elif path.is_fifo():
        with path.open("rb") as stream, _copied(stream, "".join(path.suffixes[-2:]), str(path)) as copy:
            yield copy
    else:
        refuse_device(path)
        yield path


@contextmanager
def _copied(stream: BinaryIO, suffix: str, name: str) -> Iterator[Path]:
    """Yield the path of a temporary copy of a stream; error messages have `name` in its place."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as copy:
        with disk_full_names(Path(copy.name)):
            shutil.copyfileobj(stream, copy)
            copy.flush()
        try:
            yield Path(copy.name)
        except InputInvalid as problem:
            raise InputInvalid(str(problem).replace(copy.name, name)) from None

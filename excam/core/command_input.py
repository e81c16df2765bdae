"""Input of commands: a file, a pipe, or standard input. A device is refused because reading it may never end."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from excam.core.exceptions import InputInvalid

EXPECTED_INPUT = "expected a file, a pipe, or - for standard input"


def refuse_device(path: Path) -> None:
    """Raise InputInvalid if `path` is a device such as /dev/zero. A missing file passes."""
    if path.exists() and _is_device(path.stat()):
        raise InputInvalid(f"{path}: is a device; {EXPECTED_INPUT}")


def standard_input() -> BinaryIO:
    """Return standard input as bytes. Raise InputInvalid if it is closed, or a device other than a terminal."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `<&-`
        raise InputInvalid("stdin: is closed; expected text on it")
    try:
        found = os.fstat(sys.stdin.fileno())
    except (OSError, ValueError):  # a program replaced stdin with an object that has no file
        return sys.stdin.buffer
    if _is_device(found) and not sys.stdin.isatty():
        raise InputInvalid("stdin: is a device; expected text on it")
    return sys.stdin.buffer


def _is_device(found: os.stat_result) -> bool:
    """Return whether it is a device other than /dev/null, which ends immediately."""
    device = stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)
    return device and found.st_rdev != Path(os.devnull).stat().st_rdev

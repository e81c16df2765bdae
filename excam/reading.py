"""What a command may read: a file, a pipe, or standard input. A device may never end, and is refused."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from excam.exceptions import InputInvalid

EXPECTED = "expected a file, a pipe, or - for standard input"


def refuse_device(path: Path) -> None:
    """Raises InputInvalid for a device such as /dev/zero; what is not there is for whoever opens it."""
    if path.exists() and _is_device(path.stat()):
        raise InputInvalid(f"{path}: is a device; {EXPECTED}")


def standard_input() -> BinaryIO:
    """Standard input as bytes. Raises InputInvalid where it is closed, or a device other than a terminal."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `<&-`
        raise InputInvalid("stdin: is closed; expected text on it")
    try:
        found = os.fstat(sys.stdin.fileno())
    except (OSError, ValueError):  # no file behind it: a program that put its own object there
        return sys.stdin.buffer
    if _is_device(found) and not sys.stdin.isatty():
        raise InputInvalid("stdin: is a device; expected text on it")
    return sys.stdin.buffer


def _is_device(found: os.stat_result) -> bool:
    """Whether it is a device, other than /dev/null, which ends at once."""
    device = stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)
    return device and found.st_rdev != Path(os.devnull).stat().st_rdev

"""The file that a command writes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from excam.core.terminal import stop


def target(to: Path, source: Path) -> Path:
    """Return the file to write, links resolved. Stop the command if it is a folder, a device, or the input itself."""
    if to.is_symlink():
        with suppress(FileNotFoundError):
            to.stat()  # an OSError for a loop of links, which resolve() raises as something else in some Pythons
    found = to.resolve() if to.is_symlink() else to
    odd = found.exists() and not found.is_file()
    if odd or (found.exists() and source.exists() and found.samefile(source)):
        kind = "a folder" if found.is_dir() else "no plain file" if odd else "the input"
        stop(f"{to}: is {kind}; expected another file to write to")
    return found

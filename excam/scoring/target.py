"""The file that a command writes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from excam.core.terminal import stop

OVERWRITE = Annotated[bool, typer.Option("--overwrite", help="write over a file that is there already")]


def target(to: Path, *sources: Path) -> Path:
    """Return the file to write, links resolved. Stop the command if it is a folder, a device, or an input itself."""
    if to.is_symlink():
        with suppress(FileNotFoundError):
            to.stat()  # an OSError for a loop of links, which resolve() raises as something else in some Pythons
    resolved = to.resolve() if to.is_symlink() else to
    odd = resolved.exists() and not resolved.is_file()
    if odd or any(resolved.exists() and source.exists() and resolved.samefile(source) for source in sources):
        kind = "a folder" if resolved.is_dir() else "no plain file" if odd else "the input"
        stop(f"{to}: is {kind}; expected another file to write to")
    return resolved


def refuse_foreign(to: Path, is_own: Callable[[Path], bool], *, overwrite: bool) -> None:
    """Stop the command if `to` is there and is no earlier output of the same command, unless that is wanted."""
    if to.exists() and not overwrite and not is_own(to):
        stop(f"{to}: is there, and is another file; expected none; name another file, or give --overwrite")

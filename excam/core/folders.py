"""Files below a folder of the user's: links are followed, so that nothing is left out without a word."""

from __future__ import annotations

import os
from pathlib import Path

from excam.core.exceptions import InputInvalid


def files_below(folder: Path, leading_out: list[Path] | None = None) -> list[Path]:
    """Return the sorted files below `folder`, in linked folders too, and links to nothing; each folder once.

    With `leading_out`, links to what is not below `folder` are added to it and not followed. Raise InputInvalid for a
    pipe, a socket or a device, whose reading may never end, unless its name or a folder's begins with a dot.
    """
    paths: list[Path] = []
    seen: set[tuple[int, int]] = set()  # device and inode of folders: a link may lead back
    for place, folders, names in os.walk(folder, followlinks=True):
        about = Path(place).stat()
        if (about.st_dev, about.st_ino) in seen:
            folders.clear()
            continue
        seen.add((about.st_dev, about.st_ino))
        if leading_out is not None:
            away = {name for name in (*folders, *names) if _leads_out(Path(place, name), folder)}
            leading_out += [Path(place, name) for name in sorted(away)]
            folders[:], names = [name for name in folders if name not in away], [n for n in names if n not in away]
        folders.sort()  # of two links to one folder, the first by name is walked on every machine
        paths += [Path(place, name) for name in names]
    for path in paths:
        if not is_hidden(path.relative_to(folder)):
            refuse_special(path)
    return sorted(paths)


def is_hidden(below: Path) -> bool:
    """Return whether a path's name, or that of a folder in it, begins with a dot."""
    return any(part.startswith(".") for part in below.parts)


def refuse_special(path: Path) -> None:
    """Raise InputInvalid for a pipe, a socket or a device. A missing file passes."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputInvalid(f"{path}: is a pipe, a socket or a device; expected a file or folder")


def _leads_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))

"""Files below a folder of the user's: links are followed, so that nothing is left out without a word."""

from __future__ import annotations

import os
from pathlib import Path


def files_below(folder: Path) -> list[Path]:
    """Return the sorted files below `folder`, in linked folders too, and links to nothing; each folder once."""
    paths: list[Path] = []
    seen: set[tuple[int, int]] = set()  # device and inode of folders: a link may lead back
    for place, folders, names in os.walk(folder, followlinks=True):
        about = Path(place).stat()
        if (about.st_dev, about.st_ino) in seen:
            folders.clear()
            continue
        seen.add((about.st_dev, about.st_ino))
        folders.sort()  # of two links to one folder, the first by name is walked on every machine
        paths += [Path(place, name) for name in names]
    return sorted(paths)

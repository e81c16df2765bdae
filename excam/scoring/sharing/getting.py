"""Getting an adapter from a place: checksums first, then their files, which are verified before they are renamed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.scoring.sharing import parcel
from excam.scoring.sharing.places import Place, atomic_directory


def get(source: Place, folder: Path) -> None:
    """Create the folder of an adapter. If the same adapter is there already, only verify its files.

    Raises InputInvalid if something else is there or the source is no adapter; ArtifactBroken if a checksum differs.
    """
    with tempfile.TemporaryDirectory() as scratch:
        checksums = Path(scratch) / parcel.CHECKSUMS
        pinned = source.pinned()
        pinned.fetch({parcel.CHECKSUMS: parcel.LARGEST_TEXT}, checksums.parent)
        expected = parcel.listed(checksums)
        there = folder / parcel.CHECKSUMS
        if there.is_file():
            if there.read_bytes() != checksums.read_bytes():
                raise InputInvalid(f"{folder}: holds another adapter; expected a new folder, or the same adapter again")
            parcel.verify(folder, expected)
            return
        with atomic_directory(folder) as new:
            pinned.fetch({name: parcel.largest(name) for name in expected}, new)
            parcel.verify(new, expected)
            (new / parcel.CHECKSUMS).write_bytes(checksums.read_bytes())

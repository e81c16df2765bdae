"""Getting an adapter from a place: checksums first, then the files they name, verified before they get their name."""

from __future__ import annotations

import tempfile
from pathlib import Path

from excam.exceptions import InputInvalid
from excam.sharing import parcel
from excam.sharing.places import Place, appearing


def get(source: Place, folder: Path) -> None:
    """Make the folder of an adapter. Where the same one is there already, its files are verified and that is all.

    Raises InputInvalid where something else is there, or what comes is no adapter; ArtifactBroken where a byte differs.
    """
    with tempfile.TemporaryDirectory() as scratch:
        checksums = Path(scratch) / parcel.CHECKSUMS
        settled = source.settled()
        settled.fetch({parcel.CHECKSUMS: parcel.LARGEST_TEXT}, checksums.parent)
        expected = parcel.listed(checksums)
        there = folder / parcel.CHECKSUMS
        if there.is_file():
            if there.read_bytes() != checksums.read_bytes():
                raise InputInvalid(f"{folder}: holds another adapter; expected a new folder, or the same adapter again")
            parcel.verify(folder, expected)
            return
        with appearing(folder) as new:
            settled.fetch({name: parcel.largest(name) for name in expected}, new)
            parcel.verify(new, expected)
            (new / parcel.CHECKSUMS).write_bytes(checksums.read_bytes())

"""What the licences of the benchmarks allow. This is our interpretation, not legal advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Kind = Literal["permissive", "share-alike", "non-commercial share-alike", "unknown"]

KINDS: Mapping[str, Kind] = {
    "Apache-2.0": "permissive",
    "CC-BY-4.0": "permissive",
    "MIT": "permissive",
    "CC-BY-SA-4.0": "share-alike",
    "CC-BY-NC-SA-4.0": "non-commercial share-alike",
}


def licence_kind(licence: str) -> Kind:
    """Return the kind of a licence (SPDX identifier); an unlisted one is "unknown", never permissive."""
    return KINDS.get(licence, "unknown")


def is_permissive(licence: str) -> bool:
    """Return whether it requires at most attribution: no limit on commercial use or on derived data."""
    return licence_kind(licence) == "permissive"

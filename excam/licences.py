"""What the licences of the benchmarks allow (spec 77). A reading of them, no legal advice."""

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


def kind(licence: str) -> Kind:
    """What a licence (SPDX identifier) asks for; a licence that is not listed is "unknown", never permissive."""
    return KINDS.get(licence, "unknown")


def permissive(licence: str) -> bool:
    """Whether it asks for attribution at most: neither forbids commercial use nor binds what is made of the data."""
    return kind(licence) == "permissive"

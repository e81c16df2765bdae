"""Ids seen so far, in little memory: which id is a second one's, however many rows a file has."""

from __future__ import annotations

import hashlib
from array import array

_FIRST = 1024  # slots of the first table; always a power of two
_BYTES = 8  # of a digest: two among a million ids are alike with a chance of 3 in 100 million


class Ids:
    """A set of ids that only grows: eight bytes a slot, and between three and one and a half slots an id.

    A Python set of numbers takes some 75 bytes an id; this takes 12 to 24, and half as much again while it grows.
    """

    def __init__(self) -> None:
        self._slots = array("Q", [0]) * _FIRST
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, name: str) -> bool:
        """Remember an id; False where it is there already."""
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
        if not _put(self._slots, int.from_bytes(digest) or 1):  # 0 is an empty slot
            return False
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            self._slots = _grown(self._slots)
        return True


def _put(slots: array[int], number: int) -> bool:
    """Linear probing: into the first empty slot from its own on; False where the number is met before."""
    last = len(slots) - 1
    at = number & last
    while found := slots[at]:
        if found == number:
            return False
        at = (at + 1) & last
    slots[at] = number
    return True


def _grown(slots: array[int]) -> array[int]:
    wider = array("Q", [0]) * (2 * len(slots))
    for number in slots:
        if number:
            _put(wider, number)
    return wider

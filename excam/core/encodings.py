"""The encoding of a text: UTF-8, or UTF-16. Any other one must be named: most bytes of one are letters in the next."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass

MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Unknown:
    """A text that is not UTF-8. `found` says where: "byte 0xe9 in line 3"."""

    found: str


def by_first_bytes(start: bytes) -> str | None:
    """Return the encoding that a mark says, or UTF-16 for a text of which every other byte is null; else None."""
    for mark, name in MARKS:
        if start.startswith(mark):
            return name
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) <= len(start) // 4:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def of_lines(lines: Iterable[bytes]) -> str | Unknown:
    """Return the encoding of a text without a mark: UTF-8 if a line of it can be nothing else; others are damaged."""
    first: Unknown | None = None
    for number, line in enumerate(lines, 1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as problem:
            first = first or Unknown(f"byte 0x{line[problem.start]:02x} in line {number}")
        else:
            return "utf-8-sig"
    return first or "utf-8-sig"

"""The encoding of a text: UTF-8, UTF-16, or Windows-1252 where every code page that is possible gives the same text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Western, Central European, Turkish and Baltic: they have the letters of German and many signs in common
CODE_PAGES = ("cp1252", "cp1250", "cp1254", "cp1257")
_FOREIGN = re.compile(rb"[\x80-\xff]+")
_SIGN = re.compile(rb"[\x80\x85\x91-\x94\x96\x97\xa0](?!\\)")  # may stand between blanks: euro, dots, quotes, dashes


@dataclass(frozen=True, slots=True)
class Unknown:
    """A text that is not UTF-8 and may be in several encodings. `found` says where: "byte 0xe9 in line 3"."""

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
    """Return the encoding of a text without a mark.

    It is UTF-8 if all of it is, or if a part of it can be nothing else: what is not, is damaged. Otherwise it is
    Windows-1252 if every foreign byte stands in a word of Latin letters, and all `CODE_PAGES` read it alike.
    """
    first: Unknown | None = None
    foreign = False
    for number, line in enumerate(lines, 1):
        if line.isascii():
            continue
        if _is_utf8(line):
            return "utf-8-sig"
        foreign = True
        for run in _FOREIGN.finditer(line):
            if len(run[0]) > 1 and _is_utf8(run[0]):
                return "utf-8-sig"
            if first is None and not _is_certain(line, run):
                first = Unknown(f"byte 0x{run[0][0]:02x} in line {number}")
    return first or ("cp1252" if foreign else "utf-8-sig")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_certain(line: bytes, run: re.Match[bytes]) -> bool:
    """Return whether foreign bytes can be read in one way only: words of other scripts have no ASCII letters."""
    try:
        if len({run[0].decode(page) for page in CODE_PAGES}) > 1:
            return False
    except UnicodeDecodeError:
        return False
    beside = line[max(0, run.start() - 1) : run.start()] + line[run.end() : run.end() + 1]
    return (len(run[0]) <= 2 and any(chr(byte).isalpha() for byte in beside)) or bool(
        _SIGN.fullmatch(line, *run.span())
    )

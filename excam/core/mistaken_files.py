"""What a file is that was taken for a CSV, TSV, JSON or Parquet file, in words that say what to do."""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, cast

START = 1024  # bytes that are looked at
_SIGNATURES = (
    (b"version https://git-lfs", "a git-LFS pointer; expected the file itself; run `git lfs pull` where it is from"),
    (b"<!doctype html", "an HTML page; expected the data file; download the file itself, not its page"),
    (b"<html", "an HTML page; expected the data file; download the file itself, not its page"),
    (b"<?xml", "an XML page, maybe an error; expected the data file; download the file itself"),
    (
        b"pk\x03\x04",
        "an Excel workbook or zip archive; expected plain text; unpack it, or save the sheet as CSV (UTF-8)",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; expected plain text; save the sheet as CSV (UTF-8)"),
    (b"%pdf", "a PDF; expected the data file"),
    (b"\xff\xfe", "text in UTF-16; expected UTF-8; save the file as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; expected UTF-8; save the file as UTF-8"),
)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def mistaken_for(path: Path) -> str | None:
    """Return what a file is by its first bytes, if it is nothing that can be read; None if it may be."""
    with _open(path) as stream:
        start = stream.read(START)
    plain = start.lstrip(codecs.BOM_UTF8 + b" \r\n\t").lower()
    found = (said for signature, said in _SIGNATURES if plain.startswith(signature))
    return next(found, _two_byte_text(start))


def _two_byte_text(start: bytes) -> str | None:
    """Return that a text is UTF-16 without a byte order mark: every other byte of an English header is null."""
    null = start[1::2].count(0) > len(start) // 4 or start[::2].count(0) > len(start) // 4
    return "text in UTF-16; expected UTF-8; save the file as UTF-8" if null and start[:4] != b"PAR1" else None


def not_utf8(path: Path) -> str | None:
    """Return where a text is not UTF-8, None if it is; for a file that could not be read."""
    with _open(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as problem:
                byte = f"byte 0x{line[problem.start]:02x} in line {number}"
                return f"not UTF-8, maybe Latin-1 or Windows-1252 ({byte}); expected UTF-8; save the file as UTF-8"
    return None


def other_separator(path: Path, separator: str, columns: Collection[str]) -> str | None:
    """Return what separates the columns of a CSV file, if they are found with it and not with `separator`."""
    with _open(path) as stream:
        header = stream.readline().decode("utf-8-sig", "replace").rstrip("\r\n")
    if set(columns) & set(_cells(header, separator)):
        return None
    for other, said in _SEPARATORS.items():
        if other != separator and set(columns) <= set(_cells(header, other)):
            return f"columns separated by {said}; expected {_SEPARATORS[separator]}; save the file with these"
    return None


def _cells(header: str, separator: str) -> list[str]:
    return next(csv.reader([header], delimiter=separator), [])


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" and _is_gzip(path) else path.open("rb"))


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"

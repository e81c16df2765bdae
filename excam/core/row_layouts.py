"""How a file or folder of rows is read: its format, what it is packed with, its encoding, its separator.

The suffix decides the format where it is known, else the content; the first bytes decide whether a file is packed.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast

from excam.core import encodings
from excam.core.command_input import refuse_device
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.folders import files_below, is_hidden

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Kind = Literal["json-lines", "json", "csv", "parquet", "arrow", "workbook"]
SUFFIXES: Mapping[str, Kind] = {
    ".jsonl": "json-lines",
    ".ndjson": "json-lines",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    ".xls": "workbook",
    ".ods": "workbook",
}
PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
_OPENERS: Sequence[tuple[bytes, Callable[[BinaryIO], Any]]] = (
    (b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdFile),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
DAMAGED = (OSError, EOFError, UnicodeError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_MISTAKEN = (
    (b"version https://git-lfs", "a git-LFS pointer; expected the file itself; run `git lfs pull` where it is from"),
    (b"<!doctype html", "an HTML page; expected the data file; download the file itself, not its page"),
    (b"<html", "an HTML page; expected the data file; download the file itself, not its page"),
    (b"<?xml", "an XML page, maybe an error; expected the data file; download the file itself"),
    (b"pk\x03\x04", "a zip archive; expected text; unpack it, name a workbook .xlsx, `inspect log dump` a .eval"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; expected text; name it .xls"),
    (b"%pdf", "a PDF; expected the data file"),
)  # fmt: skip
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how they begin
MAX_ROW = 2**27  # characters of one row: a small packed file can hold a line larger than memory
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
START = 65536  # bytes or characters that are looked at to find out how a file is read
_SPLIT = re.compile(r"(?P<name>.+)-\d{5}-of-\d{5}|(?P<plain>train|training|test|validation|valid|dev)")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How a file or folder is read."""

    path: Path  # as it was given, for messages
    files: tuple[Path, ...]
    kind: Kind
    encoding: str = "utf-8"
    separator: str = ","
    skip: int = 0  # lines before the header
    labels: Mapping[str, Sequence[str]] | None = None  # names behind the numbers of a column, of a saved data set
    sheets: tuple[str, ...] = ()  # of a workbook, of which the first is read

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person would not expect: the separator, the encoding, several files or sheets."""
        notes = [f"{len(self.files)} files"] if len(self.files) > 1 else []
        first, *others = self.sheets or ("",)
        notes += [f"sheet {first}; not read: {', '.join(others)}"] if others else []
        notes += [SEPARATORS[self.separator]] if self.kind == "csv" and self.separator in ";|" else []
        return (*notes, *([self.encoding] if self.encoding not in ("utf-8", "utf-8-sig") else []))


def layout_of(path: Path, encoding: str | None = None) -> FileLayout:
    """Find out how a file or folder is read. Raises InputInvalid for a file that is none of rows."""
    if path.is_dir():
        return _folder(path)
    refuse_device(path)
    try:
        with _opened(path) as stream:
            start, is_packed = stream.read(START), not hasattr(stream, "raw")
    except DAMAGED as problem:
        reason = str(getattr(problem, "strerror", None) or in_a_line(problem)).lower()
        raise InputInvalid(f"{path}: {reason}; expected a file of rows, such as JSON Lines or CSV") from None
    names = [part.lower() for part in path.suffixes if part.lower() not in PACKED]
    suffix = names[-1] if names else ""
    kind = SUFFIXES.get(suffix) or _kind_of_content(start)
    if kind == "workbook" and start.startswith(_WORKBOOKS):
        from excam.core.tables import sheet_names

        return FileLayout(path, (path,), kind, sheets=sheet_names(path))
    if mistake := mistaken_for(start) or ("no workbook, as its name says; expected one" if kind == "workbook" else ""):
        raise InputInvalid(f"{path}: {mistake}")
    if not is_packed and start and path.suffix.lower() in PACKED:
        raise InputInvalid(f"{path}: is not packed, as its name says; expected {PACKED[path.suffix.lower()]}")
    if kind in ("parquet", "arrow"):
        return FileLayout(path, (path,), kind)
    text_encoding = encoding or _encoding(path, start, is_json=kind != "csv")
    text = _decoded(path, start, text_encoding)
    if kind != "csv":
        return FileLayout(path, (path,), "json-lines" if _is_json_lines(text, kind) else "json", text_encoding)
    first = text.partition("\n")[0]
    stated = re.fullmatch(r'"?sep=(.)"?\r?', first.lstrip("\ufeff"))
    separator = stated[1] if stated else _separator(re.split("[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0], suffix)
    return FileLayout(path, (path,), "csv", text_encoding, separator, int(bool(stated)))


def mistaken_for(start: bytes) -> str | None:
    """Return what a file is by its first bytes, in words that say what to do, if it holds no rows; else None."""
    plain = start.lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    return next((words for signature, words in _MISTAKEN if plain.startswith(signature)), None)


def _kind_of_content(start: bytes) -> Kind:
    """Return the kind of a file whose suffix says nothing."""
    for magic, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
        if start.startswith(magic):
            return cast(Kind, kind)
    plain = start.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \r\n\t")
    return "json" if plain[:1] in (b"{", b"[", b"") else "csv"


def _encoding(path: Path, start: bytes, *, is_json: bool) -> str:
    """Return the encoding of a text. Raises InputInvalid for a CSV file that is not UTF-8."""
    if detected := encodings.by_first_bytes(start):
        return detected
    with _opened(path) as stream:
        detected = encodings.of_lines(iter(lambda: stream.readline(MAX_ROW), b""))
    if isinstance(detected, str):
        return detected
    if is_json:  # JSON is UTF-8, so a line that is not is a damaged row
        return "utf-8-sig"
    raise InputInvalid(
        f"{path}: not UTF-8, maybe Latin-1 or Windows-1252 ({detected.found}); expected UTF-8; save the file as "
        "UTF-8, or give its encoding, such as --encoding cp1252"
    )


def _decoded(path: Path, start: bytes, encoding: str) -> str:
    try:
        return start.decode(encoding, errors="replace")
    except LookupError:
        raise InputInvalid(f"--encoding: found {encoding}; expected the name of one, such as utf-8 or cp1252") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Yield an open file of bytes, unpacked where its first bytes say that it is packed."""
    with path.open("rb") as stream:
        magic = stream.read(6)
        stream.seek(0)
        opener = next((opener for start, opener in _OPENERS if magic.startswith(start)), None)
        with opener(stream) if opener else stream as unpacked:
            yield cast(BinaryIO, unpacked)


@contextmanager
def open_text(path: Path, encoding: str = "utf-8-sig", newline: str = "", errors: str = "strict") -> Iterator[IO[str]]:
    """Yield a text file, packed or not.

    Args:
        path: of the file
        encoding: of its bytes once they are unpacked; by default UTF-8, with or without a mark
        newline: as in `open`; "" keeps the ends of lines
        errors: as in `open`
    """
    with _opened(path) as stream:
        yield io.TextIOWrapper(stream, encoding, errors=errors, newline=newline)


def _is_json_lines(start: str, kind: Kind) -> bool:
    """Return whether a JSON text has a row on each line; an array, or an object over several lines, has not."""
    text = start.lstrip("\ufeff \r\n\t")
    first, _, rest = text.partition("\n")
    if kind == "json-lines":  # people call an array of objects so, too
        return not re.match(r"\[\s*[{\]]", text) or (_is_json(first) and bool(rest.strip()))
    if not text.startswith("{") or not rest.strip():
        return not text.startswith(("{", "["))  # no JSON: each line is a bad row
    return _is_json(first) or (len(first.strip()) > 1 and rest.lstrip().startswith("{"))


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _separator(header: str, suffix: str) -> str:
    """Return what separates the columns of a header: what gives the most of them, else that of the suffix."""
    usual = "\t" if suffix in (".tsv", ".tab") else ","
    counts = {separator: len(next(csv.reader([header], delimiter=separator), [])) for separator in (usual, *SEPARATORS)}
    return max(counts, key=lambda separator: counts[separator])


def _folder(path: Path) -> FileLayout:
    """Return the layout of a data set that `datasets` saved, or of a folder with Parquet or Arrow files."""
    splits = path / "dataset_dict.json"
    if splits.is_file():
        names = _json_of(splits, "splits")
        if len(names) != 1:
            options = " or ".join(str(path / str(name)) for name in names) or "one split"
            raise InputInvalid(f"{path}: {len(names)} splits: {', '.join(map(str, names))}; expected one: {options}")
        return _folder(path / str(names[0]))
    state = path / "state.json"
    if state.is_file():
        return _saved_split(path, state)
    files = [file for file in files_below(path) if not is_hidden(file.relative_to(path))]
    table_files = [file for file in files if SUFFIXES.get(file.suffix.lower()) in ("parquet", "arrow")]
    table_files = [file for file in table_files if not file.name.startswith("cache-")]
    kinds: set[Kind] = {SUFFIXES[file.suffix.lower()] for file in table_files}
    if len(kinds) != 1:
        what = "Parquet and Arrow files" if kinds else "no Parquet or Arrow files"
        raise InputInvalid(
            f"{path}: is a folder with {what}; expected a saved data set, or one kind of these; else give the files"
        )
    if len(names := {name for file in table_files if (name := _split_of(file, path))}) > 1:
        several = ", ".join(sorted(names))
        raise InputInvalid(f"{path}: splits {several}; expected one of them; give its file or folder")
    return FileLayout(path, tuple(table_files), kinds.pop())


def _saved_split(path: Path, state: Path) -> FileLayout:
    """Return the layout of one split that `datasets` saved, with the files that its state names."""
    from excam.core.tables import class_labels_of

    names = [row["filename"] for row in _json_of(state, "_data_files")]
    files = tuple(path / name for name in names if Path(name).name == name)
    if absent := [file for file in files if not file.is_file()] or (not files and [path]):
        raise InputInvalid(f"{absent[0]}: missing; expected the files that {state} names")
    info = path / "dataset_info.json"
    features = _json_of(info, "features") if info.is_file() else {}
    return FileLayout(path, files, "arrow", labels=class_labels_of(features))


def _split_of(file: Path, folder: Path) -> str | None:
    """Return the split that a file's name, or its folder's, says: `train` of `train-00000-of-00002.parquet`."""
    for name in (file.stem, file.parent.name if file.parent != folder else ""):
        if match := _SPLIT.fullmatch(name):
            return match["name"] or match["plain"]
    return None


def _json_of(path: Path, key: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputInvalid(f"{path}: no {key}; expected what `datasets` saved") from None

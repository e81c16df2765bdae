"""Readers of instruction-output pairs: JSON Lines, CSV, Parquet, folders of the `datasets` library, stdin.

Rows are read one after another, so a file may be larger than memory. Every reader takes the same columns by name; a row
that is no pair is refused with its place before anything is asked.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from excam.core.command_input import refuse_device, standard_input
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.provenance import disk_full_names
from excam.inference.run import ItemT
from excam.scoring.defaults import STAND_IN_INSTRUCTION

FIELDS = ("instruction", "output", "id", "language", "system", "culture")
ROWS = 4096  # of a Parquet file in memory at once
MAX_ROW = 2**27  # bytes of one row: a small compressed file can hold a line larger than memory
csv.field_size_limit(MAX_ROW)


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and the instruction that it answers. Unknown labels are empty."""

    id: str
    instruction: str
    output: str
    language: str = ""
    system: str = ""  # who wrote the output, e.g. a model's name
    culture: str = ""  # country, region or culture the pair is about

    @property
    def texts(self) -> dict[str, str]:
        """Return what is scored, by column."""
        return {"instruction": self.instruction, "output": self.output}


@dataclass(frozen=True, slots=True)
class Columns:
    """The column names of the fields of a pair in a file."""

    instruction: str = "instruction"
    output: str = "output"
    id: str = "id"
    language: str = "language"
    system: str = "system"
    culture: str = "culture"


PLAIN = Columns()


def pair(number: int, row: object, where: str = "row", columns: Columns = PLAIN) -> Pair:
    """Return the pair in the `number`-th row, with a neutral instruction if it has none.

    Raises InputInvalid if the row has no output, or a field that is not text.
    """
    if not isinstance(row, Mapping):
        raise InputInvalid(f"{where}:{number}: found {type(row).__name__}; expected an object with a key output")
    found: dict[str, str] = {}
    for field in FIELDS:
        name = getattr(columns, field)
        value = row.get(name)
        named = name != field  # a column that the user named must exist
        if field != "output" and (value is None or value == "") and (name in row or not named):
            continue
        value = str(value) if field == "id" and value is not None else value
        if not isinstance(value, str):
            known = ", ".join(map(str, row))[:100] or "no keys"
            raise InputInvalid(f"{where}:{number}: key {name}: expected text; found {type(value).__name__} ({known})")
        found[field] = value
    return Pair(**{"id": str(number), "instruction": STAND_IN_INSTRUCTION, **found})


def read(path: Path, columns: Columns = PLAIN) -> Iterator[Pair]:
    """Yield the pairs of a file or folder in order.

    The suffix decides the format: .jsonl, .ndjson, .json (one object per line), .csv, .tsv, each also .gz, and
    .parquet; a folder has Parquet files or those that `datasets` saves. Raises InputInvalid naming an invalid row.
    """
    number = 0
    for number, row in rows(path):
        yield pair(number, row, str(path), columns)
    if not number:
        raise InputInvalid(f"{path}: 0 rows; expected one JSON object a line, or a table with a column output")


def rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a file or folder, each with its number for messages; the formats are those of `read`."""
    return _reader(path)(path)


def given(rows: Iterable[Mapping[str, Any] | Pair]) -> Iterator[Pair]:
    """Return an iterator over the pairs in `rows`; a sequence is checked as a whole first, else each row when reached.

    Raises InputInvalid for a row that is no pair or repeats an id.
    """
    found = distinct(row if isinstance(row, Pair) else pair(number, row) for number, row in enumerate(rows, 1))
    return iter(list(found)) if isinstance(rows, Sequence) else found


def distinct(items: Iterable[ItemT]) -> Iterator[ItemT]:
    """Yield the items unchanged. Raises InputInvalid at an item that repeats an id."""
    seen: set[int] = set()  # digests instead of ids: 8 bytes each however long an id is
    for one in items:
        digest = hashlib.blake2b(one.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest)  # collision probability for a million ids: 3e-8
        if number in seen:
            raise InputInvalid(f"id {one.id}: occurs twice; expected unique ids, or none")
        seen.add(number)
        yield one


@dataclass(frozen=True, slots=True)
class PairFile:
    """The pairs of a file. It can be iterated several times."""

    path: Path
    columns: Columns = PLAIN

    def __iter__(self) -> Iterator[Pair]:
        return read(self.path, self.columns)


@contextmanager
def spooled(path: Path) -> Iterator[Path]:
    """Yield the path itself, or of a copy that can be read twice: of a pipe, or of standard input for `-`.

    Raises InputInvalid for a device or a closed standard input.
    """
    if str(path) in ("-", "/dev/stdin"):
        with _copied(standard_input(), ".jsonl", "stdin") as copy:
            yield copy
    elif path.is_fifo():
        with path.open("rb") as stream, _copied(stream, "".join(path.suffixes[-2:]), str(path)) as copy:
            yield copy
    else:
        refuse_device(path)
        yield path


@contextmanager
def _copied(stream: BinaryIO, suffix: str, name: str) -> Iterator[Path]:
    """Yield the path of a temporary copy of a stream; error messages have `name` in its place."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as copy:
        with disk_full_names(Path(copy.name)):
            shutil.copyfileobj(stream, copy)
            copy.flush()
        try:
            yield Path(copy.name)
        except InputInvalid as problem:
            raise InputInvalid(str(problem).replace(copy.name, name)) from None


Rows = Iterator[tuple[int, Any]]  # number for messages, row


def _reader(path: Path) -> Callable[[Path], Rows]:
    """Return the reader of a file. Raises InputInvalid for an unknown format."""
    if path.is_dir():
        return _folder
    readers = {".csv": partial(_csv, ","), ".tsv": partial(_csv, "\t"), ".parquet": _parquet, ".arrow": _arrow}
    readers |= dict.fromkeys((".jsonl", ".ndjson", ".json", ""), _json_lines)
    kind = (Path(path.stem).suffix if _is_packed(path) else path.suffix).lower()
    if kind not in readers:
        raise InputInvalid(f"{path}: unknown kind {kind}; expected .jsonl, .csv, .tsv, .parquet or a folder")
    return readers[kind]


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Yield an open file, unpacked if compressed. Raises InputInvalid if it cannot be read."""
    try:
        refuse_device(path)
        with gzip.open(path, "rb") if _is_packed(path) else path.open("rb") as stream:
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as problem:
        reason = str(getattr(problem, "strerror", None) or problem).lower()
        raise InputInvalid(f"{path}: {reason}; expected JSON Lines with the keys instruction and output") from None
    except MemoryError:
        raise InputInvalid(f"{path}: a row takes more memory than there is; expected shorter rows") from None


class _Lines(Iterator[bytes]):
    """The lines of a stream. Raises InputInvalid if the lines since `row` was set to 0 exceed MAX_ROW bytes."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._stream = path, stream
        self.number = self.row = 0

    def __next__(self) -> bytes:
        line = self._stream.readline(MAX_ROW + 1)
        self.number, self.row = self.number + 1, self.row + len(line)
        if self.row > MAX_ROW:
            where = f"{self._path}: line {self.number}"
            raise InputInvalid(f"{where}: a row of more than {MAX_ROW} bytes; expected shorter ones")
        if not line:
            raise StopIteration
        return line


class _DuplicateKey(ValueError):
    """Raised for a key that occurs twice in a JSON object."""


def _unique_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) < len(items):
        raise _DuplicateKey(_most_frequent(key for key, _ in items))
    return found


def _most_frequent(names: Iterable[str]) -> str:
    """Return the name that occurs most often, cut to 100 characters."""
    return Counter(names).most_common(1)[0][0][:100]


def _json_lines(path: Path) -> Rows:
    at = 0
    with _opened(path) as stream:
        lines = _Lines(path, stream)
        for number, raw in enumerate(lines, 1):
            lines.row = 0
            try:
                line = raw.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").decode("utf-8")
            except UnicodeDecodeError as problem:
                raise InputInvalid(f"{path}: not UTF-8 at byte {at + problem.start}; save it as UTF-8") from None
            at += len(raw)
            if not line.strip():
                continue
            try:
                yield number, json.loads(line, object_pairs_hook=_unique_keys)
            except _DuplicateKey as twice:
                raise InputInvalid(f"{path}:{number}: key {twice}: occurs twice; expected each once") from None
            except (ValueError, RecursionError):  # ValueError: also digits beyond Python's limit
                expected = 'expected {"instruction": ..., "output": ...}'
                raise InputInvalid(f"{path}:{number}: not JSON; {expected}") from None


def _csv(separator: str, path: Path) -> Rows:
    with _opened(path) as stream:
        raw = _Lines(path, stream)
        lines = csv.reader((_text(path, line) for line in raw), delimiter=separator, strict=True)
        try:
            head = next(lines, [])
            if len(named := [name for name in head if name]) > len(set(named)):
                raise InputInvalid(f"{path}: column {_most_frequent(named)}: occurs twice; expected each once")
            for number, line in enumerate(lines, 1):
                raw.row = 0
                if line and len(line) != len(head):
                    raise InputInvalid(f"{path}:{number}: {len(line)} fields; expected {len(head)}, as in its head")
                if line:
                    yield number, dict(zip(head, line, strict=True))
        except csv.Error as problem:
            raise InputInvalid(f"{path}: line {lines.line_num}: {problem}; expected CSV with a head") from None


def _text(path: Path, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputInvalid(f"{path}: not UTF-8; save it as UTF-8") from None


def _parquet(path: Path) -> Rows:
    import polars as pl

    from excam.core.tables import scan_parquet

    at = 0
    while True:
        try:
            part = scan_parquet(path).slice(at, ROWS).collect()
        except (pl.exceptions.PolarsError, OSError) as problem:
            raise InputInvalid(f"{path}: {in_a_line(problem)}; expected a Parquet file") from None
        yield from enumerate(part.iter_rows(named=True), at + 1)
        at += len(part)
        if len(part) < ROWS:
            return


def _arrow(path: Path) -> Rows:
    import polars as pl

    from excam.core.tables import read_arrow

    try:
        frame = read_arrow(path)
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected an Arrow stream") from None
    yield from enumerate(frame.iter_rows(named=True), 1)


def _folder(path: Path) -> Rows:
    files = sorted(file for kind in ("parquet", "arrow") for file in path.rglob(f"*.{kind}"))
    if not files:
        raise InputInvalid(f"{path}: is a directory without Parquet or Arrow files; expected a saved dataset")
    at = 0
    for file in files:
        number = 0
        for number, row in _reader(file)(file):
            yield at + number, row
        at += number

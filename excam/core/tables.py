"""Parquet, CSV and JSON Lines files: written atomically; equal rows give equal bytes.

A path is the name of one file, never a pattern: polars would read `texts v.parquet` for `texts [v1].parquet`. So this
module and `source_tables` alone call its readers (a test of conventions holds it).
"""

from __future__ import annotations

import csv
import errno
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from excam.core import spreadsheets
from excam.core.exceptions import ArtifactBroken, InputInvalid, in_a_line
from excam.core.extras import require_extra
from excam.core.provenance import publish, write_text
from excam.core.spreadsheets import guard_cell, remove_guard

_SYSTEM = re.compile(r"\(os error (\d+)\)")
_TRANSPORT = "Invalid thrift: transport error"  # what Polars says of an error without its number
_PROBE = 2**20  # bytes; more than Polars keeps in its buffer
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)  # of a file that polars reads


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as Parquet atomically, without a creation time."""
    with publish(path) as temporary, _system_errors(temporary):
        frame.write_parquet(temporary, compression="zstd", statistics=False)


def write_frames(path: Path, frames: Iterator[pl.DataFrame], schema: Mapping[str, Any], rows: int) -> None:
    """Write frames of this schema as one Parquet file atomically, in the memory of a few; `rows` form a row group.

    Args:
        path: of the file
        frames: its parts, one after the other, all of `schema`
        schema: type by column
        rows: of a row group
    """
    from polars.io.plugins import register_io_source

    coming = register_io_source(lambda *_: frames, schema=schema)
    with publish(path) as temporary, _system_errors(temporary):
        coming.sink_parquet(temporary, compression="zstd", statistics=False, row_group_size=rows)


@contextmanager
def _system_errors(temporary: Path) -> Iterator[None]:
    """Convert operating system errors that Polars wraps, such as a full disk, to OSError."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as problem:
        if match := _SYSTEM.search(str(problem)):
            code = int(match[1])
        elif str(problem).endswith(_TRANSPORT):
            code = _refusal_of_more(temporary)
        else:
            raise
        raise OSError(code, os.strerror(code)) from problem


def _refusal_of_more(path: Path) -> int:
    """Return the number of the error with which the system refuses to write more to a file; EIO if it writes."""
    try:
        with path.open("ab") as stream:
            stream.write(bytes(_PROBE))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as refused:
        return refused.errno or errno.EIO
    return errno.EIO


def scan_parquet(path: Path) -> pl.LazyFrame:
    """Return the Parquet file at exactly this path, not read yet. Its folders' names add no columns."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def read_arrow(path: Path) -> pl.DataFrame:
    """Return the rows of an Arrow file, or of an Arrow stream, as `datasets` saves them."""
    with path.open("rb") as stream:
        is_file = stream.read(6) == b"ARROW1"
    return pl.scan_ipc(path, glob=False).collect() if is_file else pl.read_ipc_stream(path)


@contextmanager
def _workbook(path: Path) -> Iterator[None]:
    """Turn what the library says of a damaged workbook into an InputInvalid of one line."""
    import fastexcel  # pyright: ignore[reportMissingImports]

    try:
        yield
    except fastexcel.FastExcelError as problem:
        raise InputInvalid(f"{path}: {in_a_line(problem)}; expected a workbook; save it again, or as CSV") from None


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the sheets of a workbook. Raises InputInvalid if it has none, NotInstalled without the library."""
    require_extra("excel", "fastexcel")
    import fastexcel  # pyright: ignore[reportMissingImports]

    with _workbook(path):
        names = tuple(fastexcel.read_excel(path).sheet_names)
    if not names:
        raise InputInvalid(f"{path}: no sheet; expected a workbook with one; save it again, or as CSV")
    return names


def read_sheet(path: Path, sheet: str) -> list[tuple[str | None, ...]]:
    """Return the lines of a sheet, the header too, as texts. The library must be installed, see `sheet_names`.

    Raises InputInvalid for a damaged sheet.
    """

    def read(**options: Any) -> pl.DataFrame:
        with _workbook(path):
            return pl.read_excel(
                path,
                sheet_name=sheet,
                has_header=False,
                read_options=options,
                drop_empty_rows=False,
                drop_empty_cols=False,
                raise_if_empty=False,
            )

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of each empty column
    frame = read(dtypes="string")  # else a column of a few numbers among texts would lose them
    numbers = read(skip_rows=1) if frame.height > 1 else frame.clear()  # as text they have nine digits
    for name in numbers.columns:
        if numbers[name].dtype.is_float() and numbers.height == frame.height - 1:
            exact = [None if value is None else repr(value).removesuffix(".0") for value in numbers[name]]
            frame = frame.with_columns(pl.Series(name, [frame[name][0], *exact]))
    return frame.rows()


def class_labels(path: Path) -> dict[str, list[str]]:
    """Return, by column, the names behind the numbers that `datasets` writes for a ClassLabel in a Parquet file."""
    try:
        features = json.loads(pl.read_parquet_metadata(path)["huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError):
        return {}
    return class_labels_of(features)


def class_labels_of(features: Any) -> dict[str, list[str]]:
    """Return the names of each ClassLabel among the features of a data set, as `datasets` writes them in JSON."""
    named_features = features.items() if isinstance(features, dict) else ()
    labels = {
        name: about.get("names") for name, about in named_features if isinstance(about, dict) and "names" in about
    }
    return {name: list(map(str, names)) for name, names in labels.items() if isinstance(names, list)}


def read_frame(path: Path) -> pl.DataFrame:
    """Read a Parquet file. Raise ArtifactBroken if it is not readable as Parquet."""
    try:
        return scan_parquet(path).collect()
    except UNREADABLE as problem:
        detail = in_a_line(problem)
        raise ArtifactBroken(f"{path}: not a readable Parquet file ({detail}); delete it and run again") from None


def judgements_by_system(systems: Sequence[str], judgements: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """Return one frame per system from `judgements`: equally many files per system, in the order of `systems`.

    Raise InputInvalid for another number of files, ArtifactBroken if the rows or their order differ between systems.
    """
    each, rest = divmod(len(judgements), len(systems))
    if rest or not each:
        raise InputInvalid(f"{len(judgements)} judgements for {len(systems)} systems; expected as many for each")
    frames = {
        system: pl.concat([read_frame(path) for path in judgements[at * each : (at + 1) * each]])
        for at, system in enumerate(systems)
    }
    for system in systems[1:]:
        if frames[system]["id"].to_list() != frames[systems[0]]["id"].to_list():
            raise ArtifactBroken(
                f"{systems[0]} and {system}: judged different rows, or in another order; run `judge` again"
            )
    return frames


def with_gold(
    judgements: pl.DataFrame, samples: pl.DataFrame, columns: Sequence[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every judged row with these columns of its gold row, in the order of the judgements.

    `samples` has at least `id`, `score` and `columns`. Raise InputInvalid unless both have the same rows, once each,
    with the same gold scores.
    """
    if judgements.is_empty():
        raise InputInvalid("judgements: 0 rows; expected the rows of a test set; judge it again")
    gold = {
        row["id"]: row for row in samples.select(list(dict.fromkeys(["id", "score", *columns]))).iter_rows(named=True)
    }
    judged = Counter(judgements["id"].to_list())
    if apart := sorted(judged.keys() ^ gold.keys()) or [name for name, count in judged.items() if count > 1]:
        raise InputInvalid(
            f"{apart[0]}: one of {len(apart)} rows not once in judgements and in gold rows; judge the gold rows again"
        )
    for row in judgements.iter_rows(named=True):
        if row["gold_score"] != gold[row["id"]]["score"]:
            raise InputInvalid(
                f"{row['id']}: judged with gold score {row['gold_score']}, found {gold[row['id']]['score']}; "
                "judge it again"
            )
        yield row, gold[row["id"]]


def write_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as CSV atomically. Texts that a spreadsheet would run as a formula are guarded (`spreadsheets`)."""
    with publish(path) as temporary, _system_errors(temporary):
        _with_texts(frame, guard_cell).write_csv(temporary)


def _with_texts(frame: pl.DataFrame, change: Callable[[str], str]) -> pl.DataFrame:
    """Return a frame in which the texts that a guard changes, or had changed, are replaced."""
    columns = (name for name, kind in frame.schema.items() if kind == pl.String)
    return frame.with_columns(
        pl.col(name).map_elements(change, pl.String)
        for name in columns
        if frame[name].str.contains(spreadsheets.POSSIBLE).any()
    )


def write_lines(path: Path, columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> None:
    """Write dictionaries as lines of a CSV file atomically, with these columns; missing values are empty.

    Texts are guarded as in `write_csv`. Raise InputInvalid for a lone surrogate, which no file can hold.
    """
    with publish(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        try:
            table.writerows({name: _cell(value) for name, value in line.items()} for line in lines)
        except UnicodeEncodeError as problem:
            half = f"U+{ord(problem.object[problem.start]):04X}"
            raise InputInvalid(f"{path}: a cell holds {half}, a lone surrogate; expected Unicode text") from None


def _cell(value: Any) -> Any:
    return guard_cell(value) if isinstance(value, str) else value


def read_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file as dictionaries of texts without guards; numbers are not converted.

    Raise ArtifactBroken if there is no header, or a line has more or fewer fields than the header.
    """
    with path.open(newline="", encoding="utf-8") as stream:
        table = csv.reader(stream, strict=True)
        try:
            head, *lines = table
            return [dict(zip(head, map(remove_guard, line), strict=True)) for line in lines if line]
        except (ValueError, csv.Error) as problem:  # also bytes that are not UTF-8
            detail = f"line {table.line_num}: {problem}"
            raise ArtifactBroken(f"{path}: not a complete CSV table ({detail}); delete it and run again") from None


def read_csv(path: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    """Read a file of `write_csv`. Raise ArtifactBroken if it is not a CSV file with these columns."""
    try:
        return _with_texts(pl.read_csv(path, glob=False, schema=dict(schema)), remove_guard)
    except (pl.exceptions.PolarsError, OSError) as problem:
        detail = in_a_line(problem)
        raise ArtifactBroken(
            f"{path}: not a table of {', '.join(schema)} ({detail}); delete it and run again"
        ) from None


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write objects as lines of JSON atomically, in UTF-8."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file. Raise ArtifactBroken with the line number of an invalid line."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # also bytes that are not UTF-8, and digits beyond Python's limit
                row = None
            if not isinstance(row, dict):
                raise ArtifactBroken(f"{path}:{number}: not a JSON object; delete the file and run again")
            yield row

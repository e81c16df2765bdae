"""Samples and judgements as Parquet files: written atomically, the same rows give the same bytes."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam.exceptions import ArtifactBroken, InputInvalid, in_a_line
from excam.provenance import publish
from excam.records import BaseSample, CulturalError, Report, Sample, Verdict, flat, sample_from_row, to_row

_SYSTEM = re.compile(r"\(os error (\d+)\)")
SAMPLE_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(
        ("id", "pair", "base", "dataset", "task", "instruction", "output", "origin", "language", "culture", "stratum"),
        pl.String,
    ),
    **dict.fromkeys(("licence", "answer", "group", "split", "errors", "explanation", "stated_severity"), pl.String),
    "templates": pl.List(pl.String),
    "score": pl.Int64,
}
JUDGEMENT_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "pair", "base", "group", "dataset", "origin", "language", "culture"), pl.String),
    "gold_score": pl.Int64,
    "gold_error": pl.Boolean,
    "errors_found": pl.Int64,
    "score": pl.Float64,
    "certainty": pl.Float64,
    "certainty_without_end": pl.Float64,
    "report": pl.String,
    "recovered": pl.String,  # kinds of what the reader overlooked, with commas between; empty: nothing
    "spans_not_found": pl.Int64,  # of the report's errors, how many are in neither text; null without a report
    "failure": pl.String,
    "thinking": pl.String,
}


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as Parquet, atomically and without a creation time."""
    with publish(path) as temporary, _system_errors():
        frame.write_parquet(temporary, compression="zstd", statistics=False)


@contextmanager
def _system_errors() -> Iterator[None]:
    """Raise what the system refuses, such as a full disk, as OSError: Polars tells of it in the words of another."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as problem:
        told = _SYSTEM.search(str(problem))
        if told is None:
            raise
        raise OSError(int(told[1]), os.strerror(int(told[1]))) from problem


def read_frame(path: Path) -> pl.DataFrame:
    """Read a Parquet file. Raises ArtifactBroken when it is not one."""
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        detail = in_a_line(problem)
        raise ArtifactBroken(f"{path}: not a readable Parquet file ({detail}); delete it and run again") from None


def by_system(systems: Sequence[str], judgements: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """Judgements of several systems: as many files of each, one system after the other, about the same rows.

    Raises InputInvalid for another number of files, ArtifactBroken where rows or their order differ.
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
    """Every judged row and these columns of its gold row, in the order of the judgements.

    `samples` has at least `id`, `score` and `columns`. Raises InputInvalid where they are not the same rows, once each,
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
    """Write a frame as CSV, atomically. Texts stand as they are: a program reads it, no spreadsheet is guarded."""
    with publish(path) as temporary, _system_errors():
        frame.write_csv(temporary)


def write_lines(path: Path, columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> None:
    """Write dictionaries as CSV, atomically: a line each, with these columns; what one lacks is left empty.

    Texts stand as they are, as in `write_csv`.
    """
    with publish(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        table.writerows(lines)


def read_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file, by column, as they are written: numbers too are texts.

    Raises ArtifactBroken where there is no head, or a line has more or fewer fields than it.
    """
    with path.open(newline="", encoding="utf-8") as stream:
        table = csv.reader(stream, strict=True)
        try:
            head, *lines = table
            return [dict(zip(head, line, strict=True)) for line in lines if line]
        except (ValueError, csv.Error) as problem:  # also bytes that are not UTF-8
            detail = f"line {table.line_num}: {problem}"
            raise ArtifactBroken(f"{path}: not a whole CSV table ({detail}); delete it and run again") from None


def read_csv(path: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    """Read what `write_csv` wrote. Raises ArtifactBroken when it is not a CSV file with these columns."""
    try:
        return pl.read_csv(path, schema=dict(schema))
    except (pl.exceptions.PolarsError, OSError) as problem:
        detail = in_a_line(problem)
        raise ArtifactBroken(
            f"{path}: not a table of {', '.join(schema)} ({detail}); delete it and run again"
        ) from None


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """Write samples in the order given; the report becomes the columns `errors` (JSON) and `explanation`."""
    write_frame(path, pl.DataFrame([to_row(sample) for sample in samples], schema=SAMPLE_SCHEMA, orient="row"))


def read_samples(path: Path) -> list[Sample]:
    """Read what `write_samples` wrote. Raises ArtifactBroken for any other file."""
    frame = read_frame(path)
    if missing := SAMPLE_SCHEMA.keys() - set(frame.columns):
        raise ArtifactBroken(f"{path}: no samples: lacks the column {min(missing)}; delete it and run again")
    return [sample_from_row(row) for row in frame.iter_rows(named=True)]


def write_bases(path: Path, bases: Iterable[BaseSample]) -> None:
    """Write base samples as JSON Lines, atomically."""
    with publish(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for base in bases:
            stream.write(json.dumps(flat(base), ensure_ascii=False) + "\n")


def read_bases(path: Path) -> list[BaseSample]:
    """Read what `write_bases` wrote. Raises ArtifactBroken when a line is torn."""
    return [
        BaseSample(**{**row, "options": tuple(row["options"]), "wrong": tuple(row["wrong"])}) for row in jsonl(path)
    ]


def write_judgements(path: Path, samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> None:
    """One row per sample: gold, verdict, report, failure, thinking. No row is left out."""
    rows = [
        {
            "id": sample.id,
            "pair": sample.pair,
            "base": sample.base,
            "group": sample.group or sample.base,
            "dataset": sample.dataset,
            "origin": sample.origin,
            "language": sample.language,
            "culture": sample.culture,
            "gold_score": sample.score,
            "gold_error": bool(sample.report.errors),
            "errors_found": verdict.errors_found,
            "score": verdict.score,
            "certainty": verdict.certainty,
            "certainty_without_end": verdict.certainty_without_end,
            "report": report_json(verdict.report) if verdict.report else None,
            "recovered": ",".join(verdict.recovered),
            "spans_not_found": _not_found(verdict.report) if verdict.report else None,
            "failure": verdict.failure,
            "thinking": verdict.thinking.encode(errors="replace").decode(),  # half a character fits into no file
        }
        for sample, verdict in zip(samples, verdicts, strict=True)
    ]
    write_frame(path, pl.DataFrame(rows, schema=JUDGEMENT_SCHEMA, orient="row"))


def _not_found(report: Report) -> int:
    return sum(error.start < 0 for error in report.errors)


def report_json(report: Report) -> str:
    """A report with its offsets, as JSON text."""
    return json.dumps(asdict(report), ensure_ascii=False)


def report_from_json(text: str) -> Report:
    """The inverse of `report_json`."""
    raw = json.loads(text)
    return Report(tuple(CulturalError(**error) for error in raw["errors"]), raw["explanation"])


def jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a JSON Lines file. Raises ArtifactBroken with the line's number when one is torn."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # also bytes that are not UTF-8, and digits beyond Python's limit
                row = None
            if not isinstance(row, dict):
                raise ArtifactBroken(f"{path}:{number}: not a JSON object; delete the file and run again")
            yield row

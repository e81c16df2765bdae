"""Samples, base samples and judgements as files. Writing is atomic; the same rows give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam.core.exceptions import ArtifactBroken
from excam.core.tables import read_frame, read_jsonl, write_frame, write_jsonl
from excam.error_reports.records import (
    BaseSample,
    CulturalError,
    Report,
    Sample,
    Verdict,
    flat,
    sample_from_row,
    to_row,
)

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
    "parts": pl.String,  # what else the judge states, as JSON; null: nothing
}


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
    write_jsonl(path, map(flat, bases))


def read_bases(path: Path) -> list[BaseSample]:
    """Read what `write_bases` wrote. Raises ArtifactBroken if a line is incomplete."""
    return [BaseSample(**_with_tuples(row)) for row in read_jsonl(path)]


def _with_tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def write_judgements(
    path: Path, samples: Sequence[Sample], verdicts: Sequence[Verdict], *, end_token: bool = True
) -> None:
    """Write one row per sample: gold, verdict, report, failure, reasoning. No row is left out.

    `end_token`: whether the token that ended the turn counts towards the column `certainty`.
    """
    rows = [
        {
            **{
                name: getattr(sample, name)
                for name in ("id", "pair", "base", "dataset", "origin", "language", "culture")
            },
            "group": sample.group or sample.base,
            "gold_score": sample.score,
            "gold_error": bool(sample.report.errors),
            **{name: getattr(verdict, name) for name in ("errors_found", "score", "certainty_without_end", "failure")},
            "certainty": verdict.certainty if end_token else verdict.certainty_without_end,
            "report": report_json(verdict.report) if verdict.report else None,
            "recovered": ",".join(verdict.recovered),
            "spans_not_found": sum(error.start < 0 for error in verdict.report.errors) if verdict.report else None,
            "thinking": verdict.thinking.encode(errors="replace").decode(),  # a lone surrogate cannot be encoded
            "parts": json.dumps(verdict.parts, ensure_ascii=True) if verdict.parts else None,
        }
        for sample, verdict in zip(samples, verdicts, strict=True)
    ]
    write_frame(path, pl.DataFrame(rows, schema=JUDGEMENT_SCHEMA, orient="row"))


def report_json(report: Report) -> str:
    """Return a report with its offsets, as JSON text."""
    return json.dumps(asdict(report), ensure_ascii=False)


def report_from_json(text: str) -> Report:
    """Return the report in the text that `report_json` returns."""
    raw = json.loads(text)
    return Report(tuple(CulturalError(**error) for error in raw["errors"]), raw["explanation"])

"""Files of verdicts: what each judge said of each translation, in each variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam.acre import equivalent
from excam.acre.asks import Judged
from excam.acre.translations import Translated
from excam.core import tables
from excam.core.exceptions import InputInvalid

EQUIVALENT = "equivalent"  # the name of the judge without a model
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "judge", "variant", "protocol"), pl.String()),
    "valid": pl.Boolean(),
    **dict.fromkeys(("valid_certainty", "fidelity", "clarity", "quality", "acre"), pl.Float64()),
    **dict.fromkeys(("rationale", "failure", "signature"), pl.String()),
}


def by_equivalents(rows: Iterable[Translated]) -> list[Judged]:
    """Return the verdicts of the judge without a model: valid or not, without a quality; `acre` is 1 or 0."""
    found = [(one, equivalent.judge(one.item, one.translation)) for one in rows]
    return [
        Judged(
            one.item.route,
            verdict.valid,
            acre=float(verdict.valid),
            rationale=f"{verdict.reason}: {verdict.evidence}" if verdict.evidence else verdict.reason,
        )
        for one, verdict in found
    ]


def to_frame(
    rows: Iterable[Translated], judge: str, variant: str, given: Iterable[Judged], signature: str
) -> pl.DataFrame:
    """Return verdicts as a table, one row per translation."""
    listed = [
        {"id": one.id, "judge": judge, "variant": variant, "signature": signature} | asdict(judged)
        for one, judged in zip(rows, given, strict=True)
    ]
    return pl.DataFrame(listed, schema=SCHEMA, orient="row")


def equivalent_frame(rows: Sequence[Translated]) -> pl.DataFrame:
    """Return the table of the judge without a model."""
    signature = f"{EQUIVALENT}:{equivalent.VERSION}|validity alone"
    return to_frame(rows, EQUIVALENT, "full", by_equivalents(rows), signature)


def read(path: Path, rows: Sequence[Translated]) -> dict[tuple[str, str], dict[str, Judged]]:
    """Return the verdicts of a file by judge and variant, then by row. Raise InputInvalid unless all rows are there."""
    frame = tables.read_frame(path)
    if frame.columns != list(SCHEMA):
        raise InputInvalid(f"{path}: found columns {', '.join(frame.columns)[:100]}; expected those of verdicts")
    found: dict[tuple[str, str], dict[str, Judged]] = {}
    names = [name for name in SCHEMA if name not in ("id", "judge", "variant", "signature")]
    for row in frame.iter_rows(named=True):
        found.setdefault((row["judge"], row["variant"]), {})[row["id"]] = Judged(**{name: row[name] for name in names})
    for (judge, variant), verdicts in found.items():
        if absent := [one.id for one in rows if one.id not in verdicts]:
            raise InputInvalid(
                f"{path}: {judge}, {variant}: no verdict on {absent[0]} (1 of {len(absent)}); judge the same "
                "translations again"
            )
    return found


def failure_counts(given: Iterable[Judged]) -> str:
    """Return the number of verdicts for each reason of failure, in words."""
    failed = Counter(one.failure for one in given if one.failure)
    return ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items())) or "none"

"""Files of verdicts: what each judge said of each translation, in each variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam.acre import asks, equivalent
from excam.acre.asks import Judged, Task
from excam.acre.translations import Translated
from excam.core.typed_tables import read_typed

EQUIVALENT = "equivalent"  # the name of the judge without a model
KEY = ("id", "judge", "variant")  # once in a file
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "judge", "variant", "protocol"), pl.String()),
    "valid": pl.Boolean(),
    **dict.fromkeys(("valid_certainty", "fidelity", "clarity", "quality", "acre"), pl.Float64()),
    **dict.fromkeys(("rationale", "failure", "signature"), pl.String()),
}


def by_equivalents(rows: Iterable[Translated]) -> list[Judged]:
    """Return the verdicts of the judge without a model: valid or not, without a quality; `acre` is 1 or 0.

    A row with nothing to compare its translation with is a failure.
    """
    return [_by_equivalents(row) for row in rows]


def _by_equivalents(row: Translated) -> Judged:
    if not equivalent.comparable(row.item):
        return Judged(row.item.route, failure=asks.NO_EXPLICATION)
    verdict = equivalent.judge(row.item, row.translation)
    said = f"{verdict.reason}: {verdict.evidence}" if verdict.evidence else verdict.reason
    return Judged(row.item.route, verdict.valid, acre=float(verdict.valid), rationale=said)


def to_frame(judge: str, tasks: Iterable[Task], verdicts: Iterable[Judged]) -> pl.DataFrame:
    """Return verdicts as a table, one row per task."""
    pairs = zip(tasks, verdicts, strict=True)
    return _frame(
        _row(task.case.id, judge, task.variant, asks.signature(task.variant, task.mode, task.combination), judged)
        for task, judged in pairs
    )


def equivalent_frame(rows: Sequence[Translated]) -> pl.DataFrame:
    """Return the table of the judge without a model."""
    signature = f"{EQUIVALENT}:{equivalent.VERSION}|validity alone"
    verdicts = zip(rows, by_equivalents(rows), strict=True)
    return _frame(_row(row.id, EQUIVALENT, "full", signature, judged) for row, judged in verdicts)


def _row(id_: str, judge: str, variant: str, signature: str, judged: Judged) -> dict[str, Any]:
    return {"id": id_, "judge": judge, "variant": variant, "signature": signature} | asdict(judged)


def _frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


WHAT = "verdicts, made by `excam acre judge`"


def read(path: Path) -> dict[tuple[str, str], dict[str, Judged]]:
    """Return the verdicts of a file by judge and variant, then by row.

    Raise InputInvalid for other columns or types, no rows, and two verdicts of one judge and variant on one row.
    """
    frame = read_typed(path, SCHEMA, WHAT, KEY, KEY, may_be_empty=False)
    verdicts: dict[tuple[str, str], dict[str, Judged]] = {}
    names = [name for name in SCHEMA if name not in (*KEY, "signature")]
    for row in frame.iter_rows(named=True):
        verdicts.setdefault((row["judge"], row["variant"]), {})[row["id"]] = Judged(
            **{name: row[name] for name in names}
        )
    return verdicts

"""Files of verdicts: what each judge said of each translation, in each variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from excam.acre import asks, equivalent, translations
from excam.acre.asks import Case, Grades
from excam.acre.translations import Translated
from excam.core.names import shown_names
from excam.core.tables import write_frame
from excam.core.typed_tables import read_typed

if TYPE_CHECKING:
    from excam.scoring.asking import Recorder

EQUIVALENT = "equivalent"  # the name of the judge without a model
KEY = ("id", "judge", "variant")  # once in a file
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "asked", "judge", "variant", "protocol"), pl.String()),
    "valid": pl.Boolean(),
    **dict.fromkeys(("valid_certainty", "fidelity", "clarity", "quality", "acre"), pl.Float64()),
    **dict.fromkeys(("rationale", "failure", "signature"), pl.String()),
}


def by_equivalents(rows: Iterable[Translated]) -> list[Grades]:
    """Return the verdicts of the judge without a model: valid or not, without a quality; `acre` is 1 or 0.

    A row with nothing to compare its translation with is a failure.
    """
    return [_by_equivalents(row) for row in rows]


def _by_equivalents(row: Translated) -> Grades:
    if not equivalent.comparable(row.item):
        return Grades(row.item.route, failure=asks.NO_EXPLICATION)
    verdict = equivalent.judge(row.item, row.translation)
    words = f"{verdict.reason}: {verdict.evidence}" if verdict.evidence else verdict.reason
    return Grades(row.item.route, verdict.valid, acre=float(verdict.valid), rationale=words)


def to_frame(judge: str, rows: Iterable[Translated], tasks: Iterable[Case], verdicts: Iterable[Grades]) -> pl.DataFrame:
    """Return verdicts as a table, one row per task; `asked` is the digest of the translation, one of `rows`."""
    digests = {row.id: row.digest for row in rows}
    return _frame(
        {"id": task.row, "asked": digests[task.row], "judge": judge, "variant": task.variant}
        | {"signature": asks.signature(task.variant, task.mode), **asdict(judged)}
        for task, judged in zip(tasks, verdicts, strict=True)
    )


def write(asker: Recorder, judge: str, rows: Sequence[Translated], tasks: Sequence[Case], to: Path) -> list[Grades]:
    """Ask a model for the verdicts of tasks on translations; write them under the judge's name, and return them."""
    verdicts = asker.record(f"judging translations with {judge}, requests at most", asks.acre, tasks, 3 * len(tasks))
    write_frame(to, to_frame(judge, rows, tasks, verdicts))
    return verdicts


def equivalent_frame(rows: Sequence[Translated]) -> pl.DataFrame:
    """Return the table of the judge without a model."""
    signature = f"{EQUIVALENT}:{equivalent.VERSION}|validity alone"
    about = {"judge": EQUIVALENT, "variant": "full", "signature": signature}
    verdicts = zip(rows, by_equivalents(rows), strict=True)
    return _frame({"id": row.id, "asked": row.digest, **about, **asdict(judged)} for row, judged in verdicts)


def _frame(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


WHAT = "verdicts, made by `excam acre judge`"


def read(path: Path, rows: Mapping[str, Translated]) -> dict[tuple[str, str], dict[str, Grades]]:
    """Return the verdicts of a file on these translations, by judge and variant, then by row.

    Raise InputInvalid for other columns or types, no rows, two verdicts of one judge and variant on one row, and
    verdicts on other translations.
    """
    frame = read_typed(path, SCHEMA, WHAT, (*KEY, "asked", "signature"), KEY, may_be_empty=False)
    translations.expect_same(path, frame.select("id", "asked").iter_rows(), rows)
    judges = shown_names((name for name in frame["judge"].unique(maintain_order=True) if name != EQUIVALENT), str(path))
    verdicts: dict[tuple[str, str], dict[str, Grades]] = {}
    names = [field.name for field in fields(Grades)]
    for row in frame.iter_rows(named=True):
        judged = Grades(**{name: row[name] for name in names})
        verdicts.setdefault((judges.get(row["judge"], EQUIVALENT), row["variant"]), {})[row["id"]] = judged
    return verdicts

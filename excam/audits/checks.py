"""The words of the audits: a check that is passed or not, and an audit that is made of checks and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from excam.records import SPLITS

PARTS = SPLITS  # they divide a dataset; test-100 is a part of test
CHECK_SCHEMA = {**dict.fromkeys(("check", "dataset", "found", "expected"), pl.String), "passed": pl.Boolean}


@dataclass(frozen=True, slots=True)
class Check:
    """One statement about one dataset ("all": about all of them together)."""

    check: str
    dataset: str
    found: str
    expected: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found: its checks, and tables by their titles that are shown below them."""

    name: str
    checks: tuple[Check, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def none(check: str, dataset: str, found: Sequence[str] | int, where: str = "") -> Check:
    """A check that nothing of a kind is there: a count, or names, of which the first three are shown."""
    count = found if isinstance(found, int) else len(found)
    shown = f": {', '.join(found[:3])}" if count and not isinstance(found, int) else ""
    return Check(check, dataset, f"{count}{f' {where}' if where else ''}{shown}", "0", count == 0)


def frame(checks: Iterable[Check]) -> pl.DataFrame:
    """Checks as a table, one a row."""
    rows = [(c.check, c.dataset, c.found, c.expected, c.passed) for c in checks]
    return pl.DataFrame(rows, schema=CHECK_SCHEMA, orient="row")


def of_frame(table: pl.DataFrame) -> list[Check]:
    """The inverse of `frame`."""
    return [Check(**row) for row in table.select(list(CHECK_SCHEMA)).iter_rows(named=True)]

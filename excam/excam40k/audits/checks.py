"""The types of an audit: a check with its outcome, and an audit that consists of checks and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import polars as pl

from excam.core.splits import SPLITS

EVERYWHERE = "all"  # the dataset of a check of all of them together

# "reported": found, and not held against the rows. "not decidable": too few rows to tell.
Outcome = Literal["passed", "failed", "reported", "not decidable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
CHECK_SCHEMA: dict[str, Any] = dict.fromkeys(("check", "dataset", "found", "expected", "outcome"), pl.String)


@dataclass(frozen=True, slots=True)
class Check:
    """One statement about one dataset, about a mixture (its name), or about all datasets together (`EVERYWHERE`)."""

    check: str
    dataset: str
    found: str
    expected: str
    outcome: Outcome

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit: its checks, and tables by title, which are printed below them."""

    name: str
    checks: tuple[Check, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def pass_or_fail(check: str, dataset: str, observed: str, expected: str, passed: bool) -> Check:
    """Return a check that is decided either way."""
    return Check(check, dataset, observed, expected, "passed" if passed else "failed")


def absence_check(check: str, dataset: str, names_or_count: Sequence[str] | int, where: str = "") -> Check:
    """Return a check that nothing of a kind exists, from a count or from names; the first three names are shown."""
    count = names_or_count if isinstance(names_or_count, int) else len(names_or_count)
    examples = f": {', '.join(names_or_count[:3])}" if count and not isinstance(names_or_count, int) else ""
    return pass_or_fail(check, dataset, f"{count}{f' {where}' if where else ''}{examples}", "0", count == 0)


def in_splits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the splits, which divide a dataset; test-100 is a part of test."""
    return rows.filter(pl.col("part").is_in(SPLITS))


def by_dataset(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each dataset with its rows, in the order of the rows."""
    for (name,), group in rows.group_by("dataset", maintain_order=True):
        yield str(name), group


def frame(checks: Iterable[Check]) -> pl.DataFrame:
    """Return checks as a table, one per row."""
    rows = [(c.check, c.dataset, c.found, c.expected, c.outcome) for c in checks]
    return pl.DataFrame(rows, schema=CHECK_SCHEMA, orient="row")


def of_frame(table: pl.DataFrame) -> list[Check]:
    """Return the checks of a table that `frame` made."""
    return [Check(**row) for row in table.select(list(CHECK_SCHEMA)).iter_rows(named=True)]

"""What readers change in a row: by a named rule, recorded in the row. `as-published` applies none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import polars as pl

Rows = Literal["by-rule", "as-published"]

CHANGES = "_changes"  # hidden column of a frame: the changes of a row, in their order
KIND = pl.List(pl.Struct(dict.fromkeys(("rule", "column", "published", "ours"), pl.String)))
_ROWS: ContextVar[Rows] = ContextVar("rows", default="by-rule")


@contextmanager
def applied(rows: Rows) -> Iterator[None]:
    """Apply rules, or none, to the rows that are read meanwhile."""
    token = _ROWS.set(rows)
    try:
        yield
    finally:
        _ROWS.reset(token)


def are_as_published() -> bool:
    """Return whether no rule is applied."""
    return _ROWS.get() == "as-published"


def change(frame: pl.DataFrame, rule: str, **columns: pl.Expr | pl.Series) -> pl.DataFrame:
    """Return the frame with these columns as a rule makes them, each other text or list of texts recorded.

    Where rows stay as published the frame is returned as it is.
    """
    if are_as_published():
        return frame
    ours = frame.select(**columns)
    differing = [name for name in columns if not ours[name].equals(frame[name], null_equal=True)]
    if not differing:
        return frame
    changes: list[Any] = frame[CHANGES].to_list() if CHANGES in frame.columns else [None] * frame.height
    for name in differing:
        for row, cells in enumerate(zip(frame[name].to_list(), ours[name].to_list(), strict=True)):
            if cells[0] != cells[1]:
                texts = (cell if isinstance(cell, str) else " | ".join(cell or ()) for cell in cells)
                entry = {"rule": rule, "column": name, **dict(zip(("published", "ours"), texts, strict=True))}
                changes[row] = [*(changes[row] or ()), entry]
    return frame.with_columns(*(ours[name] for name in differing), pl.Series(CHANGES, changes, KIND))


def by_rule(rows: Iterable[Iterable[Mapping[str, str]]]) -> dict[str, tuple[int, Mapping[str, str]]]:
    """Return, of the changes of each row, rule -> rows with it and the shortest example; most rows first."""
    of_rule: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
    for changes in rows:
        for rule, change in {change["rule"]: change for change in reversed([*changes])}.items():
            of_rule[rule].append(change)
    ordered = sorted(of_rule.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return {
        rule: (len(each), min(each, key=lambda change: (len(change["published"]), *change.values())))
        for rule, each in ordered
    }

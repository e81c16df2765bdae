"""Cells of tables: how numbers are written, and the note below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FEW = 30  # scenarios: with fewer, a mark says so
NOTE = (
    "An unanswered instance is wrong. Intervals are 95 % bootstraps over scenarios, whose instances share content. "
    f"* marks fewer than {FEW} scenarios: too few for a statement about a model.\n"
)


def rounded(value: float | None, digits: int = 1) -> str:
    """Return a number for a table, "n/a" for None; a minus is a minus sign."""
    if value is None:
        return "n/a"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def with_interval(estimate: Mapping[str, Any]) -> str:
    """Return a number with its interval, if it has one."""
    interval = "" if estimate["low"] is None else f" [{rounded(estimate['low'])}, {rounded(estimate['high'])}]"
    return rounded(estimate["value"]) + interval

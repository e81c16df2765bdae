"""Cells of tables: how numbers are written, and the note below them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from excam.pages import markdown

FEW = 30  # scenarios: with fewer, a mark says so
NOTE = (
    "An unanswered instance is wrong. Intervals are 95 %, over scenarios, whose instances share content. "
    f"* marks fewer than {FEW} scenarios: too few for a statement about a model.\n"
)
rounded = partial(markdown.rounded, digits=1)


def with_interval(estimate: Mapping[str, Any]) -> str:
    """Return a number with its interval, if it has one."""
    return markdown.with_interval(estimate["value"], estimate["low"], estimate["high"], digits=1)

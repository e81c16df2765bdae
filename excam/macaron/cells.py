"""Cells of tables: how numbers are written, and the note below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def with_limits(page: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a page of results with what its instances do and cannot show, as the paper's authors ask, on top."""
    countries, languages, scripts = (len({row[name] for row in rows}) for name in ("country", "language", "script"))
    title, _, rest = page.partition("\n\n")
    return (
        f"{title}\n\n**Limits.** {countries} contexts, {languages} languages, {scripts} scripts: nothing here measures "
        "diversity within a country, or dialects. Multiple choice and single statements are no open dialogue. "
        f"For diagnosis: no ranking of languages or cultures.\n\n{rest}"
    )

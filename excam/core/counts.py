"""Counts as words, for the lines that commands and steps print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol


class _Countable(Protocol):
    """What came of one item: `failure` is empty or None where it succeeded."""

    @property
    def failure(self) -> str | None: ...


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts by name, as in "empty 2, refused 1"; "none" without any."""
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def failures(outcomes: Iterable[_Countable]) -> str:
    """Return the number of outcomes for each reason of failure, in words."""
    return in_words(Counter(outcome.failure for outcome in outcomes if outcome.failure))

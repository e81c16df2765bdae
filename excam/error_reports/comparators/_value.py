"""A typed value of a text, and indexes that look up equal values, and ranges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

NUMBER = "number"  # without a unit


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value at characters [start, end).

    `values` are its readings (7 o'clock is in the morning or in the evening); two values of a kind are equal if they
    share one. `plain` are the numbers without their unit.
    """

    kind: str
    values: frozenset[float | str]
    start: int
    end: int
    shown: str
    plain: frozenset[float] = frozenset()


class ValueIndex:
    """Some values, to look up equal ones: a number without unit equals that number with any unit."""

    def __init__(self, values: Iterable[Value]) -> None:
        values = tuple(values)
        self.readings = {(value.kind, reading) for value in values for reading in value.values}
        self.plain = {number for value in values for number in value.plain}
        self.bare = {number for value in values if value.kind == NUMBER for number in value.plain}

    def holds(self, value: Value) -> bool:
        """Return whether an equal value is among them."""
        if any((value.kind, reading) in self.readings for reading in value.values):
            return True
        return not value.plain.isdisjoint(self.plain if value.kind == NUMBER else self.bare)


class Covered:
    """Ranges that do not overlap, to look up whether another range touches one of them."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self.ranges = sorted(ranges)
        self.starts = [start for start, _ in self.ranges]

    def touches(self, start: int, end: int) -> bool:
        """Return whether [start, end) has a character in common with one of them."""
        at = bisect_left(self.starts, end)
        return at > 0 and self.ranges[at - 1][1] > start

"""Answers that are a number, a time of the day, a date or a month: what they say, and whether two are far apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_SAME_UNIT = 4  # two numbers with more are of two units: a commute of "2" and of "30"
_LEAST_NUMBERS = 3  # of other regions, below which nothing is said about the unit
_RATIO = 1.5  # two numbers with more are far apart; 14 and 12 as an age are not, nor are 2 and 3 years of study


@dataclass(frozen=True, slots=True)
class Quantity:
    """How answers of one kind are read, and when two of them are far apart."""

    asked: re.Pattern[str]  # in a question
    written: re.Pattern[str]  # the complete answer
    value: Callable[[re.Match[str]], float]
    apart: Callable[[float, float], bool]
    has_unit: bool = False

    def read(self, answer: str) -> float | None:
        """Return the value of an answer, None if it is of another kind."""
        match = self.written.fullmatch(answer.strip())
        return self.value(match) if match else None

    def readings(self, answer: str) -> list[float]:
        """Return the values that an answer may have: "01/06" is written for the first of June too."""
        texts = (answer, "/".join(reversed(answer.split("/"))))
        return [value for text in texts if (value := self.read(text)) is not None]

    def in_unit(self, value: float, others: Sequence[float]) -> bool:
        """Return whether a value is of the unit in which most others, the answers of regions, were given."""
        others = [other for place, other in enumerate(others) if _alike(other, [*others[:place], *others[place + 1 :]])]
        return not self.has_unit or len(others) < _LEAST_NUMBERS or _alike(value, others)


def _around(size: float, least: float) -> Callable[[float, float], bool]:
    """Return whether two points of a circle (months of a year) are at least so far apart."""
    return lambda point, other: min((point - other) % size, (other - point) % size) >= least


def _alike(value: float, others: Iterable[float]) -> bool:
    return any(max(value, other) <= _SAME_UNIT * min(value, other) for other in others)


def _far(number: float, other: float) -> bool:
    small, large = sorted((number, other))
    return small > 0 and large > _RATIO * small  # "none" is no wrong answer to "how many"


_DAYS = 365 / 12
DATE = Quantity(
    re.compile(r"MM/DD"),
    re.compile(r"(1[0-2]|0?[1-9])/([0-3]?\d)"),
    lambda match: _DAYS * (int(match[1]) - 1) + int(match[2]),
    _around(365, 30),
)
MONTH = Quantity(
    re.compile(r"1~12"),
    re.compile(r"(1[0-2]|0?[1-9])"),
    lambda match: int(match[1]),
    _around(12, 3),
)
QUANTITIES = (
    # "6:00" may be six in the evening, and twelve by the clock of Ethiopia: six hours apart is no difference
    Quantity(
        re.compile(r"HH:MM"),
        re.compile(r"([0-2]?\d):([0-5]\d)"),
        lambda match: 60 * int(match[1]) + int(match[2]),
        _around(360, 120),
    ),
    DATE,
    MONTH,
    Quantity(
        re.compile(r"Arabic numerals"),
        re.compile(r"(\d{1,6}(?:\.\d{1,3})?)"),
        lambda match: float(match[1]),
        _far,
        has_unit=True,
    ),
)


def quantity_of(question: str) -> Quantity | None:
    """Return the kind of quantity that a question asks for ("Provide in HH:MM format"), None if it asks for none."""
    return next((kind for kind in QUANTITIES if kind.asked.search(question)), None)

"""Dates and clock times of a text: those in digits, and a month and the number beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from excam.error_reports.comparators._value import Value
from excam.error_reports.comparators._words import fold

TIME = regex.compile(
    r"(?<![\p{Nd}.:])(\p{Nd}{1,2})[:.](\p{Nd}{2})(?:[:.]\p{Nd}{2})?(?![\p{Nd}:%]|[.]\p{Nd})(?:\s*([ap])\.?m\b)?(\s*uhr)?",
    regex.I,
)
HOUR_AND_MINUTE = regex.compile(
    r"(?<![\p{Nd}.:])(\p{Nd}{1,2})\s*(?:h|[点點时時시])\s*(\p{Nd}{2})\s?(?:[分분]|min\b)?(?!\p{Nd})", regex.I
)
HOUR = regex.compile(r"(?<![\p{Nd}.:])(\p{Nd}{1,2})\s*(?:([ap])\.?\s?m\b\.?|o['’]?\s?clock\b)", regex.I)
ISO = regex.compile(r"(?<!\p{Nd})(\p{Nd}{4})[-/.](\p{Nd}{1,2})[-/.](\p{Nd}{1,2})(?!\p{Nd})")
DAY_FIRST = regex.compile(
    r"(?<![\p{Nd}.])(\p{Nd}{1,2})([-/.])(\p{Nd}{1,2})\2(\p{Nd}{4}|\p{Nd}{2})(?!\p{Nd})|(?<![\p{Nd}.])(\p{Nd}{1,2})/(\p{Nd}{1,2})(?![\p{Nd}/])"
)
DAY = 24 * 60  # minutes


def dates(text: str) -> Iterator[Value]:
    for match in ISO.finditer(text):
        year, month, day = (int(fold(part)) for part in match.groups())
        if 1 <= month <= 12 and 1 <= day <= 31:
            yield Value("date", frozenset((f"{year}-{month}-{day}",)), *match.span(), match.group())
    for match in DAY_FIRST.finditer(text):
        if match.group() == "24/7":  # always
            continue
        day, _, month, year, short_day, short_month = match.groups()
        first, second = (int(fold(part)) for part in ((day, month) if day else (short_day, short_month)))
        readings = (
            [(second, first), (first, second)]
            if first <= 12 and second <= 12
            else [(min(first, second), max(first, second))]
        )
        if all(1 <= month <= 12 and 1 <= day <= 31 for month, day in readings):
            years = [f"{start}{fold(year)}-" for start in ("19", "20") * (len(year) == 2) or ("",)] if year else [""]
            stated = frozenset(f"{year}{month}-{day}" for year in years for month, day in readings)
            yield Value("date", stated, *match.span(), match.group())


def clock(hour: int, minute: int = 0, half: str = "") -> frozenset[float | str]:
    """Return the minutes of the day that a clock time may mean; `half` is "a" or "p", or "" if not stated."""
    if half:
        hours: tuple[int, ...] = (hour % 12 + (12 if half == "p" else 0),)
    else:
        hours = (hour, hour + 12) if 1 <= hour <= 12 else (hour,)
    return frozenset((at % 24 * 60.0 + minute) % DAY for at in hours)


def times(text: str) -> Iterator[Value]:
    for match in TIME.finditer(text):
        hour, minute = int(fold(match[1])), int(fold(match[2]))
        colon = ":" in match.group() or match[3] or match[4]  # "7.30" alone is a number
        if hour <= 24 and minute < 60 and colon:
            yield Value("clock", clock(hour, minute, (match[3] or "").lower()), *match.span(), match.group())
    for match in HOUR_AND_MINUTE.finditer(text):
        hour, minute = int(fold(match[1])), int(fold(match[2]))
        if hour <= 24 and minute < 60:
            yield Value("clock", clock(hour, minute), *match.span(), match.group())
    for match in HOUR.finditer(text):
        if (hour := int(fold(match[1]))) <= 24:
            readings = clock(hour, half=(match[2] or "").lower())
            yield Value("clock", readings, *match.span(), match.group(), frozenset((float(hour),)))


def dated(values: Sequence[Value], text: str) -> Iterator[Value]:
    """Join a month and the number beside it to a date, with a year behind both ("3 May", "May 3rd, 1990", "5月3日")."""
    at = 0
    while at < len(values):
        date = _date(*values[at : at + 2], text) if at + 1 < len(values) else None
        year = values[at + 2] if date and at + 2 < len(values) else None
        if date and year and year.kind == "year" and not _gap(date, year, text).removeprefix("in"):
            readings = frozenset(f"{int(number)}-{reading}" for number in year.values for reading in date.values)
            yield Value("date", readings, date.start, year.end, text[date.start : year.end])
        else:
            yield date or values[at]
            year = None
        at += 1 + bool(date) + bool(year)


def _gap(left: Value, right: Value, text: str) -> str:
    return fold(text[left.end : right.start]).strip(" .,")


def _date(left: Value, right: Value, text: str) -> Value | None:
    month, day = (left, right) if left.kind == "month" else (right, left)
    if month.kind != "month" or _gap(left, right, text) not in ("", "of", "de", "di", "the", "day of", "के", "की"):
        return None
    days = [number for number in day.plain if number == int(number) and 1 <= number <= 31]
    if day.kind not in ("number", "day") or not days:
        return None
    readings = frozenset(f"{month_number}-{int(number)}" for month_number in month.values for number in days)
    return Value("date", readings, left.start, right.end, text[left.start : right.end])

"""Which words of a text nothing supports: neither the expected statement nor the question nor a passage."""

from __future__ import annotations

from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison, Need, Range
from excam.inference import Flow

VERSION = 1
NEEDS: tuple[Need, ...] = ("expected",)
THRESHOLD = 0.5


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything: margin is `THRESHOLD` minus the share of the text's words without support."""
    ranges = unsupported(case)
    total = sum(word.end - word.start for word in words(case.text))
    if not total or not case.expected.strip():
        return Comparison(None, reason="no expected statement" if total else "empty text")
    margin = THRESHOLD - sum(end - start for start, end in ranges) / total
    return Comparison(margin, ranges if margin < 0 else ())
    yield


def unsupported(case: Case) -> tuple[Range, ...]:
    """Return the character ranges of `case.text` that nothing supports, in order, neighbouring words joined."""
    known = {word.key for text in (case.expected, case.question, *case.passages) for word in words(text)}
    ranges: list[Range] = []
    joins = False
    for word in words(case.text):
        if word.key in known:
            joins = False
            continue
        if joins:
            ranges[-1] = ranges[-1][0], word.end
        else:
            ranges.append((word.start, word.end))
        joins = True
    return tuple(ranges)

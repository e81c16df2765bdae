"""Containment: the share of the expected statement's content words that the text holds. No model is asked."""

from __future__ import annotations

from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.differences import unsupported
from excam.inference import Flow

VERSION = 1
NEEDS: tuple[Need, ...] = ("expected",)
THRESHOLD = 0.5  # share of content words


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything: margin is the share minus `THRESHOLD`."""
    return contained(case)
    yield


def contained(case: Case) -> Comparison:
    """Return the comparison of a case."""
    expected = {word.key for word in words(case.expected)}
    if not expected or not case.text.strip():
        return Comparison(None, reason="no expected statement" if not expected else "empty text")
    held = expected & {word.key for word in words(case.text)}
    margin = len(held) / len(expected) - THRESHOLD
    return Comparison(margin, unsupported(case) if margin < 0 else (), f"{len(held)} of {len(expected)} words")

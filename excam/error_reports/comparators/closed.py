"""Closed values, which a program compares; whatever else is said is not known (`excam.error_reports.closed_values`)."""

from __future__ import annotations

from excam.error_reports.closed_values import compared
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.inference import Flow

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected",)
MARGIN = 3.0  # log-odds of a verdict: a probability of .95


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything; not decidable where anything but closed values is said."""
    return by_values(case)
    yield


def by_values(case: Case) -> Comparison:
    """Return the comparison of a case."""
    outcome = compared(case.expected, case.text, case.question, case.language)
    margin = {"agrees": MARGIN, "differs": -MARGIN}[outcome.verdict] if outcome.verdict else None
    return Comparison(margin, outcome.ranges, outcome.reason)

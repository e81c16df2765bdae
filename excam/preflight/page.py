"""The page of a preflight: first the problems, then all checks, then the work to come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from excam.pages.markdown import escape, table
from excam.preflight.checks import Check
from excam.preflight.work import Bill, Task

ORDER = ("wrong", "unknown", "fine")


def verdict(checks: Sequence[Check]) -> str:
    """Return the counts in a few words."""
    counts = Counter(check.verdict for check in checks)
    return ", ".join(f"{counts[kind]} {kind}" for kind in ORDER)


def check_line(check: Check) -> str:
    """Return a check as one line for a terminal."""
    expected = f"; expected {check.expected}" if check.expected else ""  # a problem says itself what was
    return f"{check.verdict}: {check.of}: {check.check}: {check.found}{expected}"


def page_text(checks: Sequence[Check], tasks: Sequence[Task], bills: Sequence[Bill], looked: str) -> str:
    """Return the page as Markdown; `looked` is the time of the checks."""
    ordered = sorted(checks, key=lambda check: ORDER.index(check.verdict))
    rows = [[escape(part) for part in (c.check, c.of, c.found, c.expected)] + [c.verdict] for c in ordered]
    return (
        f"# Before a long run\n\n{verdict(checks)}. Looked at {looked}; nothing was fetched from a hub, no server was "
        "asked. *Unknown* is what cannot be checked from here, with the reason.\n\n"
        + table(("check", "of", "found", "expected", "verdict"), rows)
        + _work_section(tasks)
        + _bills_section(bills)
    )


def _work_section(tasks: Sequence[Task]) -> str:
    rows = [
        [task.what, escape(task.of), task.amount, _number(task.hours), task.cards, escape(task.rests_on)]
        for task in tasks
    ]
    known = sum(task.hours * task.cards for task in tasks if task.hours is not None)
    left = sum(task.hours is None for task in tasks)
    total = f"{known:.1f} GPU hours" + (f", and {left} lines without a trial" if left else "")
    return (
        "\n## The work to come\n\nOf the complete experiment, including what exists already. "
        "Hours are counts times what the trials took, on the cards beside "
        "them. Take them as a size, not as a forecast: a trial asks an untrained model few short questions, while real "
        "rows are longer and a full engine is faster.\n\n"
        + table(("work", "of", "how much", "hours", "cards", "rests on"), rows)
        + f"\nTogether: {total}. A price for a GPU hour is not known here.\n"
    )


def _bills_section(bills: Sequence[Bill]) -> str:
    if not bills:
        return ""
    rows = [
        [bill.what, escape(bill.model), f"{bill.rows:,}", _number(bill.cost), escape(bill.rests_on)] for bill in bills
    ]
    known = sum(bill.cost for bill in bills if bill.cost is not None)
    left = sum(bill.cost is None for bill in bills)
    total = f"{known:,.2f}" + (f", and {left} lines without a price" if left else "")
    return (
        "\n## Models behind servers\n\nAt most, in the currency of `price`.\n\n"
        + table(("work", "model", "requests", "cost", "rests on"), rows)
        + f"\nTogether: {total}.\n"
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.2f}"

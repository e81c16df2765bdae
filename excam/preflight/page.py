"""The page of a preflight: what is wrong first, then everything that was looked at, then the work to come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from excam.markdown import escaped, table
from excam.preflight.checks import Check
from excam.preflight.work import Bill, Task

ORDER = ("wrong", "unknown", "fine")


def verdict(checks: Sequence[Check]) -> str:
    """Return the counts in a few words."""
    counts = Counter(check.verdict for check in checks)
    return ", ".join(f"{counts[one]} {one}" for one in ORDER)


def line(check: Check) -> str:
    """Return a check as one line for a terminal."""
    return f"{check.verdict}: {check.of}: {check.check}: {check.found}; expected {check.expected}"


def written(checks: Sequence[Check], tasks: Sequence[Task], bills: Sequence[Bill], looked: str) -> str:
    """Return the page as Markdown. `looked`: when."""
    ordered = sorted(checks, key=lambda check: ORDER.index(check.verdict))
    rows = [[escaped(part) for part in (c.check, c.of, c.found, c.expected)] + [c.verdict] for c in ordered]
    return (
        f"# Before a long run\n\n{verdict(checks)}. Looked at {looked}; nothing was fetched from a hub, no server was "
        "asked. *Unknown* is what cannot be told from here, with the reason.\n\n"
        + table(("check", "of", "found", "expected", "verdict"), rows)
        + _work(tasks)
        + _bills(bills)
    )


def _work(tasks: Sequence[Task]) -> str:
    rows = [
        [task.what, escaped(task.of), task.amount, _number(task.gpu_hours), escaped(task.rests_on)] for task in tasks
    ]
    known = sum(task.gpu_hours for task in tasks if task.gpu_hours is not None)
    left = sum(task.gpu_hours is None for task in tasks)
    total = f"Together {known:.1f} GPU hours" + (f", and {left} lines of which no trial tells" if left else "")
    return (
        "\n## The work to come\n\nOf the whole experiment, whatever of it is there already; counterfactuals are not "
        "counted. Hours are the counts times what the trials took. A trial asks an untrained model few short "
        "questions: real rows are longer, and an engine that is full is faster.\n\n"
        + table(("work", "of", "how much", "GPU hours", "rests on"), rows)
        + f"\n{total}.\n"
    )


def _bills(bills: Sequence[Bill]) -> str:
    if not bills:
        return ""
    rows = [[escaped(bill.model), f"{bill.rows:,}", _number(bill.cost), escaped(bill.rests_on)] for bill in bills]
    return "\n## Models behind servers\n\nAt most, in the currency of `price`.\n\n" + table(
        ("model", "requests", "cost", "rests on"), rows
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.2f}"

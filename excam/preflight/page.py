"""The page of a preflight: what is wrong, what is not known, what is fine, then the work to come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from excam.pages.markdown import escape, table
from excam.preflight.checks import Finding
from excam.preflight.work import PlannedWork

ORDER = ("wrong", "unknown", "fine")
WORK = """## The work

Of the whole experiment, what exists already included. Hours rest on jobs that ended here with the same settings. Costs
are those of answers of `max_tokens` tokens, without prompts, in the currency of `price`.
"""


def verdict(checks: Sequence[Finding]) -> str:
    """Return the counts in a few words."""
    counts = Counter(check.verdict for check in checks)
    return ", ".join(f"{counts[kind]} {kind}" for kind in ORDER)


def check_line(check: Finding) -> str:
    """Return a check as one line for a terminal."""
    return f"{check.verdict}: {check.check}, {check.of}: {check.found}; expected {check.expected}"


def page_text(checks: Sequence[Finding], tasks: Sequence[PlannedWork]) -> str:
    """Return the page as Markdown."""
    ordered = sorted(checks, key=lambda check: ORDER.index(check.verdict))
    rows = [[check.verdict, *map(escape, (check.check, check.of, check.found, check.expected))] for check in ordered]
    work = [
        [task.what, escape(task.of), task.amount, task.cards, _number(task.hours, "unknown"), _number(task.cost, "")]
        for task in tasks
    ]
    card_hours = [task.hours * task.cards for task in tasks if task.cards and task.hours is not None]
    left = sum(task.hours is None for task in tasks if task.cards)
    hours = f"{sum(card_hours):,.1f}" if card_hours else "unknown" if left else "0"
    unmeasured = f", and {left} lines of which none is known" if card_hours and left else ""
    return (
        f"# Before a long run\n\n{verdict(checks)}. *Unknown*: not to be seen from here. Nothing is fetched.\n\n"
        f"{table(('verdict', 'check', 'of', 'found', 'expected'), rows)}\n{WORK}\n"
        f"{table(('work', 'model', 'how much', 'cards', 'hours', 'cost'), work)}\nGPU hours: {hours}{unmeasured}.\n"
    )


def _number(value: float | None, absent: str) -> str:
    return absent if value is None else f"{value:,.2f}"

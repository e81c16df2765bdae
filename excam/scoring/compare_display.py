"""A comparison of two systems in a terminal: tables with their denominators, and the rows that differ most."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from excam.core.escapes import visible_line
from excam.scoring import display
from excam.scoring.compare import DRAWS, FEWEST, Comparison, Denominators, Group, Measure

MAX_GROUPS = 20  # shown in a table


def show(found: Comparison, a: str, b: str) -> None:
    """Print a comparison on stdout; `a` and `b` are the names of the two files."""
    out = display.console()
    out.print(Text("\n".join(map(visible_line, (f"A: {a}", f"B: {b}", found.signature)))), soft_wrap=True)
    out.print(f"\n{_denominators(found.counts)}\n", soft_wrap=True)
    _whole(out, found)
    for by in dict.fromkeys(group.by for group in found.groups):
        _groups(out, by, [group for group in found.groups if group.by == by])
    if found.widest:
        out.print(Text(f"Rows that differ most: {len(found.widest)}", style="bold"))
        display.print_legend(out, found.widest[0][0])
    for one, other in found.widest:
        display.block(out, one, "A · ")
        marked = {error.where for error in other.report.errors} if other.report else set()
        display.block(out, other, "B · ", hidden={"instruction"} - marked)  # it is the same in A


def _denominators(counts: Denominators) -> str:
    not_judged = counts.not_judged_a + counts.not_judged_b + counts.not_judged_both
    return (
        f"{counts.rows_a} rows in A, {counts.rows_b} in B: {counts.compared} compared. Left out: {counts.only_a} in A "
        f"only, {counts.only_b} in B only, {not_judged} not judged (A {counts.not_judged_a}, B {counts.not_judged_b}, "
        f"both {counts.not_judged_both})."
    )


def _whole(out: Console, found: Comparison) -> None:
    head = ("measure", "n", "A", "B", "A - B, 95 % interval", "A better : B better : ties", "p")
    display.table(out, [head, *((one.name, str(one.n), *_values(one), _p(one.p_value)) for one in found.measures)])
    first, *others = found.measures
    units = "each row its own" if first.clusters == first.n else f"{first.clusters} groups of rows that share content"
    share = "with errors: share of rows, less is better. " if others else ""
    tests = " Two measures are two tests: take p below 0.025 for 5 %." if others else ""
    out.print(
        f"score: {found.mean}. {share}p: paired permutation test, two-sided, {DRAWS:,} random swaps, {units}.{tests}\n"
    )


def _groups(out: Console, by: str, groups: Sequence[Group]) -> None:
    """Print the largest groups, and the number of the others."""
    ordered = sorted(groups, key=lambda group: (-_rows(group), group.name))
    lines: list[Sequence[str]] = [
        (by, "n", "not judged", "score A", "B", "A - B, 95 % interval", "A better : B better : ties")
    ]
    for group in ordered[:MAX_GROUPS]:
        values = _values(group.measures[0]) if group.measures else ()
        lines.append((group.name or "not given", str(_rows(group)), str(group.not_judged), *values))
    display.table(out, lines)
    rest = ordered[MAX_GROUPS:]
    more = f"{len(rest)} more with {sum(map(_rows, rest))} rows together: --jsonl has them. " if rest else ""
    out.print(f"{more}Not tested: with so many groups some differ by chance. Intervals from {FEWEST} clusters on.\n")


def _rows(group: Group) -> int:
    return group.measures[0].n if group.measures else 0


def _values(one: Measure) -> tuple[str, ...]:
    interval = "" if one.low is None or one.high is None else f" [{one.low:+.2f}, {one.high:+.2f}]"
    wins = f"{one.a_better} : {one.b_better} : {one.ties}"
    return f"{one.a:.2f}", f"{one.b:.2f}", f"{one.difference:+.2f}{interval}", wins


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"

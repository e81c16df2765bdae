"""Comparisons of systems in a terminal: tables with their denominators, and the rows that differ most."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from excam.core.escapes import visible_line
from excam.scoring import display
from excam.scoring.compare import DRAWS, Compared, Comparison, Denominators, Standing, what_decides
from excam.scoring.joining import repeated_note
from excam.stats.permutation import floor_note


def show(out: Console, compared: Compared) -> None:
    """Print the comparison of two systems, or the standings of several and all their pairs."""
    comparisons = compared.comparisons
    if len(comparisons) == 1:
        _show_two(out, comparisons[0])
        return
    _text(out, visible_line(comparisons[0].signature))
    _standings(out, compared.standings, comparisons[0].measures[-1].name)
    _measures(out, comparisons)
    for comparison in comparisons:
        if comparison.joined:
            _text(out, f"{visible_line(f'{comparison.a} and {comparison.b}')}: {comparison.joined}.")
    _text(out, "The rows that differ most are shown for two files at a time; --json has those of all.")


def _text(out: Console, line: str) -> None:
    out.print(Text(line), soft_wrap=True)


def _show_two(out: Console, comparison: Comparison) -> None:
    for line in (f"A: {comparison.a}", f"B: {comparison.b}", comparison.signature):
        _text(out, visible_line(line))
    _text(out, f"\n{denominators(comparison.counts)}" + (f" {comparison.joined}." if comparison.joined else "") + "\n")
    _measures(out, [comparison])
    if comparison.differing:
        out.print(Text(f"Rows that differ most: {len(comparison.differing)}", style="bold"))
        display.print_legend(out, comparison.differing[0][0])
    for result, other in comparison.differing:
        display.block(out, result, "A · ")
        marked = {error.where for error in other.errors}
        same = {name for name, text in other.texts.items() if result.texts.get(name) == text}
        display.block(out, other, "B · ", hidden=same - marked)  # they stand in A


def denominators(counts: Denominators) -> str:
    """Return how many rows are compared, and how many are left out and why, as a sentence each."""
    not_judged = counts.not_judged_a + counts.not_judged_b + counts.not_judged_both
    return (
        f"{counts.rows_a} rows in A, {counts.rows_b} in B: {counts.compared} compared. Left out: {counts.only_a} in A "
        f"only, {counts.only_b} in B only, {not_judged} not judged (A {counts.not_judged_a}, B {counts.not_judged_b}, "
        f"both {counts.not_judged_both}).{repeated_note(counts.repeated)}"
    )


def _measures(out: Console, comparisons: Sequence[Comparison]) -> None:
    """Print the measures of each comparison: of two systems with their means, of several with their names."""
    two = len(comparisons) == 1
    head = ("A - B, 95 % interval", "A better : B better : ties", "p", "p (Holm)")
    lines: list[Sequence[str]] = [("measure", "n", "A", "B", *head) if two else ("A", "B", "measure", "n", *head)]
    for comparison in comparisons:
        for each in comparison.measures:
            before = () if two else (comparison.a, comparison.b)
            means = (f"{each.a:.2f}", f"{each.b:.2f}") if two else ()
            difference = f"{each.difference:+.2f}{display.interval(each.low, each.high, '+.2f')}"
            wins = f"{each.a_better} : {each.b_better} : {each.ties}"
            tested = ("" if p is None else f"{p:.4f}" for p in (each.p_value, each.p_holm))
            lines.append((*before, each.name, str(each.n), *means, difference, wins, *tested))
    display.table(out, lines)
    _notes(out, comparisons)


def _notes(out: Console, comparisons: Sequence[Comparison]) -> None:
    *others, last = comparisons[0].measures
    units = "rows that share content together"
    if len(comparisons) == 1:
        units = f"{last.clusters} groups of rows that share content"
    if all(comparison.measures[0].clusters == comparison.measures[0].n for comparison in comparisons):
        units = "each row its own"
    _text(out, "with errors: share of rows, less is better." if others else "")
    _text(out, f"{visible_line(what_decides(comparisons[0].metric))}.")
    _text(out, f"p: paired permutation test, two-sided, {DRAWS:,} random swaps, {units}.")
    _text(out, "p (Holm): p adjusted for the number of tests here.\n")
    tested = [each.p_value for comparison in comparisons for each in comparison.measures]
    if note := floor_note(tested, DRAWS):
        _text(out, f"{note}\n")


def _standings(out: Console, standings: Sequence[Standing], measured: str) -> None:
    errors = any(standing.with_errors is not None for standing in standings)
    head = ("system", "rows", "failed", "n", *(("with errors",) if errors else ()), f"mean {measured}, 95 % interval")
    lines: list[Sequence[str]] = [head]
    for standing in standings:
        bounds = display.interval(standing.low, standing.high)
        mean = "" if standing.mean is None else f"{standing.mean:.2f}{bounds}"
        share = () if standing.with_errors is None else (f"{standing.with_errors:.2f}",)
        lines.append((standing.system, str(standing.rows), str(standing.failed), str(standing.n), *share, mean))
    out.print()
    display.table(out, lines)
    _text(out, "n: rows that every system scored; the numbers are of them, the best system first.\n")

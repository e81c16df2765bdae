"""What `excam meta` found, in a terminal: tables with their denominators."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from excam.core.escapes import visible
from excam.scoring import display
from excam.scoring.joining import repeated_note
from excam.scoring.meta import DRAWS, Joined, MetaResult, Test
from excam.scoring.meta_baselines import FEWEST, SYSTEM, WORDS
from excam.scoring.meta_numbers import MetricAgreement, Systems
from excam.stats.binary_gold import Estimate
from excam.stats.permutation import floor_note

HEAD = ("metric", "rows", "n", "failed", "Kendall's tau-b", "tie-calibrated", "AUC", "ICC(2,1)")
ITEM_HEAD = ("pairs", "ordered")
SYSTEM_HEAD = ("metric", "rows", "systems", "items", "accuracy", "soft accuracy", "Pearson", "Kendall")
TEST_HEAD = ("a", "b", "n", "clusters", "a - b", "p", "p (Holm)")


def show(result: MetaResult, text: str, item: str | None, *, has_surface: bool) -> None:
    """Print everything on stdout; `text` and `item` are the columns of the rated texts and of items.

    Args:
        result: of `meta.evaluate`
        text: the column of the rated texts
        item: the column of items; None: pairs are over all rows
        has_surface: whether the baseline of the surface is among the metrics
    """
    out = display.console()
    for metric in result.joined:
        if metric.worth:
            print(visible(f"{metric.metric}: {metric.worth}"))
    without = f" {result.without_label} rows without a label are left out." * bool(result.without_label)
    notes = without + repeated_note(result.repeated)
    print(f"{result.labelled} labelled rows, {result.common} of them scored by every metric.{notes}")
    if result.without_text:
        lacking = f"{result.without_text} of {result.common} rows lack {visible(text)}"
        print(f"No (length), (surface) and (words): {lacking}; name the column of the rated texts with --output.")
    else:
        if not has_surface:
            print("No (surface): it needs the extra calmqa.")
        if all(metric.metric != WORDS for metric in result.joined):
            print(f"No (words): it needs {FEWEST} instructions or more to learn from.")
    if all(metric.metric != SYSTEM for metric in result.joined):
        print("No (system): it needs the system of every row, and two or more; name their column with --system.")
    for metric in result.joined:
        if metric.signature:
            _rows(metric)
    _agreements(out, result.agreements, item)
    _systems(out, result.systems)
    _tests(out, result, item)


def _rows(metric: Joined) -> None:
    """Print what became of the rows of a file."""
    name = visible(metric.metric)
    counts = (
        f"{metric.rows} rows: {metric.scored} scored, {metric.failures} failed, {metric.unlabelled} without a label"
    )
    repeated = f", {metric.repeated} repeated ({metric.repeated_failures} failed)" * bool(metric.repeated)
    print(f"{name}: {counts}{repeated}, {metric.missing} labelled rows missing; {visible(metric.signature)}")
    if metric.note:
        print(f"{name}: {visible(metric.note)}")
    if metric.direction == "lower":
        print(f"{name}: lower scores are better; each number is of its scores times -1")
    if metric.without_icc:
        print(f"{name}: no ICC with rows off the labels' scale: {visible(metric.without_icc)}")


def _agreements(out: Console, agreements: Sequence[MetricAgreement], item: str | None) -> None:
    """Print a table of all rows, of pairs within each facet, and of each group."""
    for group, within in dict.fromkeys((agreement.group, agreement.within) for agreement in agreements):
        lines = [agreement for agreement in agreements if (agreement.group, agreement.within) == (group, within)]
        title = f"Pairs of rows of one {within}" if within else group or "All rows"
        print(f"\n{visible(title)}")
        display.table(
            out, [HEAD + (ITEM_HEAD if item else ()), *(_cells(agreement, item) for agreement in _once(lines))]
        )
    print("\nIntervals: 95 %, over clusters (ICC: rows). AUC and ordered .5 and tau 0 are chance.")
    print("In brackets (): trivial baselines. (words): the label predicted from the words, learnt from other clusters.")
    print("(system): the place of a row's system among all, by the mean labels of the other clusters.")
    if item:
        what = "of pairs of rows with one " + visible(item)
        print(f"tie-calibrated: mean over items. ordered: share {what} and different labels ordered alike, ties half.")


def _once(agreements: Sequence[MetricAgreement]) -> list[MetricAgreement]:
    """Return a metric's numbers on its own rows, and on the common ones where these are others."""
    sizes = {agreement.metric: agreement.n for agreement in agreements if agreement.on == "own"}
    return [agreement for agreement in agreements if agreement.on == "own" or agreement.n != sizes[agreement.metric]]


def _cells(agreement: MetricAgreement, item: str | None) -> tuple[str, ...]:
    tie = "-" if agreement.tie_calibrated is None else f"{agreement.tie_calibrated:.3f}"
    numbers = (estimate_cell(agreement.kendall), tie, estimate_cell(agreement.auc), estimate_cell(agreement.icc))
    pairs = (f"{agreement.pairs}", estimate_cell(agreement.ordered)) if item else ()
    return (agreement.metric, agreement.on, f"{agreement.n}", f"{agreement.failures}", *numbers, *pairs)


def estimate_cell(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    return f"{estimate.value:.2f}{display.interval(estimate.low, estimate.high)}"


def _systems(out: Console, systems: Sequence[Systems]) -> None:
    if not systems:
        return
    print("\nSystems")
    levels = {metric.metric: metric.level for metric in systems if metric.on == "own"}
    lines = [metric for metric in systems if metric.on == "own" or metric.level != levels[metric.metric]]
    display.table(out, [SYSTEM_HEAD, *map(_system_cells, lines)])
    print(
        "\naccuracy: share of pairs of systems whose means are ordered as the labels' means. soft accuracy: 1 minus the"
    )
    print("mean difference of the p-values of these orders (SPA; Thompson et al. 2024). No interval: few systems.")


def _system_cells(metric: Systems) -> tuple[str, ...]:
    level = metric.level
    numbers = (level.accuracy, level.soft, level.pearson, level.kendall)
    cells = ["-" if number is None else f"{number:.2f}" for number in numbers]
    return (metric.metric, metric.on, f"{level.systems}", f"{level.items}", *cells)


def _tests(out: Console, result: MetaResult, item: str | None) -> None:
    if result.tests:
        column = "column Kendall's tau-b, over all pairs of the rows that both scored"
        print(f"\nTests of differences in the {column}: paired permutations, p (Holm) adjusted for their number.")
        print("A metric that gives all these rows one score is not tested, nor is one that scored none of them.")
        if item:
            print("None is of tie-calibrated or ordered, which are of pairs within an item.")
        display.table(out, [TEST_HEAD, *map(_test_cells, result.tests)])
        if note := floor_note([test.p_value for test in result.tests], DRAWS):
            print(note)


def _test_cells(test: Test) -> tuple[str, ...]:
    numbers = (f"{test.n}", f"{test.clusters}", f"{test.difference:+.2f}", f"{test.p_value:.4f}", f"{test.p_holm:.4f}")
    return (test.a, test.b, *numbers)

"""What `excam meta` found, in a terminal: tables with their denominators, and what the numbers depend on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from excam.core.escapes import visible
from excam.scoring import display
from excam.scoring.meta import Joined, Result, Test
from excam.scoring.meta_baselines import SYSTEM
from excam.scoring.meta_numbers import Agreement, Influence, Systems
from excam.stats.binary_gold import Estimate

HEAD = ("metric", "rows", "n", "failed", "Kendall's tau-b", "tie-calibrated", "AUC", "ICC(2,1)")
ITEM_HEAD = ("pairs", "ordered")
SYSTEM_HEAD = ("metric", "rows", "systems", "items", "accuracy", "soft accuracy", "Pearson", "Kendall")
TEST_HEAD = ("a", "b", "n", "clusters", "a - b", "p", "p (Holm)")
NAMES = {"tau_b": "tau-b", "ordered": "share of ordered pairs"}


def show(result: Result, text: str, item: str | None, *, has_surface: bool) -> None:
    """Print everything on stdout; `text` and `item` are the columns of the rated texts and of items."""
    out = display.console()
    unlabelled = f" {result.without_label} rows without a label are left out." if result.without_label else ""
    print(f"{result.labelled} labelled rows, {result.common} of them scored by every metric.{unlabelled}")
    if result.without_text:
        lacking = f"{result.without_text} of {result.labelled} rows lack {visible(text)}"
        print(f"No (length), (surface) and (words): {lacking}; name the column of the rated texts with --text.")
    elif not has_surface:
        print("No (surface): it needs the extra calmqa.")
    if all(metric.metric != SYSTEM for metric in result.joined):
        print("No (system): it needs the system of every row, and two or more; name their column with --system.")
    for metric in result.joined:
        if metric.signature:
            _rows(metric)
    _agreements(out, result.agreements, item)
    _systems(out, result.systems)
    print_influences(result.influences)
    _tests(out, result, item)


def _rows(metric: Joined) -> None:
    """Print what became of the rows of a file."""
    name = visible(metric.metric)
    counts = (
        f"{metric.rows} rows: {metric.scored} scored, {metric.failures} failed, {metric.unlabelled} without a label"
    )
    print(f"{name}: {counts}, {metric.missing} labelled rows missing; {visible(metric.signature)}")
    if metric.baseline:
        print(f"{name}: a baseline: likelihoods of a model that was not trained to judge")
    if metric.note:
        print(f"{name}: {visible(metric.note)}")
    if metric.direction == "lower":
        print(f"{name}: lower scores are better; each number is of its scores times -1")
    if metric.without_icc:
        print(f"{name}: no ICC with rows off the labels' scale: {visible(metric.without_icc)}")


def _agreements(out: Console, agreements: Sequence[Agreement], item: str | None) -> None:
    """Print a table of all rows, of pairs within each facet, and of each group."""
    for group, within in dict.fromkeys((one.group, one.within) for one in agreements):
        shown = [one for one in agreements if (one.group, one.within) == (group, within)]
        title = f"Pairs of rows of one {within}" if within else group or "All rows"
        print(f"\n{visible(title)}")
        display.table(out, [HEAD + (ITEM_HEAD if item else ()), *(_cells(one, item) for one in _once(shown))])
    print("\nIntervals: 95 %, resampled over clusters (ICC: rows). AUC and ordered .5 and tau 0 are chance.")
    print("In brackets (): trivial baselines. (words): the label predicted from the words, learnt from other clusters.")
    print("(system): the place of a row's system among all, by the mean labels of the other clusters.")
    if item:
        what = "of pairs of rows with one " + visible(item)
        print(f"tie-calibrated: mean over items. ordered: share {what} and different labels ordered alike, ties half.")


def _once(agreements: Sequence[Agreement]) -> list[Agreement]:
    """Return a metric's numbers on its own rows, and on the common ones where these are others."""
    own = {one.metric: one.n for one in agreements if one.on == "own"}
    return [one for one in agreements if one.on == "own" or one.n != own[one.metric]]


def _cells(one: Agreement, item: str | None) -> tuple[str, ...]:
    tie = "-" if one.tie_calibrated is None else f"{one.tie_calibrated:.3f}"
    numbers = (estimate_cell(one.kendall), tie, estimate_cell(one.auc), estimate_cell(one.icc))
    pairs = (f"{one.pairs}", estimate_cell(one.ordered)) if item else ()
    return (metric_name(one.metric, baseline=one.baseline), one.on, f"{one.n}", f"{one.failures}", *numbers, *pairs)


def metric_name(metric: str, *, baseline: bool) -> str:
    return f"({metric})" if baseline and not metric.startswith("(") else metric


def estimate_cell(one: Estimate) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.2f}" + ("" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]")


def _systems(out: Console, systems: Sequence[Systems]) -> None:
    if not systems:
        return
    print("\nSystems")
    own = {one.metric: one.level for one in systems if one.on == "own"}
    shown = [one for one in systems if one.on == "own" or one.level != own[one.metric]]
    display.table(out, [SYSTEM_HEAD, *map(_system_cells, shown)])
    print(
        "\naccuracy: share of pairs of systems whose means are ordered as the labels' means. soft accuracy: 1 minus the"
    )
    print("mean difference of the p-values of these orders (SPA; Thompson et al. 2024). No interval: few systems.")


def _system_cells(one: Systems) -> tuple[str, ...]:
    level = one.level
    numbers = (level.accuracy, level.soft, level.pearson, level.kendall)
    cells = ["-" if number is None else f"{number:.2f}" for number in numbers]
    return (metric_name(one.metric, baseline=one.baseline), one.on, f"{level.systems}", f"{level.items}", *cells)


def print_influences(influences: Iterable[Influence]) -> None:
    """Print a line for each number that depends on one group, with each such group, the most important first."""
    numbers: dict[str, list[Influence]] = {}
    for one in influences:
        numbers.setdefault(f"{one.metric}: {NAMES[one.number]} {one.value:.2f}", []).append(one)
    if numbers:
        print("\nNumbers that depend on one group: without it, they move by more than half the width of the interval.")
    for number, groups in numbers.items():
        ordered = sorted(groups, key=lambda one: -abs(one.value - (one.without or 0)))
        print(visible(f"{number}; " + "; ".join(map(_without, ordered))))


def _without(one: Influence) -> str:
    rest = "nothing is ordered" if one.without is None else f"{one.without:.2f}"
    return f"without {one.facet} {one.name} ({one.rows} rows) {rest} (n = {one.n})"


def _tests(out: Console, result: Result, item: str | None) -> None:
    if result.tests:
        column = "column Kendall's tau-b, over all pairs of the rows that both scored"
        print(f"\nTests of differences in the {column}: paired permutations, adjusted after Holm.")
        if item:
            print("None is of tie-calibrated or ordered, which are of pairs within an item.")
        display.table(out, [TEST_HEAD, *map(_test_cells, result.tests)])
    if result.untested:
        print()
    for why in dict.fromkeys(pair.why for pair in result.untested):
        pairs = [f"{pair.a} and {pair.b} (n = {pair.n})" for pair in result.untested if pair.why == why]
        print(visible(f"No test, since {why}: {'; '.join(pairs)}."))


def _test_cells(one: Test) -> tuple[str, ...]:
    numbers = (f"{one.n}", f"{one.clusters}", f"{one.difference:+.2f}", f"{one.p_value:.4f}", f"{one.p_holm:.4f}")
    return (one.a, one.b, *numbers)

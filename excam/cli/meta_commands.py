"""`excam meta`: any metrics against human labels of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.escapes import visible
from excam.core.exceptions import InputInvalid
from excam.core.extras import is_installed
from excam.core.terminal import JSON, exit_on_error, print_json
from excam.scoring.warnings import of_texts

if TYPE_CHECKING:
    from excam.scoring.meta import Agreement, Result, Test
    from excam.scoring.meta_rows import Gold
    from excam.stats.binary_gold import Estimate

HEAD = ("metric", "rows", "n", "failed", "Kendall's tau-b", "tie-calibrated", "AUC", "ICC(2,1)")
TEST_HEAD = ("a", "b", "n", "clusters", "a - b", "p", "p (Holm)")


def meta(
    gold: Annotated[Path, typer.Argument(help="labelled rows with id and label: JSON Lines, CSV, Parquet, ...")],
    scored: Annotated[list[Path], typer.Argument(help="files written by `excam score --to`, one for each metric")],
    label: Annotated[str, typer.Option(help="column of labels: numbers, true or false; more is better")] = "label",
    group: Annotated[
        str | None, typer.Option(help="column by which numbers are repeated, e.g. error_type; may have lists")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="column of rows that share content; by default those of one instruction")
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(help="column by which the tie-calibrated accuracy is averaged, e.g. the segment"),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="part of the scored rows as a metric of its own, e.g. surface; again for more"),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="column of the rated texts, for the baselines; by default output")
    ] = None,
    seed: Annotated[int, typer.Option(help="of intervals and tests")] = 0,
    as_json: JSON = False,
) -> None:
    """Measure how metrics go with human labels of the same rows, beside baselines that judge nothing.

    Each metric on its own rows and on those that all of them scored; failures are counted and in no number. With
    --group, also for each value: its rows with the rows of no group that share a cluster, e.g. an error with its twins.
    Tie-calibrated accuracy is over all pairs of rows, with --item the mean over items at one epsilon, as in WMT.

    Example: excam meta ratings.csv excam.jsonl rubric.jsonl --label overall --cluster question
    """
    from excam.scoring import meta as evaluating
    from excam.scoring import meta_rows

    with exit_on_error():
        if len({path.resolve() for path in scored}) < len(scored):
            raise InputInvalid(f"{_twice(scored)}: given twice; expected each metric once")
        labels = meta_rows.read_gold(gold, label, cluster=cluster, group=group, text=text, item=item)
        columns = meta_rows.read_metrics(scored, part or ())
        further = {"(surface)": _surface} if is_installed("pycld2") and is_installed("bpe_openai") else {}
        result = evaluating.evaluate(labels, [*columns, *meta_rows.baselines(labels.rows, further)], seed)
        if as_json:
            for line in result.lines():
                print_json(line)
        else:
            _show(result, text or meta_rows.TEXT, has_surface=bool(further))


def _twice(paths: Sequence[Path]) -> Path:
    return next(path for at, path in enumerate(paths) if path.resolve() in {one.resolve() for one in paths[:at]})


def _surface(row: Gold) -> float:
    """Return 0 for a text that repeats itself or is in another language than its instruction, else 1."""
    from excam.calmqa.surface import repeated

    text = row.text or ""
    return float(not repeated(text) and not of_texts(row.instruction, text))


def _show(result: Result, text: str, has_surface: bool) -> None:
    from excam.scoring import display

    out = display.console()
    unlabelled = f" {result.without_label} rows without a label are left out." if result.without_label else ""
    print(f"{result.labelled} labelled rows, {result.common} of them scored by every metric.{unlabelled}")
    if result.without_text:
        lacking = f"{result.without_text} of {result.labelled} rows lack {visible(text)}"
        print(f"No (length) and no (surface): {lacking}; name the column of the rated texts with --text.")
    elif not has_surface:
        print("No (surface): it needs the extra calmqa.")
    for one in result.joined:
        if one.signature:
            print(
                visible(f"{one.metric}: {one.rows} rows: {one.scored} scored, {one.failures} failed, ")
                + visible(f"{one.unlabelled} without a label, {one.missing} labelled rows missing; {one.signature}")
            )
            if one.note:
                print(visible(f"{one.metric}: {one.note}"))
            if one.direction == "lower":
                print(visible(f"{one.metric}: lower scores are better; each number is of its scores times -1"))
            if one.without_icc:
                print(visible(f"{one.metric}: no ICC with rows off the labels' scale: {one.without_icc}"))
    for group in dict.fromkeys(one.group for one in result.agreements):
        print(f"\n{visible(group) or 'All rows'}")
        display.table(out, [HEAD, *(_cells(one) for one in result.agreements if one.group == group)])
    print("\nIntervals: 95 %, resampled over clusters (ICC: rows). AUC .5 and tau 0 are chance.")
    if result.tests:
        print("\nDifferences of tau-b on the rows that both scored; paired permutation tests, adjusted after Holm:")
        display.table(out, [TEST_HEAD, *map(_test_cells, result.tests)])
    if result.untested:
        print()
    for why in dict.fromkeys(pair.why for pair in result.untested):
        pairs = [f"{pair.a} and {pair.b} (n = {pair.n})" for pair in result.untested if pair.why == why]
        print(visible(f"No test, since {why}: {'; '.join(pairs)}."))


def _test_cells(one: Test) -> tuple[str, ...]:
    numbers = (f"{one.n}", f"{one.clusters}", f"{one.difference:+.2f}", f"{one.p_value:.4f}", f"{one.p_holm:.4f}")
    return (one.a, one.b, *numbers)


def _cells(one: Agreement) -> tuple[str, ...]:
    tie = "-" if one.tie_calibrated is None else f"{one.tie_calibrated:.3f}"
    numbers = (_estimate(one.kendall), tie, _estimate(one.auc), _estimate(one.icc))
    return (one.metric, one.on, f"{one.n}", f"{one.failures}", *numbers)


def _estimate(one: Estimate) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.2f}" + ("" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]")

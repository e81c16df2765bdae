"""Judgements with their gold rows -> one HTML page to search and filter every row of a system.

Every judge has rows here; only those that write reports have errors to mark.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import polars as pl

from excam.core import tables
from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell

Outcome = Literal["hit", "miss", "false alarm", "correct rejection", "unreadable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
GOLD = ("id", "instruction", "output", "errors", "explanation", "score")  # of the gold rows

HEAD = """<h1>Judged rows <span class="system">{system}</span></h1>
<p>All {n} test rows, each verdict beside the gold report. The texts were written by benchmarks, generators and the
judge; nobody has checked what they say. Control and invisible characters are shown as
<span class="control">U+202E</span>.</p>
"""
NOTE = (
    "Hit: the row has an error and one was found, at any place. Miss: it has an error, none was found. False alarm: it "
    "has none, one was found. Correct rejection: it has none, none was found. Unreadable: no verdict could be read, so "
    "there is no score."
)
LEGEND = """<mark class="gold major">gold error</mark>: solid line below.
<mark class="found major">error the judge found</mark>: dashed line above.
<mark class="gold major"><mark class="found major">both</mark></mark>. Thick line: major; thin: minor.
<sup class="tag gold">G1</sup> and <sup class="tag found">J1</sup> stand where the error of that number begins."""
FOOT = """<details>
<summary>Files these rows come from</summary>
<ul>
{inputs}</ul>
</details>
<p>The transcripts hold what the judge was asked and answered, verbatim: <code>excam rows</code> shows it.</p>
"""
FILTERS = (
    Filter("dataset", "Dataset"),
    Filter("language", "Language"),
    Filter("outcome", "Verdict", OUTCOMES, "unreadable, by reason"),
)


def page(system: str, rows: Sequence[BrowserRow], inputs: Mapping[str, str]) -> str:
    """Return the page of one system's rows; `inputs` are the files that they come from, with their sha256."""
    heads = ("Dataset", *(name.capitalize() for name in OUTCOMES), "n")
    lines = [[html.escape(name), *line.values()] for name, line in counts(rows).items()]
    table = row_browser.folded_table("Verdicts by dataset", NOTE, heads, lines)
    listed = "".join(
        f"<li><code>{html.escape(name)}</code> sha256 <code>{digest}</code></li>\n" for name, digest in inputs.items()
    )
    browser = Browser(
        title=f"Judged rows: {system}",
        head=HEAD.format(system=html.escape(system), n=len(rows)) + table,
        legend=LEGEND,
        foot=FOOT.format(inputs=listed),
        columns=("Gold report", "Judge"),
        filters=FILTERS,
    )
    return row_browser.write(browser, rows)


def outcome(gold_error: bool, errors_found: int | None) -> Outcome:
    """Return the signal-detection outcome of a verdict; `errors_found` is None for a parse failure."""
    if errors_found is None:
        return "unreadable"
    if gold_error:
        return "hit" if errors_found else "miss"
    return "false alarm" if errors_found else "correct rejection"


def join(judgements: pl.DataFrame, samples: pl.DataFrame) -> list[BrowserRow]:
    """Return every judged row with its gold row, in the order of the judgements.

    `judgements` has the columns of `JUDGEMENT_SCHEMA`, `samples` (at least) those of GOLD. Raise InputInvalid
    if they are not the same rows, once each, with the same gold scores.
    """
    return [_row(judged, gold) for judged, gold in tables.with_gold(judgements, samples, GOLD)]


def _row(judged: Mapping[str, Any], gold: Mapping[str, Any]) -> BrowserRow:
    verdict_outcome = outcome(judged["gold_error"], judged["errors_found"])
    failure, certainty = judged["failure"], judged["certainty"]
    right = verdict_outcome in ("hit", "correct rejection")
    return BrowserRow(
        id=judged["id"],
        outcome=verdict_outcome,
        tone="unreadable" if failure is not None else "right" if right else "wrong",
        facts={
            **{name.capitalize(): judged[name] for name in ("dataset", "language", "culture", "origin")},
            "Gold score": _signed(judged["gold_score"]),
            "Score": _signed(judged["score"]),
            "p(R)": "none" if certainty is None else f"{certainty:.4f}",
        },
        texts={name: gold[name] for name in ("instruction", "output")},
        reports=(
            ReportCell(_errors("gold", "G", json.loads(gold["errors"])), gold["explanation"]),
            _judge_cell(judged),
        ),
        values={
            "dataset": (judged["dataset"],),
            "language": (judged["language"],),
            "outcome": (verdict_outcome,) if failure is None else (verdict_outcome, f"unreadable: {failure}"),
        },
    )


def _judge_cell(judged: Mapping[str, Any]) -> ReportCell:
    if judged["failure"] is not None:
        return ReportCell(notes=(f"Unreadable: {judged['failure']}. No verdict, no score.",))
    if judged["report"] is None:
        return ReportCell(notes=(f"Errors found: {judged['errors_found']}.", "This judge writes no report."))
    report, recovered = json.loads(judged["report"]), judged["recovered"]
    notes = (f"Read despite: {recovered}.",) if recovered else ()
    return ReportCell(_errors("found", "J", report["errors"]), report["explanation"], notes)


def _errors(kind: str, letter: str, errors: Sequence[Mapping[str, Any]]) -> list[MarkedError]:
    return [MarkedError(kind=kind, tag=f"{letter}{number}", **error) for number, error in enumerate(errors, 1)]


def _signed(score: float | None) -> str:
    return "none" if score is None else f"{score:.15g}".replace("-", "−")


def counts(rows: Sequence[BrowserRow]) -> dict[str, dict[str, int]]:
    """Return the rows per outcome, and their sum `n`, of each dataset in the order of the rows, and of "all"."""
    by_dataset: dict[str, dict[str, int]] = {}
    datasets = [row.values["dataset"][0] for row in rows]
    for name in (*dict.fromkeys(datasets), "all"):
        number = Counter(row.outcome for row, dataset in zip(rows, datasets, strict=True) if name in ("all", dataset))
        by_dataset[name] = {kind: number[kind] for kind in OUTCOMES} | {"n": number.total()}
    return by_dataset

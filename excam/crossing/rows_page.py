"""Every labelled text with what people said and what every metric said of it -> one HTML page to search and filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from excam.crossing.columns import length_of
from excam.crossing.kinds import KINDS
from excam.crossing.rows import Row
from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell
from excam.scoring.results import Result

HEAD = """<h1>Crossing: all metrics on the same rows</h1>
<p>{n} labelled texts: what their label rests on, and beside it the score of each metric, with its report where it
writes one.</p>
"""
NOTE = "How many texts of each set are right, and how many are wrong."
RIGHT, WRONG = "right", "wrong"
FILTERS = (
    Filter("set", "Set"),
    Filter("outcome", "Label", (RIGHT, WRONG)),
    Filter("kind", "Kind of error", tuple(KINDS)),
    Filter("language", "Language"),
)
SAME = {"prompt": "instruction", "response": "output", "question": "instruction", "answer": "output"}


def page(rows: Sequence[Row], scored: Mapping[str, Mapping[str, Result]], parts: Mapping[str, Sequence[str]]) -> str:
    """Return the page; `scored` is by metric and row, `parts` names what else is shown of a metric.

    A metric has an empty cell where it cannot score a row.
    """
    counts = Counter((row.set, row.right) for row in rows)
    lines = [[name, counts[name, True], counts[name, False]] for name in dict.fromkeys(row.set for row in rows)]
    table = row_browser.folded_table("Rows by set", NOTE, ("Set", "Right", "Wrong"), lines)
    browser = Browser(
        title="Crossing",
        head=HEAD.format(n=len(rows)) + table,
        legend="",
        foot="",
        columns=["Label", *map(row_browser.escape, scored)],
        filters=FILTERS,
    )
    cells = [[_cell(by_row.get(row.id), parts.get(name, ())) for name, by_row in scored.items()] for row in rows]
    return row_browser.write(browser, [_row(row, each) for row, each in zip(rows, cells, strict=True)])


def _row(row: Row, cells: Sequence[ReportCell]) -> BrowserRow:
    outcome = RIGHT if row.right else WRONG
    language = str(row.columns.get("language") or "")
    return BrowserRow(
        id=row.id,
        outcome=outcome if row.right else f"{outcome}: {', '.join(row.kinds)}",
        tone=outcome,
        facts={
            **{"Set": row.set, "Twins": row.cluster, "Characters": f"{length_of(row):.0f}"},
            **({"Language": language} if language else {}),
        },
        texts={"instruction": row.columns["instruction"], "output": row.columns["output"]},
        reports=[ReportCell(notes=row.said), *cells],
        values={"set": (row.set,), "outcome": (outcome,), "kind": row.kinds, "language": (language,)},
    )


def _cell(result: Result | None, parts: Sequence[str]) -> ReportCell:
    if result is None:
        return ReportCell()
    if result.score is None:
        return ReportCell(notes=[f"no score: {result.failure}"])
    errors = [
        MarkedError("found", f"{at}", where, error.span, error.severity, error.type, error.start, error.end)
        for at, error in enumerate(result.errors, 1)
        if (where := SAME.get(error.where, error.where)) in ("instruction", "output")
    ]
    values = {"score": result.score, **{name: result.part(name) for name in parts}}
    notes = [f"{name} {'n/a' if value is None else f'{value:.2f}'}" for name, value in values.items()]
    return ReportCell(errors or None, result.report.explanation if result.report else "", notes)

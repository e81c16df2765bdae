"""Every labelled text with what people said and what every metric said of it -> one HTML page to search and filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from excam.crossing.columns import length_of, spoken
from excam.crossing.kinds import KINDS
from excam.crossing.rows import Row
from excam.pages import row_browser
from excam.pages.markdown import rounded
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

    A metric that cannot score a row is left out of its cell.
    """
    counts = Counter((row.set, row.right) for row in rows)
    lines = [[name, counts[name, True], counts[name, False]] for name in dict.fromkeys(row.set for row in rows)]
    table = row_browser.folded_table("Rows by set", NOTE, ("Set", "Right", "Wrong"), lines)
    browser = Browser(
        title="Crossing",
        head=HEAD.format(n=len(rows)) + table,
        columns=["Label", "Metrics"],
        filters=FILTERS,
    )
    return row_browser.write(browser, [_row(row, _cell(row.id, scored, parts)) for row in rows])


def _row(row: Row, metrics: ReportCell) -> BrowserRow:
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
        reports=[ReportCell(notes=row.said), metrics],
        values={"set": (row.set,), "outcome": (outcome,), "kind": row.kinds, "language": (language,)},
    )


def _cell(row: str, scored: Mapping[str, Mapping[str, Result]], parts: Mapping[str, Sequence[str]]) -> ReportCell:
    """Return what the metrics say of a row: their errors, then a line each, and one for an explanation."""
    errors: list[MarkedError] = []
    notes: list[str] = []
    for name, by_row in scored.items():
        if (result := by_row.get(row)) is None:
            continue
        if result.score is None:
            notes.append(f"{name}: no score, {result.failure}")
            continue
        errors += _errors(name, result)
        values = {"score": result.score, **{part: result.part(part) for part in parts.get(name, ())}}
        notes.append(f"{name}: " + ", ".join(f"{spoken(part)} {rounded(value)}" for part, value in values.items()))
        if result.report and result.report.explanation:
            notes.append(f"{name} explains: {result.report.explanation}")
    return ReportCell(errors or None, notes=notes)


def _errors(name: str, result: Result) -> Iterator[MarkedError]:
    for at, error in enumerate(result.errors, 1):
        if (where := SAME.get(error.where, error.where)) in ("instruction", "output"):
            tag = f"{name} {at}"
            yield MarkedError("found", tag, where, error.span, error.severity, error.type, error.start, error.end)

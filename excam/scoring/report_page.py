"""Scored pairs -> one HTML file to search and filter them (`pages.row_browser`), with distributions and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell, bar, escape, folded_table
from excam.scoring.report_numbers import Interval, Kind, Line, bands, kinds, line, lines
from excam.scoring.scored import Scored, sureness
from excam.scoring.spans import SEVERITIES

OUTCOMES = {"with errors": "wrong", "without errors": "right", "not judged": "unreadable"}
FILTERS = (
    Filter("outcome", "Outcome", tuple(OUTCOMES)),
    Filter("verdict", "Verdict"),
    Filter("severity", "Severity"),
    Filter("type", "Error type"),
    Filter("language", "Language"),
    Filter("culture", "Culture"),
    Filter("system", "System"),
    Filter("failure", "Not judged because"),
    Filter("warning", "Warning"),
)
ORDERS = {"worst": "worst score first", "doubt": "least certain first"}
CAUTION = """<p>This page shows what a metric found, not what is true. A metric can overlook errors and see errors where
there are none; an explanation may sound right and not be the reason; and it takes what most people of a country think
for that country's culture. Errors that an instruction asks for count too. The texts were written by others, and nobody
has checked what they say. Control and invisible characters are shown as <span class="control">U+202E</span>.</p>
"""
LEGEND = """<sup class="tag">1 major</sup><mark class="error major">major error</mark>: thick solid line below, −5.
<sup class="tag">2 minor</sup><mark class="error minor">minor error</mark>: thin dotted line below, −1. The number and
its severity stand where the error begins."""


def write(name: str, digest: str, rows: Sequence[Scored]) -> str:
    """Return the page of a file of scored pairs, with the sha256 of the file that they come from."""
    whole = line("all", rows)
    total = (
        f"{whole.n} rows: {whole.with_errors} with errors, {whole.n - whole.not_judged - whole.with_errors} without, "
        f"{whole.not_judged} not judged"
    )
    browser = Browser(
        title="Cultural errors found",
        head=f'<h1>Cultural errors found in <span class="system">{escape(name)}</span></h1>\n'
        f'<p class="sum">{total}.</p>\n' + CAUTION + _numbers(rows, whole),
        legend=LEGEND,
        foot=f"<p>Judged as:</p>\n<ul>\n{_signatures(rows)}</ul>\n"
        f"<p>File <code>{escape(name)}</code>, sha256 <code>{digest}</code></p>\n",
        columns=("Report",),
        filters=FILTERS,
        orders=ORDERS,
    )
    several = len({one.signature for one in rows}) > 1
    return row_browser.write(browser, (_row(one, several) for one in rows))


def _row(one: Scored, with_signature: bool) -> BrowserRow:
    errors = one.report.errors if one.report else ()
    outcome = "not judged" if one.failure is not None else "with errors" if errors else "without errors"
    named = {name: getattr(one, name) for name in ("language", "culture", "system")}
    facts = {
        "Score": "none" if one.score is None else f"{round(one.score, 4):.15g}".replace("-", "−"),
        "p(R)": "none" if one.certainty is None else f"{one.certainty:.4f}",
        **{name.capitalize(): value for name, value in named.items() if value},
        **{name: str(value) for name, value in one.details.items()},
        **({"Judged as": one.signature} if with_signature else {}),
    }
    values = {
        "outcome": [outcome],
        "verdict": [_verdict(one)],
        "severity": dict.fromkeys(error.severity for error in errors),
        "type": dict.fromkeys(error.type for error in errors),
        **{name: [value] for name, value in named.items()},
        "failure": [one.failure],
        "warning": one.warnings,
    }
    return BrowserRow(
        id=one.id,
        outcome=outcome,
        tone=OUTCOMES[outcome],
        facts=facts,
        texts=one.texts,
        reports=(_report(one),),
        values={name: [value for value in found if value] for name, found in values.items()},
        keys={"worst": one.score, "doubt": one.certainty},
    )


def _report(one: Scored) -> ReportCell:
    notes = (*sureness(one), *(f"Warning: {warning}" for warning in one.warnings))
    if one.failure is not None or one.report is None:
        return ReportCell(notes=(f"Not judged: {one.failure}. No score.", *notes))
    errors = [
        MarkedError("error", f"{number} {error.severity}", error.where, error.span, error.severity, error.type,
                    error.start, error.end)
        for number, error in enumerate(one.report.errors, 1)
    ]  # fmt: skip
    read = (f"Read despite: {', '.join(one.recovered)}.",) if one.recovered else ()
    return ReportCell(errors, one.report.explanation, (*notes, *read))


def _verdict(one: Scored) -> str:
    """What to make of a row, where that says more than its report: with a probability, or several judgements."""
    several = one.probability is not None or one.agreement is not None
    return one.verdict if several and one.verdict else ""


def _signatures(rows: Iterable[Scored]) -> str:
    number = Counter(one.signature for one in rows)
    return "".join(f"<li><code>{escape(name)}</code> ({count} rows)</li>\n" for name, count in number.items())


def _numbers(rows: Sequence[Scored], whole: Line) -> str:
    """Every table of the page; those that would be empty are left out."""
    errors = [one.report.errors if one.report else () for one in rows]
    severities = kinds([error.severity for error in found] for found in errors)
    severities.sort(key=lambda kind: -SEVERITIES.index(kind.name))  # pyright: ignore[reportArgumentType]
    parts = [
        _distribution("Scores", bands(rows), "Errors add -1 (minor) or -5 (major); without errors the score is p(R)."),
        _kinds("Severities", "severity", severities, "errors"),
        _kinds("Error types", "type", kinds([error.type for error in found] for found in errors), "errors"),
        _kinds("Not judged, and why", "reason", kinds([one.failure] for one in rows if one.failure), "rows"),
        _kinds("Verdicts", "verdict", kinds([made] for one in rows if (made := _verdict(one))), "rows"),
        _kinds("Warnings", "warning", kinds(one.warnings for one in rows), "rows"),
    ]
    for by in ("system", "language", "culture"):
        found = lines(rows, by)
        parts.append(_table(f"By {by}", by, [*found, whole]) if found else "")
    return "".join(parts)


def _distribution(title: str, counted: Sequence[tuple[str, int]], note: str) -> str:
    most, total = max((number for _, number in counted), default=0), sum(number for _, number in counted)
    found = [(name, bar(number, most), number) for name, number in counted]
    return folded_table(title, f"{note} n = {total}.", ("score", "", "rows"), found)


def _kinds(title: str, head: str, counted: Sequence[Kind], unit: str) -> str:
    if not counted:
        return ""
    most, total = max(kind.times for kind in counted), sum(kind.times for kind in counted)
    found = [(escape(kind.name), bar(kind.times, most), kind.times, kind.rows or "") for kind in counted]
    return folded_table(
        title, f"n = {total} {unit}.", (head, "", unit if unit != "rows" else "times", "in rows"), found
    )


def _table(title: str, head: str, found: Sequence[Line]) -> str:
    body = [
        (escape(one.name), one.n, one.not_judged, one.with_errors, _number(one.share), _interval(one.share_interval),
         _number(one.score), _interval(one.score_interval))
        for one in found
    ]  # fmt: skip
    heads = (head, "n", "not judged", "with errors", "share", "95 % interval", "mean score", "95 % interval")
    note = (
        "Share and mean are of the judged rows. A group of few rows has no interval and is too small to conclude from."
    )
    return folded_table(title, note, heads, body)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _interval(bounds: Interval) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"

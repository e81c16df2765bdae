"""Results -> one HTML file to search and filter them (`pages.row_browser`), with distributions and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell, bar, escape, folded_table
from excam.scoring.metric import Description
from excam.scoring.report_numbers import Interval, Kind, Line, bands, kinds, line, lines
from excam.scoring.results import NOT_KNOWN, Result, confidence_lines
from excam.scoring.spans import SEVERITIES, Severity

FILTERS = (
    Filter("verdict", "Verdict"),
    Filter("severity", "Severity"),
    Filter("type", "Error type"),
    Filter("language", "Language"),
    Filter("culture", "Culture"),
    Filter("system", "System"),
    Filter("failure", "Failed because"),
    Filter("warning", "Warning"),
)
OF_MARKS = ("severity", "type")  # filters that a metric without marked words has not
ORDERS = {"worst": "worst score first", "doubt": "least certain first"}
WITH_ERRORS = {"with errors": "wrong", "without errors": "right", "not judged": "unreadable"}
SCORED = {"scored": "right", "failed": "unreadable"}
CAUTION = """<p>This page shows what a metric found, not what is true. {errors}The texts were written by others, and
nobody has checked what they say. Control and invisible characters are shown as <span class="control">U+202E</span>.</p>
"""
OF_ERRORS = """A metric can overlook errors and see errors where
there are none; an explanation may sound right and not be the reason; and it takes what most people of a country think
for that country's culture. Errors that an instruction asks for count too. """
MARKS: dict[Severity, str] = {
    "major": '<sup class="tag">1 major</sup><mark class="error major">major error</mark>: thick solid line below{}',
    "minor": '<sup class="tag">2 minor</sup><mark class="error minor">minor error</mark>: thin dotted line below{}',
}


def write(name: str, digest: str, rows: Sequence[Result]) -> str:
    """Return the page of a file of results of one metric, with the sha256 of the file that they come from."""
    about, whole = rows[0].metric, line("all", rows)
    judged = whole.n - whole.not_judged
    total = f"{whole.n} rows: {judged} scored, {whole.not_judged} failed"
    if about.lists_errors:
        without = judged - whole.with_errors
        total = f"{whole.n} rows: {whole.with_errors} with errors, {without} without, {whole.not_judged} not judged"
    mean = "" if whole.score is None else f" Mean score {whole.score:.2f} ({escape(about.mean or 'mean')})."
    title = escape(about.title)
    outcomes, marks = _outcomes(about), about.lists_errors or any(one.errors for one in rows)
    browser = Browser(
        title=about.title,
        head=f'<h1>{title}: <span class="system">{escape(name)}</span></h1>\n<p class="sum">{total}.{mean}</p>\n'
        + CAUTION.format(errors=OF_ERRORS if about.lists_errors else "")
        + _numbers(rows, whole, about),
        legend=_legend(rows, about),
        foot=f"<p>Judged as:</p>\n<ul>\n{_signatures(rows)}</ul>\n"
        f"<p>File <code>{escape(name)}</code>, sha256 <code>{digest}</code></p>\n",
        columns=("Report",),
        filters=(
            Filter("outcome", "Outcome", tuple(outcomes)),
            *(one for one in FILTERS if marks or one.name not in OF_MARKS),
        ),
        orders=ORDERS,
    )
    several = len({one.signature for one in rows}) > 1
    return row_browser.write(browser, (_row(one, several) for one in rows))


def is_own(path: Path) -> bool:
    """Return whether a file is such a page: it may be written again."""
    with path.open("rb") as stream:
        return row_browser.MARK.encode() in stream.read(2000)


def _outcomes(about: Description) -> dict[str, str]:
    """Return what can become of a row, and the tone in which it is shown."""
    return WITH_ERRORS if about.lists_errors else SCORED


def _outcome(one: Result) -> str:
    with_errors, without, failed = WITH_ERRORS if one.metric.lists_errors else ("scored", "scored", "failed")
    return failed if one.failure is not None else with_errors if one.errors else without


def _legend(rows: Sequence[Result], about: Description) -> str:
    """Return what marks and scores mean; nothing of marks where there are none."""
    parts = []
    if about.lists_errors or any(one.errors for one in rows):
        for severity in reversed(SEVERITIES):
            weight = f", {about.weights[severity]}".replace("-", "−") if severity in about.weights else ""
            parts.append(MARKS[severity].format(weight) + ".")
        parts.append("The number and its severity stand where the error begins.")
    if about.legend:
        parts.append(f"Score: {escape(about.legend)}.")
    return " ".join(parts)


def _row(one: Result, with_signature: bool) -> BrowserRow:
    outcome = _outcome(one)
    named = {name: getattr(one, name) for name in ("language", "culture", "system")}
    facts = {
        "Score": "none" if one.score is None else f"{round(one.score, 4):.15g}".replace("-", "−"),
        **({} if one.certainty is None else {"p(R)": f"{one.certainty:.4f}"}),
        **{name.capitalize(): value for name, value in named.items() if value},
        **{name: str(value) for name, value in one.parts.items()},
        **({"Judged as": one.signature} if with_signature else {}),
    }
    values = {
        "outcome": [outcome],
        "verdict": [_verdict(one)],
        "severity": dict.fromkeys(error.severity for error in one.errors),
        "type": dict.fromkeys(error.type for error in one.errors),
        **{name: [value] for name, value in named.items()},
        "failure": [one.failure],
        "warning": one.warnings,
    }
    return BrowserRow(
        id=one.id,
        outcome=outcome,
        tone=_outcomes(one.metric)[outcome],
        facts=facts,
        texts=one.texts,
        reports=(_report(one),),
        values={name: [value for value in found if value] for name, found in values.items()},
        keys={"worst": one.rising_score, "doubt": one.certainty},
    )


def _report(one: Result) -> ReportCell:
    notes = (*confidence_lines(one), *(f"Warning: {warning}" for warning in one.warnings))
    if one.failure is not None or one.report is None:
        what = "Not known: nothing decides" if one.failure == NOT_KNOWN else f"Failed: {one.failure}"
        return ReportCell(notes=(f"{what}. No score.", *notes))
    errors = [
        MarkedError("error", f"{number} {error.severity}", error.where, error.span, error.severity, error.type,
                    error.start, error.end)
        for number, error in enumerate(one.errors, 1)
    ]  # fmt: skip
    read = (f"Read despite: {', '.join(one.recovered)}.",) if one.recovered else ()
    marked = errors if errors or one.metric.lists_errors else None
    return ReportCell(marked, one.report.explanation, (*notes, *read))


def _verdict(one: Result) -> str:
    """What to make of a row, where that says more than its report: with a probability, or several judgements."""
    several = one.probability is not None or one.agreement is not None
    return one.verdict if several and one.verdict else ""


def _signatures(rows: Iterable[Result]) -> str:
    number = Counter(one.signature for one in rows)
    return "".join(f"<li><code>{escape(name)}</code> ({count} rows)</li>\n" for name, count in number.items())


def _numbers(rows: Sequence[Result], whole: Line, about: Description) -> str:
    """Return every table of the page; those that would be empty are left out."""
    errors = [one.errors for one in rows]
    severities = kinds([error.severity for error in found] for found in errors)
    severities.sort(key=lambda kind: -SEVERITIES.index(kind.name))  # pyright: ignore[reportArgumentType]
    weights = ", ".join(f"{weight} ({severity})" for severity, weight in about.weights.items())
    note = f"Errors add {weights}; {escape(about.legend)}." if weights else about.legend and f"{escape(about.legend)}."
    parts = [
        _distribution("Scores", bands(rows, about), note),
        _kinds("Severities", "severity", severities, "errors"),
        _kinds("Error types", "type", kinds([error.type for error in found] for found in errors), "errors"),
        _kinds("Failures, and why", "reason", kinds([one.failure] for one in rows if one.failure), "rows"),
        _kinds("Verdicts", "verdict", kinds([made] for one in rows if (made := _verdict(one))), "rows"),
        _kinds("Warnings", "warning", kinds(one.warnings for one in rows), "rows"),
    ]
    for by in ("system", "language", "culture"):
        found = lines(rows, by)
        parts.append(_table(f"By {by}", by, [*found, whole], about) if found else "")
    return "".join(parts)


def _distribution(title: str, counted: Sequence[tuple[str, int]], note: str) -> str:
    most, total = max((number for _, number in counted), default=0), sum(number for _, number in counted)
    found = [(name, bar(number, most), number) for name, number in counted]
    return folded_table(title, f"{note} n = {total}.".strip(), ("score", "", "rows"), found)


def _kinds(title: str, head: str, counted: Sequence[Kind], unit: str) -> str:
    if not counted:
        return ""
    most, total = max(kind.times for kind in counted), sum(kind.times for kind in counted)
    found = [(escape(kind.name), bar(kind.times, most), kind.times, kind.rows or "") for kind in counted]
    return folded_table(
        title, f"n = {total} {unit}.", (head, "", unit if unit != "rows" else "times", "in rows"), found
    )


def _table(title: str, head: str, found: Sequence[Line], about: Description) -> str:
    """Return a table of groups; the share of rows with errors only of a metric that lists errors."""
    body: list[tuple[object, ...]] = []
    for one in found:
        share = (one.with_errors, _number(one.share), _interval(one.share_interval)) if about.lists_errors else ()
        body.append(
            (escape(one.name), one.n, one.not_judged, *share, _number(one.score), _interval(one.score_interval))
        )
    shares = ("with errors", "share", "95 % interval") if about.lists_errors else ()
    heads = (head, "n", "failed", *shares, "mean score", "95 % interval")
    what = "Share and mean are of the judged rows." if about.lists_errors else "Means are of the scored rows."
    note = f"{what} A group of few rows has no interval and is too small to conclude from."
    return folded_table(title, note, heads, body)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _interval(bounds: Interval) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"

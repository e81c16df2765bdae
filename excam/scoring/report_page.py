"""Results -> one HTML file to search and filter them (`pages.row_browser`), with distributions and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell, bar, escape, folded_table
from excam.scoring.metric import Description
from excam.scoring.report_numbers import Interval, Kind, Line, bands, kinds, line, lines
from excam.scoring.results import NOT_KNOWN, Result, confidence_lines, part_lines
from excam.scoring.spans import SEVERITIES, Severity

FILTERS = (
    Filter("verdict", "Verdict"),
    Filter("severity", "Severity"),
    Filter("type", "Error type"),
    Filter("language", "Language"),
    Filter("culture", "Culture"),
    Filter("system", "System"),
    Filter("failure", "Failed because"),
    Filter("unknown", "Not known because"),
    Filter("warning", "Warning"),
)
OF_MARKS = ("severity", "type")  # filters that a metric without marked words has not
ORDERS = {"worst": "worst score first", "doubt": "least certain first"}
WITH_ERRORS = {"with errors": "wrong", "without errors": "right", "not judged": "unreadable"}
SCORED = {"scored": "right", "failed": "unreadable"}
UNKNOWN = {"not known": "unreadable"}  # beside these, where a row is not known
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
    total = f"{whole.n} rows: {whole.judged} scored, {whole.failed} failed"
    if about.lists_errors:
        without = whole.judged - whole.with_errors
        total = f"{whole.n} rows: {whole.with_errors} with errors, {without} without, {whole.failed} not judged"
    total += f", {whole.not_known} not known" if whole.not_known else ""
    mean = "" if whole.score is None else f" Mean score {whole.score:.2f} ({escape(about.mean or 'mean')})."
    title = escape(about.title)
    outcomes = _outcomes(about) | (UNKNOWN if whole.not_known else {})
    marks = about.lists_errors or any(row.errors for row in rows)
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
            *(each for each in FILTERS if marks or each.name not in OF_MARKS),
        ),
        orders=ORDERS,
    )
    several = len({row.signature for row in rows}) > 1
    return row_browser.write(browser, (_row(row, several) for row in rows))


def is_own(path: Path) -> bool:
    """Return whether a file is such a page: it may be written again."""
    with path.open("rb") as stream:
        return row_browser.MARK.encode() in stream.read(2000)


def _outcomes(about: Description) -> dict[str, str]:
    """Return what can become of a row, and the tone in which it is shown."""
    return WITH_ERRORS if about.lists_errors else SCORED


def _outcome(row: Result) -> str:
    with_errors, without, failed = WITH_ERRORS if row.metric.lists_errors else ("scored", "scored", "failed")
    if row.failure is not None:
        return next(iter(UNKNOWN)) if row.failure == NOT_KNOWN else failed
    return with_errors if row.errors else without


def _legend(rows: Sequence[Result], about: Description) -> str:
    """Return what marks and scores mean; nothing of marks where there are none."""
    parts = []
    if about.lists_errors or any(row.errors for row in rows):
        for severity in reversed(SEVERITIES):
            weight = f", {about.weights[severity]}".replace("-", "−") if severity in about.weights else ""
            parts.append(MARKS[severity].format(weight) + ".")
        parts.append("The number and its severity stand where the error begins.")
    if about.legend:
        parts.append(f"Score: {escape(about.legend)}.")
    return " ".join(parts)


def _row(row: Result, with_signature: bool) -> BrowserRow:
    outcome = _outcome(row)
    named = {name: getattr(row, name) for name in ("language", "culture", "system")}
    facts = {
        "Score": "none" if row.score is None else _rounded(row.score),
        **({} if row.certainty is None else {_heading(row.metric.certainty): f"{row.certainty:.4f}"}),
        **{name.capitalize(): value for name, value in named.items() if value},
        **{name: _rounded(value) for name, value in row.parts.items() if isinstance(value, int | float)},
        **({"Judged as": row.signature} if with_signature else {}),
    }
    values = {
        "outcome": [outcome],
        "verdict": [_verdict(row)],
        "severity": dict.fromkeys(error.severity for error in row.errors),
        "type": dict.fromkeys(error.type for error in row.errors),
        **{name: [value] for name, value in named.items()},
        "failure": [_failure(row)],
        "unknown": [row.unknown_because],
        "warning": row.warnings,
    }
    return BrowserRow(
        id=row.id,
        outcome=outcome,
        tone=(_outcomes(row.metric) | UNKNOWN)[outcome],
        facts=facts,
        texts=row.texts,
        reports=(_report(row),),
        values={name: [value for value in each if value] for name, each in values.items()},
        keys={"worst": row.rising_score, "doubt": row.certainty},
    )


def _rounded(value: float) -> str:
    """Return a number with at most four digits behind the point."""
    return (f"{round(value, 4):.15g}" if isinstance(value, float) else str(value)).replace("-", "−")


def _heading(name: str) -> str:
    """Return a name with a capital letter, a formula such as p(R) as it is."""
    return name[:1].upper() + name[1:] if name[1:2].isalpha() else name


def _report(row: Result) -> ReportCell:
    said = part_lines({name: value for name, value in row.parts.items() if _is_said(name, value)})
    notes = (*said, *confidence_lines(row), *(f"Warning: {warning}" for warning in row.warnings))
    if row.failure is not None or row.report is None:
        unknown = f"Not known: {row.unknown_because or 'nothing decides'}"
        what = unknown if row.failure == NOT_KNOWN else f"Failed: {row.failure}"
        return ReportCell(notes=(f"{what}. No score.", *notes))
    errors = [
        MarkedError("error", f"{number} {error.severity}", error.where, error.span, error.severity, error.type,
                    error.start, error.end)
        for number, error in enumerate(row.errors, 1)
    ]  # fmt: skip
    read = (f"Read despite: {', '.join(row.recovered)}.",) if row.recovered else ()
    marked = errors if errors or row.metric.lists_errors else None
    return ReportCell(marked, row.report.explanation, (*notes, *read))


def _is_said(name: str, value: object) -> bool:
    """Return whether a part is shown beside the report: numbers stand below the score, a reason is shown already."""
    return not isinstance(value, int | float) and name != "because"


def _failure(row: Result) -> str:
    """Return why a row failed; "" if it did not, or nothing decides about it."""
    return "" if row.failure in (None, NOT_KNOWN) else row.failure or ""


def _verdict(row: Result) -> str:
    """Return what to make of a row where that says more than its report: with a probability, or several judgements."""
    several = row.probability is not None or row.agreement is not None
    return row.verdict if several and row.verdict else ""


def _signatures(rows: Iterable[Result]) -> str:
    number = Counter(row.signature for row in rows)
    return "".join(f"<li><code>{escape(name)}</code> ({count} rows)</li>\n" for name, count in number.items())


def _numbers(rows: Sequence[Result], whole: Line, about: Description) -> str:
    """Return every table of the page; those that would be empty are left out."""
    errors = [row.errors for row in rows]
    severities = kinds([error.severity for error in listed] for listed in errors)
    severities.sort(key=lambda kind: -SEVERITIES.index(kind.name))  # pyright: ignore[reportArgumentType]
    weights = ", ".join(f"{weight} ({severity})" for severity, weight in about.weights.items())
    note = f"Errors add {weights}; {escape(about.legend)}." if weights else about.legend and f"{escape(about.legend)}."
    parts = [
        _distribution("Scores", bands(rows, about), note),
        _kinds("Severities", "severity", severities, "errors"),
        _kinds("Error types", "type", kinds([error.type for error in listed] for listed in errors), "errors"),
        _kinds("Failures, and why", "reason", kinds([why] for row in rows if (why := _failure(row))), "rows"),
        _kinds("Not known, and why", "reason", kinds([why] for row in rows if (why := row.unknown_because)), "rows"),
        _kinds("Verdicts", "verdict", kinds([made] for row in rows if (made := _verdict(row))), "rows"),
        _kinds("Warnings", "warning", kinds(row.warnings for row in rows), "rows"),
    ]
    for by in ("system", "language", "culture"):
        groups = lines(rows, by)
        parts.append(_table(f"By {by}", by, [*groups, whole], about) if groups else "")
    return "".join(parts)


def _distribution(title: str, counted: Sequence[tuple[str, int]], note: str) -> str:
    most, total = max((number for _, number in counted), default=0), sum(number for _, number in counted)
    cells = [(escape(name), bar(number, most), number) for name, number in counted]
    return folded_table(title, f"{note} n = {total}.".strip(), ("score", "", "rows"), cells)


def _kinds(title: str, head: str, counted: Sequence[Kind], unit: str) -> str:
    if not counted:
        return ""
    most, total = max(kind.times for kind in counted), sum(kind.times for kind in counted)
    cells = [(escape(kind.name), bar(kind.times, most), kind.times, kind.rows or "") for kind in counted]
    return folded_table(
        title, f"n = {total} {unit}.", (head, "", unit if unit != "rows" else "times", "in rows"), cells
    )


def _table(title: str, head: str, groups: Sequence[Line], about: Description) -> str:
    """Return a table of groups; the share of rows with errors only of a metric that lists errors."""
    unknown = any(group.not_known for group in groups)
    body: list[tuple[object, ...]] = []
    for group in groups:
        left_out = (group.failed, *((group.not_known,) if unknown else ()))
        share = (group.with_errors, _number(group.share), _interval(group.share_interval)) if about.lists_errors else ()
        mean = (_number(group.score), _interval(group.score_interval))
        body.append((escape(group.name), group.n, *left_out, *share, *mean))
    shares = ("with errors", "share", "95 % interval") if about.lists_errors else ()
    heads = (head, "n", "failed", *(("not known",) if unknown else ()), *shares, "mean score", "95 % interval")
    what = "Share and mean are of the judged rows." if about.lists_errors else "Means are of the scored rows."
    note = f"{what} A group of few rows has no interval and is too small to conclude from."
    return folded_table(title, note, heads, body)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _interval(bounds: Interval) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"

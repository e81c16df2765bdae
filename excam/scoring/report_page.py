"""Results -> one HTML file to search and filter them (`pages.row_browser`), with distributions and tables."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from excam.core.escapes import visible
from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, MarkedError, ReportCell, escape
from excam.scoring import report_charts
from excam.scoring.compare import clusters_of_texts, shared_signature
from excam.scoring.excerpts import excerpts
from excam.scoring.joining import distinct, repeated_note
from excam.scoring.metric import Description
from excam.scoring.report_numbers import FACETS, Bands, bands, line, lines, outcome, outcomes
from excam.scoring.results import FOR_PROGRAMS, NOT_KNOWN, Result, confidence_lines, part_lines
from excam.scoring.spans import SEVERITIES, Severity
from excam.scoring.warnings import UNQUALIFIED, warning_lines

OF_MARKS = ("severity", "type", "word")  # filters that a metric without marked words has not
ORDERS = {"worst": "worst score first", "doubt": "least certain first"}
TONES = {
    **{"with errors": "wrong", "without errors": "right", "not judged": "unreadable"},
    **{"scored": "right", "failed": "unreadable", "not known": "unreadable"},
}
CAUTION = """<p>This page shows what a metric found, not what is true. {errors}The texts were written by others, and
nobody has checked what they say. Control and invisible characters are shown as <span class="control">U+202E</span>.</p>
"""
OF_ERRORS = """A metric can overlook errors and see errors where
there are none; an explanation may sound right and not be the reason; and it takes what most people of a country think
for that country's culture. Errors that an instruction asks for count too. """
MARKS: dict[Severity, str] = {
    "major": '<sup class="tag">1 major</sup><mark class="error major">error</mark>{}',
    "minor": '<sup class="tag">2 minor</sup><mark class="error minor">error</mark>{}',
}


def write(name: str, digest: str, all_rows: Sequence[Result]) -> str:
    """Return the page of a file of results of one judge, with the sha256 of the file that they come from.

    Rows that repeat another under a new id are left out and counted. Raises InputInvalid for several signatures.
    """
    signature = shared_signature({name: all_rows})
    rows = [all_rows[at] for at in distinct([row.id for row in all_rows], [row.content for row in all_rows])]
    about, in_bands, clusters = rows[0].metric, bands(rows, rows[0].metric), clusters_of_texts(rows)
    whole = line("all", rows, clusters)
    title = escape(about.title)
    groups = {by: lines(rows, by, clusters, whole) for by in report_charts.GROUPS}
    marks = about.lists_errors or any(row.errors for row in rows)
    choices = {"outcome": outcomes(about, unknown=whole.not_known > 0), "band": tuple(in_bands.names)}
    browser = Browser(
        title=about.title,
        head=f'<h1>{title}: <span class="system">{escape(name)}</span></h1>\n{_judged(rows, len(all_rows))}'
        + report_charts.numbers(whole, about)
        + _meaning(about)
        + how_right(rows)
        + worst(rows)
        + "<details><summary>What these numbers are worth</summary>\n"
        f"{CAUTION.format(errors=OF_ERRORS if about.lists_errors else '')}"
        f"{_mean(about)}<p>Judged as <code>{escape(signature)}</code></p>\n"
        f"{_warnings(rows)}"
        f"<p>File <code>{escape(name)}</code>, sha256 <code>{digest}</code></p>\n</details>\n"
        + report_charts.charts(rows, about),
        legend=legend(rows, about),
        foot=report_charts.tables(groups, whole, about),
        columns=("Report",),
        filters=[
            Filter(name, facet.label, choices.get(name, ()))
            for name, facet in FACETS.items()
            if marks or name not in OF_MARKS
        ],
        orders=ORDERS,
    )
    return row_browser.write(browser, (_row(row, in_bands) for row in rows))


def is_own(path: Path) -> bool:
    """Return whether a file is such a page: it may be written again."""
    with path.open("rb") as stream:
        return row_browser.MARK.encode() in stream.read(2000)


def legend(rows: Sequence[Result], about: Description) -> str:
    """Return what marks and scores mean; nothing of marks where there are none."""
    parts = []
    if about.lists_errors or any(row.errors for row in rows):
        for severity in reversed(SEVERITIES):
            weight = f" ({about.weights[severity]})".replace("-", "−") if severity in about.weights else ""
            parts.append(MARKS[severity].format(weight) + ".")
    if about.legend:
        parts.append(f"Score: {escape(about.legend)}.")
    return " ".join(parts)


def _row(row: Result, in_bands: Bands) -> BrowserRow:
    became = outcome(row)
    named = {name: getattr(row, name) for name in ("language", "culture", "system")}
    numbers = {name: value for name, value in row.parts.items() if isinstance(value, int | float)}
    facts = {
        "Score": "none" if row.score is None else rounded(row.score),
        **({} if row.certainty is None else {_heading(row.metric.certainty): f"{row.certainty:.4f}"}),
        **{name.capitalize(): value for name, value in named.items() if value},
        **{name: rounded(value) for name, value in numbers.items() if name not in FOR_PROGRAMS},
    }
    values = {name: list(dict.fromkeys(facet.of(row))) for name, facet in FACETS.items()} | {"band": [in_bands.of(row)]}
    return BrowserRow(
        id=row.id,
        outcome=became,
        tone=TONES[became],
        facts=facts,
        texts=row.texts,
        reports=(_report_cell(row),),
        values=values,
        keys={"worst": row.preference, "doubt": row.certainty},
    )


def rounded(value: float) -> str:
    """Return a number with at most four digits behind the point."""
    return (f"{round(value, 4):.15g}" if isinstance(value, float) else str(value)).replace("-", "−")


def _heading(name: str) -> str:
    """Return a name with a capital letter, a formula such as p(R) as it is."""
    return name[:1].upper() + name[1:] if name[1:2].isalpha() else name


def _report_cell(row: Result) -> ReportCell:
    """Return the report on a row."""
    lines = part_lines({name: value for name, value in row.parts.items() if _is_said(name, value)})
    explained = row.report.explanation.casefold() if row.report and lines else ""
    # "expected: tea" is in "Expected: tea (by 1)."
    part_notes = [line for line in lines if line.casefold() not in explained]
    notes = (*part_notes, *confidence_lines(row), *(f"Warning: {warning}" for warning in row.warnings))
    if row.failure is not None or row.report is None:
        unknown = f"Not known: {row.parts.get('because') or 'nothing decides'}"
        what = unknown if row.failure == NOT_KNOWN else f"Failed: {row.failure}"
        return ReportCell(notes=(f"{what}. No score.", *notes), passages=_passages(row))
    errors = [
        MarkedError(
            "error",
            f"{number} {error.severity}",
            error.where,
            error.span,
            error.severity,
            error.type,
            error.start,
            error.end,
        )
        for number, error in enumerate(row.errors, 1)
    ]
    read = (f"Read despite: {', '.join(row.recovered)}.",) if row.recovered else ()
    marked = errors if errors or row.metric.lists_errors else None
    return ReportCell(marked, row.report.explanation, (*notes, *read), _passages(row))


def _passages(row: Result) -> list[tuple[str, str]]:
    """Return what a result cites: the id of each passage with its text, "" where the text was not kept."""
    quoted = (line.partition(": ") for line in _listed(row.parts.get("passages")))
    texts = {name: text for name, _, text in quoted}
    return list((dict.fromkeys(_listed(row.parts.get("evidence")), "") | texts).items())


def _listed(value: object) -> list[str]:
    """Return the texts of a list; nothing for any other value."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else []  # pyright: ignore[reportUnknownVariableType]


def _judged(rows: Sequence[Result], in_file: int) -> str:
    """Return the line with the number of rows and what judged, the head of its signature."""
    head, note = "|".join(rows[0].signature.split("|")[:2]), repeated_note(in_file - len(rows))
    return f"<p>{len(rows):,} rows, judged by <code>{escape(head)}</code>.{note}</p>\n"


def _meaning(about: Description) -> str:
    """Return in words what the score of a row is: what an error costs, and what a score without errors says."""
    by_cost = sorted(about.weights.items(), key=lambda weight: weight[1])
    costs = [f"{rounded(weight)} a {severity} error" for severity, weight in by_cost]
    words = [f"{', '.join(costs)}."] if costs and about.lists_errors else []
    words += [f"{escape(about.legend[:1].upper() + about.legend[1:])}."] if about.legend else []
    return f"<p>What a score means: {' '.join(words)}</p>\n" if words else ""


def worst(rows: Sequence[Result]) -> str:
    """Return the text with the worst score: its marked words, why, and the passage that says so; "" without errors."""
    row = min((row for row in rows if row.errors), key=lambda row: (row.score or 0.0, row.id), default=None)
    if row is None:
        return ""
    texts = [f"<dt>{escape(name)}</dt><dd>{_marked(row, name)}</dd>" for name in row.texts]
    why = [row.report.explanation] if row.report and row.report.explanation else []
    kinds = dict.fromkeys(f"{error.severity}: {error.type}" for error in row.errors)
    reason = f"<dt>why</dt><dd>{escape('; '.join([*kinds, *why]))}</dd>"
    cited = "".join(
        f"<dt>passage</dt><dd>{escape(f'{name}: {text}' if text else name)}</dd>" for name, text in _passages(row)[:1]
    )
    return f"""<section class="worst"><h2>The worst text: {rounded(row.score or 0)}, row {escape(row.id)}</h2>
<dl>{"".join(texts)}{reason}{cited}</dl></section>\n"""


def _marked(row: Result, name: str) -> str:
    """Return a text as HTML with its wrong words marked; of a long one, the parts around them."""
    text = row.texts.get(name, "")
    spans = [(error.start, error.end) for error in row.errors if error.where == name and error.start >= 0]
    parts: list[str] = []
    at = 0
    for start, end in excerpts(text, spans):
        parts.append(" … " if start > at else "")
        at = start
        for first, last in sorted(spans):
            if at <= first and last <= end:
                parts += [_plain(text[at:first]), f"<mark>{_plain(text[first:last])}</mark>"]
                at = last
        parts.append(_plain(text[at:end]))
        at = end
    return "".join(parts) + (" … " if at < len(text) else "")


def _plain(text: str) -> str:
    return html.escape(visible(text))


def _mean(about: Description) -> str:
    return f"<p>Mean score: {escape(about.mean)}</p>\n" if about.mean else ""


def how_right(rows: Sequence[Result]) -> str:
    """Return how often the judge of the rows was right on labelled rows, or that nobody knows; "" for no judge."""
    sentences = [f"{escape(text)}." for text in dict.fromkeys(row.metric.measured for row in rows) if text]
    if any(UNQUALIFIED in row.warnings for row in rows):
        sentences.append("Nobody knows (<code>excam calibrate</code>).")
    return f"<p>How often is this judge right? {' '.join(sentences)}</p>\n" if sentences else ""


def _is_said(name: str, value: object) -> bool:
    """Return whether a part is a note: numbers stand below the score, a reason and passages elsewhere."""
    has_place = name == "because" or (name in ("passages", "evidence") and len(_listed(value)) > 0)
    return not isinstance(value, int | float) and not has_place


def _warnings(rows: Iterable[Result]) -> str:
    """Return what the codes of warnings mean, with the rows that carry them; nothing where there is none."""
    lines = warning_lines(Counter(code for row in rows for code in row.warnings))
    listed = "".join(f"<li>{escape(text.removeprefix('warning: '))}</li>\n" for text in lines)
    return f"<p>Warnings:</p>\n<ul>\n{listed}</ul>\n" if lines else ""

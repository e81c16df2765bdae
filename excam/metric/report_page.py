"""Scored pairs -> one HTML file that needs nothing else (`excam.pages`): marked texts, filters, distributions, tables.

Numbers stand in the page as it is written; rows travel packed and are listed by the page's own script, which shares
searching, filtering and marking with the pages of `excam.browsing`.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from excam.browsing.page import asset as shared
from excam.browsing.rows import utf16_offset
from excam.escapes import visible
from excam.metric.report_numbers import Interval, Kind, Line, bands, kinds, line, lines
from excam.metric.scored import Scored, sureness
from excam.pages import filled, packed, policy, signs
from excam.records import SEVERITIES

ASSETS = Path(__file__).parent / "assets"
COLUMNS = (
    *("id", "language", "culture", "system", "score", "certainty", "failure", "recovered", "warnings"),
    *("signature", "instruction", "output", "errors", "explanation", "verdict", "sureness"),
)


def write(name: str, digest: str, rows: Sequence[Scored]) -> str:
    """The page of a file of scored pairs, with the sha256 of the file that they come from."""
    style = shared("texts.css") + _asset("report.css")
    script = signs() + shared("texts.js") + shared("browse.js") + _asset("report.js")
    whole = line("all", rows)
    return filled(
        _asset("report.html"),
        {
            "policy": policy(style, script),
            "style": style,
            "script": script,
            "name": _escaped(name),
            "digest": digest,
            "signatures": _signatures(rows),
            "sum": f"{whole.n} rows: {whole.with_errors} with errors, "
            f"{whole.n - whole.not_judged - whole.with_errors} without, {whole.not_judged} not judged",
            "numbers": _numbers(rows, whole),
            "data": packed({"columns": COLUMNS, "rows": [_row(one) for one in rows]}),
        },
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    """A text in the page: no markup, no control character, and its direction is its own affair."""
    return f"<bdi>{html.escape(visible(text))}</bdi>"


def _row(one: Scored) -> list[Any]:
    report = one.report
    told = {
        "recovered": list(one.recovered),
        "warnings": list(one.warnings),
        "errors": [
            [error.where, error.span, error.severity, error.type, *_offsets(one, error.where, error.start, error.end)]
            for error in (report.errors if report else ())
        ],
        "explanation": report.explanation if report else "",
        "verdict": _verdict(one),
        "sureness": sureness(one),
    }
    return [told[name] if name in told else getattr(one, name) for name in COLUMNS]


def _verdict(one: Scored) -> str:
    """What to make of a row, where that says more than its report: with a probability, or several judgements."""
    several = one.probability is not None or one.agreement is not None
    return one.verdict if several and one.verdict else ""


def _offsets(one: Scored, where: str, *places: int) -> list[int]:
    """As a browser counts them."""
    return [utf16_offset(getattr(one, where), place) for place in places]


def _signatures(rows: Iterable[Scored]) -> str:
    number = Counter(one.signature for one in rows)
    return "".join(f"<li><code>{_escaped(name)}</code> ({count} rows)</li>\n" for name, count in number.items())


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
    body = "".join(
        f'<tr><th scope="row">{name}</th><td>{_bar(number, most)}</td><td>{number}</td></tr>\n'
        for name, number in counted
    )
    return _folded(title, f"{note} n = {total}.", ("score", "", "rows"), body)


def _kinds(title: str, head: str, counted: Sequence[Kind], unit: str) -> str:
    if not counted:
        return ""
    most, total = max(kind.times for kind in counted), sum(kind.times for kind in counted)
    body = "".join(
        f'<tr><th scope="row">{_escaped(kind.name)}</th><td>{_bar(kind.times, most)}</td><td>{kind.times}</td>'
        f"<td>{kind.rows or ''}</td></tr>\n"
        for kind in counted
    )
    return _folded(title, f"n = {total} {unit}.", (head, "", unit if unit != "rows" else "times", "in rows"), body)


def _table(title: str, head: str, found: Sequence[Line]) -> str:
    body = "".join(
        f'<tr><th scope="row">{_escaped(one.name)}</th><td>{one.n}</td><td>{one.not_judged}</td>'
        f"<td>{one.with_errors}</td><td>{_number(one.share)}</td><td>{_interval(one.share_interval)}</td>"
        f"<td>{_number(one.score)}</td><td>{_interval(one.score_interval)}</td></tr>\n"
        for one in found
    )
    heads = (head, "n", "not judged", "with errors", "share", "95 % interval", "mean score", "95 % interval")
    note = (
        "Share and mean are of the rows that could be judged. Groups of few rows have no interval, and prove nothing."
    )
    return _folded(title, note, heads, body)


def _folded(title: str, note: str, heads: Sequence[str], body: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f'<details class="counts"><summary>{title}</summary>\n<p>{note}</p>\n<div class="wide" tabindex="0" '
        f'role="region" aria-label="{title}"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n'
        "</table></div></details>\n"
    )


def _bar(number: int, most: int) -> str:
    width = 100 * number / most if most else 0
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="10"/></svg>'
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _interval(bounds: Interval) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"

"""Rows with texts, marked errors and reports -> one HTML file to search and filter them, that needs nothing else.

Rows are packed for size: `snakemake --report` puts the page into the address of a frame, where Chromium shows nothing
of more than 2 MiB (`FITS`).
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from excam.core.escapes import visible
from excam.pages.html import content_security_policy, fill_template, pack_json_with_rows, shared_script

ASSETS = Path(__file__).parent / "assets"
MARK = '<meta name="generator" content="excam">'  # in the head of every page
FITS = 1_570_000  # bytes of a page whose address, four signs for three bytes, Chromium opens in a frame


@dataclass(frozen=True, slots=True)
class MarkedError:
    """An error of a report. `kind` (error, found, gold) decides how it is marked, `tag` is shown where it begins.

    `where` is the title of a text; the offsets count characters of that text, -1 where the span is not in it.
    """

    kind: str
    tag: str
    where: str
    span: str
    severity: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReportCell:
    """A report on a row: its errors (None where there is no report), their explanation, notes, and what it cites.

    `passages` are pairs of an id, which may be a web address, and the text that the reader unfolds.
    """

    errors: Sequence[MarkedError] | None = None
    explanation: str = ""
    notes: Sequence[str] = ()
    passages: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class BrowserRow:
    """What the page shows of a row, one ReportCell per report column, and by what it can be filtered and sorted."""

    id: str
    outcome: str
    tone: str  # right, wrong or unreadable: the sign and colour of the outcome
    facts: Mapping[str, str]
    texts: Mapping[str, str]
    reports: Sequence[ReportCell]
    values: Mapping[str, Sequence[str]]  # of each filter; an empty one is none
    keys: Mapping[str, float | None] = field(default_factory=dict)  # of each order


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: `choices` stand first, other values follow, below the heading `others` if there is one."""

    name: str
    label: str
    choices: Sequence[str] = ()
    others: str = ""


@dataclass(frozen=True, slots=True)
class Browser:
    """A page but for its rows. `head`, `legend` and `foot` are HTML; one filter has the name `outcome`.

    `orders` holds the label of each order; rows are sorted by the key of that name, "" is the order in which they come.
    """

    title: str
    head: str
    columns: Sequence[str]  # of reports
    filters: Sequence[Filter]
    legend: str = ""
    foot: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)


def write(browser: Browser, rows: Iterable[BrowserRow]) -> str:
    """Return the page."""
    style, script = asset("rows.css"), shared_script() + asset("rows.js")
    lists: dict[tuple[str, ...], int] = {}  # each written once: most rows share theirs with others
    selects = [
        f'<label>{row_filter.label} <select id="{row_filter.name}" name="{row_filter.name}"></select></label>'
        for row_filter in browser.filters
    ]
    if browser.orders:
        orders = {"": "as in the file", **browser.orders}
        options = "".join(f'<option value="{key}">{label}</option>' for key, label in orders.items())
        selects.append(f'<label>Order <select id="order" name="order">{options}</select></label>')
    return fill_template(
        asset("rows.html"),
        {
            "policy": content_security_policy(style, script),
            "title": html.escape(browser.title),
            "style": style,
            "script": script,
            "head": browser.head,
            "legend": browser.legend,
            "foot": browser.foot,
            "selects": "".join(f"{select}\n" for select in selects),
            "columns": "".join(
                f'<th scope="col" role="columnheader">{escape(name)}</th>'
                for name in ("Row", "Texts", *browser.columns)
            ),
            "data": pack_json_with_rows(
                lambda: {
                    "filters": [
                        {"name": row_filter.name, "choices": row_filter.choices, "others": row_filter.others}
                        for row_filter in browser.filters
                    ],
                    "orders": list(browser.orders),
                    "columns": browser.columns,
                    "lists": list(lists),
                },
                (_packed(row, browser.filters, lists) for row in rows),
            ),
        },
    )


def _packed(row: BrowserRow, filters: Sequence[Filter], lists: dict[tuple[str, ...], int]) -> tuple[Any, ...]:
    """Return a row for the page; of its lists of values, without empty ones, their places in `lists`."""
    reports = [
        (errors and [_for_browser(error, row.texts) for error in errors], cell.explanation, cell.notes, cell.passages)
        for cell in row.reports
        for errors in [cell.errors]
    ]
    keys = [tuple(filter(None, row.values.get(row_filter.name, ()))) for row_filter in filters]
    values = [lists.setdefault(key, len(lists)) for key in keys]
    return row.id, row.outcome, row.tone, row.facts, row.texts, reports, values, row.keys


def _for_browser(error: MarkedError, texts: Mapping[str, str]) -> tuple[Any, ...]:
    start, end = (utf16_offset(texts[error.where], offset) for offset in (error.start, error.end))
    return error.kind, error.tag, error.where, error.span, error.severity, error.type, start, end


def utf16_offset(text: str, offset: int) -> int:
    """An offset in characters as one in UTF-16 units, in which JavaScript counts: an emoji is two of them."""
    if offset <= 0 or text.isascii():
        return offset
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def asset(name: str) -> str:
    """Return one of the files that the page is put together from."""
    return (ASSETS / name).read_text(encoding="utf-8")


def escape(text: str) -> str:
    """Return a text for the page's HTML: no markup, no control character, and with a direction of its own."""
    return f"<bdi>{html.escape(visible(text))}</bdi>"


def folded_table(title: str, note: str, heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table that the reader unfolds; the first cell of a line is its head, cells must be HTML already."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
        for name, *cells in lines
    )
    return (
        f'<details class="counts"><summary>{title}</summary>\n<p>{note}</p>\n<div class="wide" tabindex="0" '
        f'role="region" aria-label="{title}"><table aria-label="{title}">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n"
        "</table></div></details>\n"
    )

"""Bar charts of a row browser: each bar is a button that sets a filter of the page, and shows that it is set."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass

from excam.pages.row_browser import escape

SHOWN = 6  # bars of a chart with many; the filter has the others


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. `parts` are its pieces from the left: their tone (major, minor, plain; "" for a gap) and share
    of the width.

    `value` is the choice of the filter, None where no choice selects these rows. `interval` is a line over the bar.
    """

    label: str
    value: str | None
    number: str
    parts: Sequence[tuple[str, float]]
    interval: tuple[float, float] | None = None


def chart(title: str, filter_name: str, note: str, bars: Sequence[Bar]) -> str:
    """Return a chart whose bars set the filter of this name; "" without bars. `note` says what is counted, and n."""
    if not bars:
        return ""
    lines = "".join(f"<li>{_bar(bar, filter_name)}</li>\n" for bar in bars)
    inside = f"<h2>{title}</h2>\n<p>{note}</p>\n<ul>\n{lines}</ul>\n"
    return f'<section class="chart" aria-label="{title}">\n{inside}</section>\n'


def _bar(bar: Bar, filter_name: str) -> str:
    drawn, at = "", 0.0
    for tone, share in bar.parts:
        if tone:
            drawn += f'<rect class="{tone}" x="{100 * at:.1f}" width="{100 * share:.1f}" height="10"/>'
        at += share
    if bar.interval:
        low, high = (100 * bound for bound in bar.interval)
        drawn += f'<rect class="interval" x="{low:.1f}" width="{high - low:.1f}" y="4" height="2"/>'
    inside = (
        f'<span class="name">{escape(bar.label)}</span> <span class="number">{bar.number}</span>'
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'
    )
    if bar.value is None:
        return f'<span class="bar">{inside}</span>'
    value = html.escape(json.dumps(bar.value))  # JSON: an attribute holds no half of a character
    return (
        f'<button type="button" class="bar" aria-pressed="false" data-filter="{filter_name}" data-value="{value}">'
        f"{inside}</button>"
    )

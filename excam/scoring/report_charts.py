"""What stands above the rows of a report: the numbers that matter, charts whose bars are filters; and tables below."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from excam.pages.row_browser import escape, folded_table
from excam.scoring.metric import Description
from excam.scoring.report_numbers import FACETS, Interval, Line, counts, kinds
from excam.scoring.results import Result
from excam.stats.few_clusters import FEWEST

GROUPS = ("language", "culture", "system")
CHARTS = ("outcome", "severity", "type", "word", "band", *GROUPS, "failure", "unknown", "verdict", "warning")
SHOWN = 6  # bars of a chart with many; the filter has the others
Groups = Mapping[str, Sequence[Line]]  # of rows, by each of GROUPS


def numbers(whole: Line, about: Description) -> str:
    """Return the numbers that matter, with their intervals over clusters of rows, and denominators."""
    left_out = whole.n - whole.judged
    because = f"{whole.failed} failed" + (f", {whole.not_known} not known" if whole.not_known else "")
    items: list[tuple[str, str, str]] = []
    if about.lists_errors and whole.share is not None:
        share = f"{percent(whole.share)}{bounds_of(whole.share_interval, percent)}"
        items.append(("Rows with errors", share, f"{whole.with_errors} of {whole.judged} judged"))
    if whole.score is not None:
        mean = f"{two(whole.score)}{bounds_of(whole.score_interval, two)}"
        items.append(("Mean score", mean, f"n = {whole.judged}"))
    share = f"{percent(left_out / whole.n)}{bounds_of(whole.left_out_interval, percent)}"
    items.append(("Without a score", share, f"{left_out} of {whole.n}" + (f": {because}" if left_out else "")))
    return number_list(items, has_intervals=whole.score_interval is not None)


def number_list(items: Iterable[tuple[str, str, str]], *, has_intervals: bool) -> str:
    """Return numbers as HTML: the name of each, the number with its interval, and of how many it is."""
    cells = "".join(f"<div><dt>{name}</dt><dd>{number}<small>{of}</small></dd></div>\n" for name, number, of in items)
    note = "In brackets: 95 % interval."
    note = note if has_intervals else f"{note} Means have none: fewer than {FEWEST} unrelated rows, or equal ones."
    return f'<dl class="numbers">\n{cells}</dl>\n<p class="quiet">{note}</p>\n'


def charts(rows: Sequence[Result], about: Description) -> str:
    """Return the charts; those that would be empty are left out."""
    drawn = ""
    for name in CHARTS:
        facet = FACETS[name]
        values = (value for row in rows for value in facet.of(row) if value or facet.unit != "rows")
        counted = counts(rows, about) if name == "band" else kinds(values)
        drawn += chart(facet.chart, name, counted, facet.unit, shown=len(counted) if name == "band" else SHOWN)
    label = "Charts of all rows; a bar filters the rows"
    place = f'<div class="charts" role="region" aria-label="{label}" tabindex="0">\n{drawn}</div>'
    return f'<details class="folded" open><summary>Charts</summary>\n{place}</details>\n'


def chart(title: str, filter_name: str, counted: Sequence[tuple[str, int]], unit: str, shown: int) -> str:
    """Return a chart whose bars set a filter of the page; "" without kinds.

    Args:
        title: above the chart
        filter_name: the filter that a bar sets
        counted: the kinds and how often they occur, in the order of their bars
        unit: what is counted, such as "rows"
        shown: the most bars
    """
    if not counted:
        return ""
    most = max(times for _, times in counted)
    bars = "".join(f"<li>{_bar(*kind, most, filter_name)}</li>\n" for kind in counted[:shown])
    more = f", {len(counted)} kinds" if len(counted) > shown else ""
    note = f"{unit}, n = {sum(times for _, times in counted):,}{more}"
    inside = f"<h2>{title}</h2>\n<p>{note}</p>\n<ul>\n{bars}</ul>\n"
    return f'<section class="chart" aria-label="{title}">\n{inside}</section>\n'


def _bar(name: str, times: int, most: int, filter_name: str) -> str:
    kind = name if filter_name == "severity" else "plain"
    value = html.escape(json.dumps(name))  # JSON: an attribute holds no half of a character
    return (
        f'<button type="button" class="bar" aria-pressed="false" data-filter="{filter_name}" data-value="{value}">'
        f'<span class="name">{escape(name)}</span> <span class="number">{times}</span>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" width="{100 * (times / most):.1f}" height="10"/>'
        "</svg></button>"
    )


def tables(groups: Groups, whole: Line, about: Description) -> str:
    """Return the tables by language, culture and system; those without groups are left out."""
    return "".join(_table(f"By {by}", by, [*lines, whole], about) for by, lines in groups.items() if lines)


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def bounds_of(bounds: Interval, written: Callable[[float], str]) -> str:
    return f" [{written(bounds[0])}, {written(bounds[1])}]".replace(" %,", ",") if bounds else ""


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
    note = f"{what} A mean of few rows has no interval and is too small to conclude from."
    return folded_table(title, note, heads, body)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _interval(bounds: Interval) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"

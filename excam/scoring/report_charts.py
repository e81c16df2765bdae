"""What stands above the rows of a report: the numbers that matter, charts whose bars are filters; and tables below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from excam.pages.bar_charts import SHOWN, Bar, chart
from excam.pages.row_browser import escape, folded_table
from excam.scoring.metric import Description
from excam.scoring.report_numbers import Interval, Kind, Line, counts, failure, kinds, outcome, verdict, words
from excam.scoring.results import Result
from excam.scoring.spans import SEVERITIES, ErrorSpan
from excam.stats.few_clusters import FEWEST

GROUPS = {"language": "Languages", "culture": "Cultures", "system": "Systems"}
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


def charts(rows: Sequence[Result], groups: Groups, about: Description) -> str:
    """Return the charts; those that would be empty are left out."""
    errors = [error for row in rows for error in row.errors]
    severities = kinds(error.severity for error in errors)
    severities.sort(key=lambda kind: -SEVERITIES.index(kind.name))  # pyright: ignore[reportArgumentType]
    parts = [
        of_kinds("Outcome", "outcome", kinds(map(outcome, rows)), "rows"),
        _of_severities(severities),
        _of_types(errors),
        of_kinds("Most frequent wrong words", "word", kinds(map(words, errors)), "errors"),
        _of_bands(counts(rows, about)),
        *(_of_groups(by, groups[by], {getattr(row, by) for row in rows}, about) for by in GROUPS),
        of_kinds("Failures, and why", "failure", kinds(filter(None, map(failure, rows))), "rows"),
        of_kinds("Not known, and why", "unknown", kinds(filter(None, (row.unknown_because for row in rows))), "rows"),
        of_kinds("Verdicts", "verdict", kinds(filter(None, map(verdict, rows))), "rows"),
        of_kinds("Warnings", "warning", kinds(warning for row in rows for warning in row.warnings), "warnings"),
    ]
    return region(parts)


def tables(groups: Groups, whole: Line, about: Description) -> str:
    """Return the tables by language, culture and system; those without groups are left out."""
    return "".join(_table(f"By {by}", by, [*lines, whole], about) for by, lines in groups.items() if lines)


def region(parts: Iterable[str]) -> str:
    """Return the place of some charts, which a narrow screen shows on demand."""
    label = "Charts of all rows; a bar filters the rows"
    place = f'<div class="charts" role="region" aria-label="{label}" tabindex="0">\n{"".join(parts)}</div>'
    return f'<details class="folded" open><summary>Charts</summary>\n{place}</details>\n'


def of_kinds(title: str, filter_name: str, counted: Sequence[Kind], unit: str) -> str:
    """Return the chart of the most frequent kinds.

    Args:
        title: above the chart
        filter_name: the filter that a bar sets
        counted: the kinds, the most frequent first
        unit: what is counted, such as "rows"
    """
    most = max((kind.times for kind in counted), default=0)
    bars = [Bar(kind.name, kind.name, str(kind.times), [("plain", kind.times / most)]) for kind in counted[:SHOWN]]
    return chart(title, filter_name, _note(counted, unit), bars)


def _note(counted: Sequence[Kind], unit: str) -> str:
    """Return what a chart counts: all of the kinds, also where only the most frequent have a bar."""
    more = f", {len(counted)} kinds" if len(counted) > SHOWN else ""
    return f"{unit}, n = {sum(kind.times for kind in counted):,}{more}"


def _of_severities(counted: Sequence[Kind]) -> str:
    most = max((kind.times for kind in counted), default=0)
    bars = [Bar(kind.name, kind.name, str(kind.times), [(kind.name, kind.times / most)]) for kind in counted]
    return chart("Severities", "severity", _note(counted, "errors"), bars)


def _of_types(errors: Sequence[ErrorSpan]) -> str:
    """Return the chart of error types; the part of a bar on the left is that of its major errors."""
    counted = kinds(error.type for error in errors)
    major = Counter(error.type for error in errors if error.severity == "major")
    most = max((kind.times for kind in counted), default=0)
    bars = []
    for kind in counted[:SHOWN]:
        parts = [("major", major[kind.name] / most), ("minor", (kind.times - major[kind.name]) / most)]
        bars.append(Bar(kind.name, kind.name, f"{kind.times} ({major[kind.name]} major)", parts))
    return chart("Error types", "type", f"{_note(counted, 'errors')}; major on the left", bars)


def _of_bands(counted: Sequence[tuple[str, int]]) -> str:
    most = max(number for _, number in counted)
    bars = [Bar(name, name, str(number), [("plain", number / most)]) for name, number in counted]
    return chart("Scores", "band", f"rows, n = {sum(number for _, number in counted):,}", bars)


def _of_groups(by: str, groups: Sequence[Line], choices: Container[str], about: Description) -> str:
    """Return the chart of groups: the share of rows with errors, or of another metric the mean in its range."""
    named = groups[:SHOWN]
    written: Callable[[float], str] = percent if about.lists_errors else two
    measured = [
        (each.share, each.share_interval) if about.lists_errors else (each.score, each.score_interval) for each in named
    ]
    low, high = (0.0, 1.0) if about.lists_errors else about.range or _reach(measured)
    bars = []
    for group, (value, bounds) in zip(named, measured, strict=True):
        number = "no score" if value is None else f"{written(value)}{bounds_of(bounds, written)}"
        parts, interval = _drawn(value, bounds, low, high) if value is not None and high > low else ([], None)
        choice = group.name if group.name in choices else None  # no filter has the rows without a name
        bars.append(Bar(group.name, choice, f"{number}, n = {group.judged}", parts, interval))
    what = "Rows with errors, of those judged" if about.lists_errors else "Mean score"
    more = f"; the largest {SHOWN} of {len(groups)}" if len(groups) > SHOWN else ""
    return chart(GROUPS[by], by, f"{what}{more}", bars)


def _drawn(value: float, bounds: Interval, low: float, high: float) -> tuple[list[tuple[str, float]], Interval]:
    """Return the pieces of a bar from 0, or from the end of the range that is nearest to 0, and its interval's line."""

    def place(number: float) -> float:
        return (number - low) / (high - low)

    base = place(min(max(0.0, low), high))
    start, end = sorted((base, place(value)))
    return [("", start), ("plain", end - start)], (place(bounds[0]), place(bounds[1])) if bounds else None


def _reach(measured: Iterable[tuple[float | None, Interval]]) -> tuple[float, float]:
    """Return the range of means and their intervals, with 0, for a metric that states none."""
    values = [0.0, *(each for value, bounds in measured for each in (value, *(bounds or ())) if each is not None)]
    return min(values), max(values)


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

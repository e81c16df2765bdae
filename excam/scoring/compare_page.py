"""Two systems on the same rows -> one HTML file: their rows side by side, those that differ most first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, escape
from excam.scoring import compare, report_charts, report_page
from excam.scoring.compare import Comparison, MatchedRows, Measure, System
from excam.scoring.compare_display import denominators
from excam.scoring.report_numbers import kinds
from excam.scoring.results import Result

BETTER = ("A better", "B better", "equal")
FILTERS = (
    Filter("type_a", "Error type, A"),
    Filter("type_b", "Error type, B"),
    Filter("language", "Language"),
    Filter("culture", "Culture"),
)
ORDERS = {"": "largest difference first", "a": "A worse first", "b": "B worse first"}


def write(a: System, b: System) -> str:
    """Return the page. Raises InputInvalid for files that cannot be compared, see `compare.compare`."""
    (comparison,) = compare.compare([a, b], rows=0)
    couples = sorted(
        comparison.couples, key=lambda couple: (-abs(_difference(couple) or 0.0), _difference(couple) is None)
    )
    about, how_right = comparison.metric, report_page.how_right([*a[1], *b[1]])
    browser = Browser(
        title=f"{about.title}: two systems",
        head=f"<h1>{escape(about.title)}: two systems</h1>\n{_heading(comparison)}{how_right}{_charts(couples)}",
        legend=report_page.legend([*a[1], *b[1]], about),
        foot="",
        columns=("A", "B"),
        filters=(Filter("outcome", "Better", (*BETTER, *_not_judged(couples))), *FILTERS),
        orders=ORDERS,
    )
    return row_browser.write(browser, map(_row, couples))


def _heading(comparison: Comparison) -> str:
    numbers = [number for measure in comparison.measures for number in _numbers(measure)]
    intervals = comparison.measures[0].low is not None
    note = f"{denominators(comparison.counts)} {comparison.joined}"
    return (
        f'<p>A: <span class="system">{escape(comparison.a)}</span>; '
        f'B: <span class="system">{escape(comparison.b)}</span>; {escape(compare.what_decides(comparison.metric))}; '
        f"both judged by <code>{escape(comparison.signature)}</code></p>\n"
        f"{report_charts.number_list(numbers, has_intervals=intervals)}<p>{escape(note.strip())}</p>\n"
    )


def _numbers(measure: Measure) -> list[tuple[str, str, str]]:
    """Return a measure as numbers: A beside B, and their difference with its interval and test."""
    two = report_charts.two
    name = {"score": "Mean score", "severity": "Mean severity"}.get(measure.name, "Rows with errors")
    interval = None if measure.low is None or measure.high is None else (measure.low, measure.high)
    tested = "" if measure.p_holm is None else f"p = {measure.p_holm:.4f}, adjusted for the number of tests (Holm); "
    wins = f"A better {measure.a_better}, B better {measure.b_better}, equal {measure.ties}"
    return [
        (f"{name}, A and B", f"{two(measure.a)} and {two(measure.b)}", f"n = {measure.n} rows of both"),
        (f"{name}, A − B", f"{two(measure.difference)}{report_charts.bounds_of(interval, two)}", tested + wins),
    ]


def _charts(couples: Sequence[MatchedRows]) -> str:
    types = [
        report_charts.of_kinds(
            f"Error types, {name}",
            f"type_{name.lower()}",
            kinds(error.type for couple in couples for error in couple[side].errors),
            "errors",
        )
        for side, name in enumerate("AB")
    ]
    by_label = [
        report_charts.of_kinds(name, by, kinds(filter(None, (_label(couple, by) for couple in couples))), "rows")
        for by, name in (("language", "Languages"), ("culture", "Cultures"))
    ]
    better = report_charts.of_kinds("Which is better", "outcome", kinds(map(_outcome, couples)), "rows")
    return report_charts.region([better, *types, *by_label])


def _difference(couple: MatchedRows) -> float | None:
    """Return by how much A is better than B, below 0 if B is better; None where one has no score."""
    a, b = (result.preference for result in couple)
    return None if a is None or b is None else a - b


def _outcome(couple: MatchedRows) -> str:
    difference = _difference(couple)
    if difference is None:
        without = [name for name, result in zip("AB", couple, strict=True) if result.score is None]
        return f"no score of {' and '.join(without)}"
    return BETTER[2] if difference == 0 else BETTER[difference < 0]


def _not_judged(couples: Sequence[MatchedRows]) -> list[str]:
    return sorted({_outcome(couple) for couple in couples} - set(BETTER))


def _label(couple: MatchedRows, name: str) -> str:
    return getattr(couple[0], name) or getattr(couple[1], name)


def _row(couple: MatchedRows) -> BrowserRow:
    outcome, difference = _outcome(couple), _difference(couple)
    titles = _titles(couple)
    labels = {name: _label(couple, name) for name in ("language", "culture")}
    scores = [None if result.score is None else report_page.rounded(result.score) for result in couple]
    facts = {"Score A": scores[0] or "none", "Score B": scores[1] or "none"}
    if difference is not None:
        facts["A − B"] = report_page.rounded(difference)
    texts = {title: result.texts[name] for result, of in zip(couple, titles, strict=True) for name, title in of.items()}
    types = {
        f"type_{name}": dict.fromkeys(e.type for e in result.errors) for name, result in zip("ab", couple, strict=True)
    }
    return BrowserRow(
        id=couple[0].id,
        outcome=outcome,
        tone="unreadable" if difference is None else "right",
        facts=facts | {name.capitalize(): value for name, value in labels.items() if value},
        texts=texts,
        reports=[
            report_page.report_cell(result, of, side) for result, of, side in zip(couple, titles, "AB", strict=True)
        ],
        values={"outcome": [outcome], **{name: list(values) for name, values in types.items()}}
        | {name: [value] if value else [] for name, value in labels.items()},
        keys={"a": difference, "b": None if difference is None else -difference},
    )


def _titles(couple: MatchedRows) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the title of each text of A and of B: one that both have is shown once."""
    a, b = couple
    shared = {name for name, text in a.texts.items() if b.texts.get(name) == text}

    def titles(result: Result, side: str) -> dict[str, str]:
        return {name: name if name in shared else f"{name}, {side}" for name in result.texts}

    return titles(a, "A"), titles(b, "B")

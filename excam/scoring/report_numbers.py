"""What a file of scored pairs says as a whole: how many rows came out how, by language, culture and system.

Pure functions on scored pairs. Every table says how many rows it is about and how many of them could not be judged; its
lines add up to all rows. Intervals take rows that share content as one, and are left out where too few could be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from excam.scoring.compare import clusters_of_texts, mean_interval
from excam.scoring.metric import Description
from excam.scoring.results import NOT_KNOWN, Result
from excam.scoring.spans import ErrorSpan
from excam.stats import bootstrap

MOST = 200  # groups of a table; what is behind is added up in one
BANDS = (-20, -10, -5, -2)  # upper edges of the bands of scores below -1
WITH_ERRORS = ("with errors", "without errors", "not judged")  # outcomes of a metric that lists errors
SCORED = ("scored", "scored", "failed")  # of any other
LONGEST_WORDS = 60  # characters of wrong words in a chart
ROUNDING = 1e-9  # of a band's width: a score on an edge is in the band above
Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Line:
    """Some of the rows. Share and mean are of those that were judged, None where none was.

    A row that was not judged either failed or is not known: nothing decides about it.
    """

    name: str
    n: int
    failed: int
    not_known: int
    with_errors: int
    share: float | None
    share_interval: Interval
    score: float | None
    score_interval: Interval
    left_out_interval: Interval  # of the share that was not judged

    @property
    def judged(self) -> int:
        """Return how many rows have a score."""
        return self.n - self.failed - self.not_known


def line(name: str, rows: Sequence[Result], clusters: Sequence[Hashable] | None = None) -> Line:
    """Return the counts of the rows, the share that has errors and the mean score, with 95 % intervals.

    `clusters` has that of each row, by default what `clusters_of_texts` says.
    """
    clusters = clusters or clusters_of_texts(rows)
    judged = [(row, row.score) for row in rows if row.score is not None]
    not_known = sum(row.failure == NOT_KNOWN for row in rows)
    wrong = [float(bool(row.errors)) for row, _ in judged]
    scores = [score for _, score in judged]
    left_out = bootstrap.share_interval([row.score is None for row in rows], None, clusters)
    clusters = [name for row, name in zip(rows, clusters, strict=True) if row.score is not None]
    return Line(
        name=name,
        n=len(rows),
        failed=len(rows) - len(judged) - not_known,
        not_known=not_known,
        with_errors=int(sum(wrong)),
        share=sum(wrong) / len(wrong) if judged else None,
        share_interval=bootstrap.share_interval(wrong, None, clusters),
        score=sum(scores) / len(scores) if judged else None,
        score_interval=mean_interval(scores, clusters),
        left_out_interval=left_out,
    )


def lines(
    rows: Sequence[Result], by: str, clusters: Sequence[Hashable] | None = None, whole: Line | None = None
) -> list[Line]:
    """Return the rows by language, culture or system, the largest group first; nothing where no row names one.

    `clusters` are those of `line`, and `whole` is the line of all rows, which is not computed again for a single group.
    """
    groups: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(getattr(row, by), []).append(at)
    if set(groups) <= {""}:
        return []
    if whole is not None and len(groups) == 1:
        return [replace(whole, name=next(iter(groups)))]
    names = clusters or clusters_of_texts(rows)

    def of_places(name: str, places: Sequence[int]) -> Line:
        return line(name, [rows[at] for at in places], [names[at] for at in places])

    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    largest = [of_places(name or "not given", members) for name, members in ordered[:MOST]]
    rest = [at for _, members in ordered[MOST:] for at in members]
    return largest + ([of_places(f"{len(ordered) - MOST} smaller ones", rest)] if rest else [])


@dataclass(frozen=True, slots=True)
class Bands:
    """Bands of scores, worst first of a metric that lists errors: those of Eq. 1.

    Of any other metric there are ten of equal width over the range of its scores, or over those that there are.
    """

    names: Sequence[str]
    low: float | None = None  # None: the bands of Eq. 1
    width: float = 1.0

    def of(self, row: Result) -> str:
        """Return the band of a row, or what became of one without a score: failed, or not known."""
        if row.score is None:
            return "not known" if row.failure == NOT_KNOWN else "failed"
        if self.low is None:
            return self.names[_band(row.score)]
        return self.names[min(9, max(0, int((row.score - self.low) / self.width + ROUNDING)))]


def bands(rows: Sequence[Result], metric: Description) -> Bands:
    """Return the bands of the scores of a metric."""
    if metric.lists_errors:
        names = ["below -20", "-20 to below -10", "-10 to below -5", "-5 to below -2", "-2 to below 0"]
        return Bands([*names, *(f"{metric.certainty} {at / 5:.1f} to {(at + 1) / 5:.1f}" for at in range(5))])
    scores = [row.score for row in rows if row.score is not None]
    low, high = metric.range or (min(scores, default=0.0), max(scores, default=1.0))
    width = (high - low) / 10 or 1.0
    edges = [f"{low + width * at:.4g}" for at in range(11)]
    return Bands([f"{edges[at]} to {edges[at + 1]}" for at in range(10)], low, width)


def counts(rows: Sequence[Result], metric: Description) -> list[tuple[str, int]]:
    """Return how many rows have a score in each band, and how many have none; together all rows.

    The last are rows that failed, and behind them rows that are not known, if there are any.
    """
    in_bands = bands(rows, metric)
    number = Counter(map(in_bands.of, rows))
    names = (*in_bands.names, "failed", *(["not known"] if number["not known"] else []))
    return [(name, number[name]) for name in names]


def _band(score: float) -> int:
    if score < 0:
        return sum(score >= edge for edge in BANDS)
    return len(BANDS) + 1 + int(min(4.0, score * 5))


def kinds(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return every kind among what the rows have, such as an error type, and how often; the most frequent first."""
    return sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))


def outcomes(about: Description, *, unknown: bool) -> tuple[str, ...]:
    """Return what can become of a row of a metric; with `unknown`, some are not known."""
    possible = WITH_ERRORS if about.lists_errors else SCORED
    return (*dict.fromkeys(possible), *(["not known"] if unknown else []))


def outcome(row: Result) -> str:
    """Return what became of a row: a verdict of a metric that lists errors, or whether it has a score."""
    with_errors, without, failed = WITH_ERRORS if row.metric.lists_errors else SCORED
    if row.failure is not None:
        return "not known" if row.failure == NOT_KNOWN else failed
    return with_errors if row.errors else without


def failure(row: Result) -> str:
    """Return why a row failed; "" if it did not, or nothing decides about it."""
    return "" if row.failure in (None, NOT_KNOWN) else row.failure or ""


def verdict(row: Result) -> str:
    """Return what to make of a row where that says more than its report: with a probability, or several judgements."""
    several = row.probability is not None or row.agreement is not None
    return row.verdict if several and row.verdict else ""


def words(error: ErrorSpan) -> str:
    """Return the marked words of an error in one line, shortened where they are many."""
    line = " ".join(error.span.split())
    return line if len(line) <= LONGEST_WORDS else f"{line[: LONGEST_WORDS - 1]}…"


class Facet(NamedTuple):
    """What rows are filtered by, and counted by in a chart: all its values of a row, "" for none."""

    label: str
    chart: str
    of: Callable[[Result], Sequence[str]]
    unit: str = "rows"


FACETS = {
    "outcome": Facet("Outcome", "Outcome", lambda row: [outcome(row)]),
    "band": Facet("Score", "Scores", lambda _: []),  # `Bands` of all rows say it
    "verdict": Facet("Verdict", "Verdicts", lambda row: [verdict(row)]),
    "severity": Facet("Severity", "Severities", lambda row: [error.severity for error in row.errors], "errors"),
    "type": Facet("Error type", "Error types", lambda row: [error.type for error in row.errors], "errors"),
    "word": Facet("Wrong words", "Most frequent wrong words", lambda row: list(map(words, row.errors)), "errors"),
    "language": Facet("Language", "Languages", lambda row: [row.language]),
    "culture": Facet("Culture", "Cultures", lambda row: [row.culture]),
    "system": Facet("System", "Systems", lambda row: [row.system]),
    "failure": Facet("Failed because", "Failures, and why", lambda row: [failure(row)]),
    "unknown": Facet("Not known because", "Not known, and why", lambda row: [row.unknown_because]),
    "warning": Facet("Warning", "Warnings", lambda row: row.warnings, "warnings"),
}

"""What a file of scored pairs says as a whole: how many rows came out how, by language, culture and system.

Pure functions on scored pairs. Every table says how many rows it is about and how many of them could not be judged; its
lines add up to all rows. Intervals take rows that share content as one, and are left out where too few could be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from excam.scoring.compare import FEWEST, cluster
from excam.scoring.metric import Description
from excam.scoring.results import NOT_KNOWN, Result
from excam.stats import bootstrap

MOST = 200  # lines of a table; what is behind is added up in one
BANDS = (-20, -10, -5, -2)  # upper edges of the bands of scores below -1
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

    @property
    def judged(self) -> int:
        """Return how many rows have a score."""
        return self.n - self.failed - self.not_known


def line(name: str, rows: Sequence[Result]) -> Line:
    """Return the counts of the rows, the share that has errors and the mean score, with 95 % intervals."""
    judged = [(row, row.score) for row in rows if row.score is not None]
    not_known = sum(row.failure == NOT_KNOWN for row in rows)
    wrong = [float(bool(row.errors)) for row, _ in judged]
    scores = [score for _, score in judged]
    clusters = [cluster(row) for row, _ in judged]
    ones = [1.0] * len(judged)
    many = len(set(clusters)) >= FEWEST
    return Line(
        name=name,
        n=len(rows),
        failed=len(rows) - len(judged) - not_known,
        not_known=not_known,
        with_errors=int(sum(wrong)),
        share=sum(wrong) / len(wrong) if judged else None,
        share_interval=bootstrap.ratio_interval(wrong, ones, clusters) if many else None,
        score=sum(scores) / len(scores) if judged else None,
        score_interval=bootstrap.ratio_interval(scores, ones, clusters) if many else None,
    )


def lines(rows: Sequence[Result], by: str) -> list[Line]:
    """Return the rows by language, culture or system, the largest group first; nothing where no row names one."""
    groups: dict[str, list[Result]] = {}
    for row in rows:
        groups.setdefault(getattr(row, by), []).append(row)
    if set(groups) <= {""}:
        return []
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    largest = [line(name or "not given", members) for name, members in ordered[:MOST]]
    rest = [row for _, members in ordered[MOST:] for row in members]
    return largest + ([line(f"{len(ordered) - MOST} smaller ones", rest)] if rest else [])


def bands(rows: Sequence[Result], metric: Description) -> list[tuple[str, int]]:
    """Return how many rows have a score in each band, and how many have none; together all rows.

    Of a metric that lists errors the bands are those of Eq. 1, worst first; of any other there are ten of equal width
    over the range of its scores, or over those that there are. The last are rows that failed, and behind them rows that
    are not known, if there are any.
    """
    scores = [row.score for row in rows if row.score is not None]
    not_known = sum(row.failure == NOT_KNOWN for row in rows)
    without = [("failed", len(rows) - len(scores) - not_known), *([("not known", not_known)] if not_known else [])]
    if metric.lists_errors:
        names = ["below -20", "-20 to below -10", "-10 to below -5", "-5 to below -2", "-2 to below 0"]
        names += [f"{metric.certainty} {at / 5:.1f} to {(at + 1) / 5:.1f}" for at in range(5)]
        number = Counter(map(_band, scores))
        return [*((name, number[at]) for at, name in enumerate(names)), *without]
    low, high = metric.range or (min(scores, default=0.0), max(scores, default=1.0))
    width = (high - low) / 10 or 1.0
    number = Counter(min(9, max(0, int((score - low) / width + ROUNDING))) for score in scores)
    edges = [f"{low + width * at:.4g}" for at in range(11)]
    return [*((f"{edges[at]} to {edges[at + 1]}", number[at]) for at in range(10)), *without]


def _band(score: float) -> int:
    if score < 0:
        return sum(score >= edge for edge in BANDS)
    return len(BANDS) + 1 + int(min(4.0, score * 5))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing that rows have, e.g. an error type: how often it occurs, and in how many rows."""

    name: str
    times: int
    rows: int


def kinds(rows: Iterable[Iterable[str]]) -> list[Kind]:
    """Return every kind among what the rows have, the most frequent first."""
    times: Counter[str] = Counter()
    among: Counter[str] = Counter()
    for names in rows:
        kept = list(names)
        times.update(kept)
        among.update(set(kept))
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    shown = [Kind(name, number, among[name]) for name, number in ordered[:MOST]]
    rest = ordered[MOST:]
    return shown + ([Kind(f"{len(rest)} rarer ones", sum(number for _, number in rest), 0)] if rest else [])

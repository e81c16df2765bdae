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
from excam.scoring.results import Result
from excam.stats import bootstrap

MOST = 200  # lines of a table; what is behind is added up in one
BANDS = (-20, -10, -5, -2)  # upper edges of the bands of scores below -1
ROUNDING = 1e-9  # of a band's width: a score on an edge is in the band above
Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Line:
    """Some of the rows. Share and mean are of those that could be judged, None where none could."""

    name: str
    n: int
    not_judged: int
    with_errors: int
    share: float | None
    share_interval: Interval
    score: float | None
    score_interval: Interval


def line(name: str, rows: Sequence[Result]) -> Line:
    """The rows as one: the share that has errors and the mean score, with 95 % intervals."""
    judged = [(one, one.score) for one in rows if one.score is not None]
    wrong = [float(bool(one.errors)) for one, _ in judged]
    scores = [score for _, score in judged]
    clusters = [cluster(one) for one, _ in judged]
    ones = [1.0] * len(judged)
    many = len(set(clusters)) >= FEWEST
    return Line(
        name=name,
        n=len(rows),
        not_judged=len(rows) - len(judged),
        with_errors=int(sum(wrong)),
        share=sum(wrong) / len(wrong) if judged else None,
        share_interval=bootstrap.ratio_interval(wrong, ones, clusters) if many else None,
        score=sum(scores) / len(scores) if judged else None,
        score_interval=bootstrap.ratio_interval(scores, ones, clusters) if many else None,
    )


def lines(rows: Sequence[Result], by: str) -> list[Line]:
    """The rows by language, culture or system, the largest first; none where no row tells it."""
    named: dict[str, list[Result]] = {}
    for one in rows:
        named.setdefault(getattr(one, by), []).append(one)
    if set(named) <= {""}:
        return []
    ordered = sorted(named.items(), key=lambda item: (-len(item[1]), item[0]))
    found = [line(name or "not given", members) for name, members in ordered[:MOST]]
    rest = [one for _, members in ordered[MOST:] for one in members]
    return found + ([line(f"{len(ordered) - MOST} smaller ones", rest)] if rest else [])


def bands(rows: Sequence[Result], metric: Description) -> list[tuple[str, int]]:
    """Return how many rows have a score in each band, and how many have none; together all rows.

    Of a metric that lists errors the bands are those of Eq. 1, worst first; of any other there are ten of equal width
    over the range of its scores, or over those that there are.
    """
    scores = [one.score for one in rows if one.score is not None]
    failed = ("failed", len(rows) - len(scores))
    if metric.lists_errors:
        names = ["below -20", "-20 to below -10", "-10 to below -5", "-5 to below -2", "-2 to below 0"]
        names += [f"p(R) {at / 5:.1f} to {(at + 1) / 5:.1f}" for at in range(5)]
        number = Counter(map(_band, scores))
        return [*((name, number[at]) for at, name in enumerate(names)), failed]
    low, high = metric.range or (min(scores, default=0.0), max(scores, default=1.0))
    width = (high - low) / 10 or 1.0
    number = Counter(min(9, max(0, int((score - low) / width + ROUNDING))) for score in scores)
    edges = [f"{low + width * at:.4g}" for at in range(11)]
    return [*((f"{edges[at]} to {edges[at + 1]}", number[at]) for at in range(10)), failed]


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
    """What each row has -> every kind, the most frequent first."""
    times: Counter[str] = Counter()
    among: Counter[str] = Counter()
    for names in rows:
        found = list(names)
        times.update(found)
        among.update(set(found))
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    shown = [Kind(name, number, among[name]) for name, number in ordered[:MOST]]
    rest = ordered[MOST:]
    return shown + ([Kind(f"{len(rest)} rarer ones", sum(number for _, number in rest), 0)] if rest else [])

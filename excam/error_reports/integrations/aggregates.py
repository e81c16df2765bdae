"""Summary numbers of a list of results, the same in every library, with the number of failures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from excam.scoring.results import Result


@dataclass(frozen=True, slots=True)
class Aggregates:
    """`rows` is all rows, judged or not; `mean` and `share_with_errors` are over judged rows, None without one."""

    rows: int
    not_judged: int
    mean: float | None
    share_with_errors: float | None  # of the judged rows


def aggregate(results: Iterable[Result]) -> Aggregates:
    """Return the numbers of these results. A failure has no score and is never counted as 0."""
    rows = list(results)
    scores = [result.score for result in rows if result.score is not None]
    n = len(scores)
    return Aggregates(
        rows=len(rows),
        not_judged=len(rows) - n,
        mean=sum(scores) / n if n else None,
        share_with_errors=sum(score < 0 for score in scores) / n if n else None,
    )

"""What a list of results says as a whole, the same in every library: a mean never hides what was not judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from excam.metric.scored import Scored


@dataclass(frozen=True, slots=True)
class Aggregates:
    """`rows` is all rows, judged or not; `mean` and `share_with_errors` are over judged rows, None without one."""

    rows: int
    not_judged: int
    mean: float | None
    share_with_errors: float | None  # of the judged rows


def of(results: Iterable[Scored]) -> Aggregates:
    """Of these results. A failure has no score and counts as a failure, never as 0."""
    found = list(results)
    scores = [one.score for one in found if one.score is not None]
    n = len(scores)
    return Aggregates(
        rows=len(found),
        not_judged=len(found) - n,
        mean=sum(scores) / n if n else None,
        share_with_errors=sum(score < 0 for score in scores) / n if n else None,
    )

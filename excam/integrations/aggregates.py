"""What a list of results says as a whole, the same in every library: a mean never hides what was not judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from excam.metric.scored import Scored


@dataclass(frozen=True, slots=True)
class Aggregates:
    """`rows` is judged rows and failures together; `mean` and `with_errors` are over judged rows, None without one."""

    rows: int
    failures: int
    mean: float | None
    with_errors: float | None  # share of the judged rows in which an error was found


def of(results: Iterable[Scored]) -> Aggregates:
    """Of these results. A failure has no score and counts as a failure, never as 0."""
    found = list(results)
    scores = [one.score for one in found if one.score is not None]
    n = len(scores)
    return Aggregates(
        rows=len(found),
        failures=len(found) - n,
        mean=sum(scores) / n if n else None,
        with_errors=sum(score < 0 for score in scores) / n if n else None,
    )

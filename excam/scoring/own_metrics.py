"""What a user's metric returns, checked, so that a mistake in it is one line that names the metric and the row."""

from __future__ import annotations

import json
import math
import traceback
from pathlib import Path
from typing import Any

from excam.core.exceptions import ExcamError, InputInvalid, in_a_line
from excam.scoring.metric import Metric, Outcome, Row

TOLERANCE = 1e-9  # of a score at the ends of the metric's range


def failed(metric: Metric, row: Row, problem: Exception) -> ExcamError:
    """Return the exception for one that a metric raised: in a line, with the place in its file."""
    if isinstance(problem, ExcamError):
        return problem
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return InputInvalid(
        f"metric {metric.name}: row {in_a_line(row.id)}: {type(problem).__name__}: {in_a_line(problem)} "
        f"({Path(last.filename).name}, line {last.lineno})"
    )


def checked(metric: Metric, row: Row, outcome: Any) -> Outcome:
    """Return an outcome that can be written. A score outside the metric's range is a failure.

    Raises InputInvalid for a value that is no outcome, or says neither a score nor why there is none.
    """

    def mistake(returned: str, expected: str) -> InputInvalid:
        return InputInvalid(
            f"metric {metric.name}: row {in_a_line(row.id)}: flow returned {returned}; expected {expected}"
        )

    if not isinstance(outcome, Outcome):
        raise mistake(type(outcome).__name__, "an Outcome")
    score, failure = outcome.score, outcome.failure
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise mistake(f"a score of {in_a_line(repr(score))}", "a number, or None with a failure")
    if (score is None) != (isinstance(failure, str) and bool(failure.strip())):
        contradiction = "neither a score nor a failure" if score is None else "a score and a failure"
        raise mistake(contradiction, "one of them")
    try:
        json.dumps(dict(outcome.parts))
    except (TypeError, ValueError) as problem:
        raise mistake(f"parts that are no JSON ({in_a_line(problem)})", "texts, numbers and lists of them") from None
    low, high = metric.range or (-math.inf, math.inf)
    if score is not None and (score < low - TOLERANCE or score > high + TOLERANCE):
        return Outcome(None, f"out-of-range ({score:g})", outcome.parts, certainty=outcome.certainty)
    return outcome

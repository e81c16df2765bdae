"""From a report to a number: the severity heuristic and the certainty fallback (ExCAM §3, Eq. 1; spec 29, 35, 36)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from excam.records import WEIGHTS, Report, Verdict


def deductions(report: Report) -> int:
    """s*: the sum of the severity weights, minor -1 and major -5, without a cap; 0 where no error is listed."""
    return sum(WEIGHTS[error.severity] for error in report.errors)


def certainty(logprobs: Sequence[float] | None) -> float | None:
    """p(R) in [0, 1]: the geometric mean of the token probabilities of an answer, exp(mean of `logprobs`).

    Only this reading of "cumulative probability normalized by length" can reach the paper's best score of 1 (spec 36).
    None without log-probabilities, or when one of them is not a number.
    """
    if not logprobs:
        return None
    mean = math.fsum(logprobs) / len(logprobs) if -math.inf not in logprobs else -math.inf
    return None if math.isnan(mean) else math.exp(min(mean, 0.0))  # backends return +1e-7 for a sure token


def score(report: Report, certainty: float | None) -> float:
    """Eq. 1: s* where errors are listed, else p(R). Without a known certainty the score of a clean report is 0."""
    return _with_fallback(float(deductions(report)), certainty)


def combined(verdict: Verdict) -> float | None:
    """The score of any judge with the certainty fallback ("+p" in Table 4). None for a failure: never a number."""
    return None if verdict.score is None else _with_fallback(verdict.score, verdict.certainty)


def _with_fallback(heuristic: float, certainty: float | None) -> float:
    return heuristic if heuristic < 0 or certainty is None else certainty

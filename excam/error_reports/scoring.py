"""From a report to a number: the severity heuristic and the confidence fallback (ExCAM §3, Eq. 1)."""

from __future__ import annotations

import math

from excam.error_reports.records import WEIGHTS, Report, Verdict
from excam.inference import Completion

LEAST = -1e300  # in place of the logarithm of 0, and of less than any sum could hold


def deductions(report: Report) -> int:
    """Return s*: the sum of the severity weights, minor -1 and major -5, without a cap; 0 if no error is listed."""
    return sum(WEIGHTS[error.severity] for error in report.errors)


def certainty(answer: Completion, end_token: bool = True) -> float | None:
    """Return p(R) in [0, 1]: the geometric mean of an answer's token probabilities, exp(mean log-probability).

    Only this reading of "cumulative probability normalized by length" can reach the paper's best score of 1. All tokens
    of the text count, including the reasoning; the token that ended the turn counts with `end_token`, if it is known.
    None without log-probabilities, without tokens, or if a log-probability is not a number.
    """
    if answer.logprobs is None:
        return None
    ended = end_token and answer.end_logprob is not None
    logprobs = [*answer.logprobs, answer.end_logprob] if ended else answer.logprobs
    if not logprobs:
        return None
    mean = math.fsum(max(logprob, LEAST) for logprob in logprobs) / len(logprobs)
    return math.exp(min(mean, 0.0)) if math.isfinite(mean) else None  # backends return +1e-7 for a sure token


def score(report: Report, certainty: float | None) -> float:
    """Return the score of Eq. 1: s* if errors are listed, else p(R); 0 for a clean report of unknown confidence."""
    return _with_fallback(float(deductions(report)), certainty)


def combined(verdict: Verdict) -> float | None:
    """Return the score of any judge with the confidence fallback ("+p" in Table 4). None for a failure."""
    return None if verdict.score is None else _with_fallback(verdict.score, verdict.certainty)


def _with_fallback(heuristic: float, certainty: float | None) -> float:
    return heuristic if heuristic < 0 or certainty is None else certainty

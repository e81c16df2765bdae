"""From a report to a number: the severity heuristic and the certainty fallback (ExCAM §3, Eq. 1; spec 29, 35, 36)."""

from __future__ import annotations

import math

from excam.inference import Completion
from excam.records import WEIGHTS, Report, Verdict

LEAST = -1e300  # in place of the logarithm of 0, and of less than any sum could hold


def deductions(report: Report) -> int:
    """s*: the sum of the severity weights, minor -1 and major -5, without a cap; 0 where no error is listed."""
    return sum(WEIGHTS[error.severity] for error in report.errors)


def certainty(answer: Completion, end_token: bool = True) -> float | None:
    """p(R) in [0, 1]: the geometric mean of an answer's token probabilities, exp(mean of the natural logarithms).

    Only this reading of "cumulative probability normalized by length" can reach the paper's best score of 1 (spec 36).
    All tokens of the text count, thinking included; the one that ended the turn does with `end_token`, where it is
    known. None without log-probabilities, without tokens, or when a log-probability is not a number.
    """
    if answer.logprobs is None:
        return None
    ended = end_token and answer.end_logprob is not None
    logprobs = [*answer.logprobs, answer.end_logprob] if ended else answer.logprobs
    if not logprobs:
        return None
    mean = math.fsum(max(one, LEAST) for one in logprobs) / len(logprobs)
    return math.exp(min(mean, 0.0)) if math.isfinite(mean) else None  # backends return +1e-7 for a sure token


def score(report: Report, certainty: float | None) -> float:
    """Eq. 1: s* where errors are listed, else p(R). Without a known certainty the score of a clean report is 0."""
    return _with_fallback(float(deductions(report)), certainty)


def combined(verdict: Verdict) -> float | None:
    """The score of any judge with the certainty fallback ("+p" in Table 4). None for a failure: never a number."""
    return None if verdict.score is None else _with_fallback(verdict.score, verdict.certainty)


def _with_fallback(heuristic: float, certainty: float | None) -> float:
    return heuristic if heuristic < 0 or certainty is None else certainty

"""Several judgements of one pair: how far they agree, and two ways to combine their scores.

The judgements are of several models, which reduces self-bias, or of one model sampled repeatedly at a temperature.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from excam.scoring.spans import Report

Combine = Literal["mean", "median"]
COMBINE: tuple[Combine, ...] = get_args(Combine)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of the judgements of one pair. `scores` are in the order asked, None for a failure."""

    judgements: int  # number of readable ones
    found: int  # of the readable ones, how many found an error
    against: int  # of the readable ones, how many differ from the majority
    spread: float | None  # sample standard deviation of the scores; None with fewer than two
    scores: tuple[float | None, ...]
    failures: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Return the share of readable judgements that found an error; None if none is readable."""
        return self.found / self.judgements if self.judgements else None


def agreement(judgements: Sequence[tuple[Report | None, float | None, str | None]]) -> PairAgreement:
    """Return the agreement of judgements: report, score and failure of each; the first two are None for a failure."""
    read = [report for report, _, _ in judgements if report is not None]
    with_errors = sum(bool(report.errors) for report in read)
    numbers = [score for _, score, _ in judgements if score is not None]
    return PairAgreement(
        judgements=len(read),
        found=with_errors,
        against=min(with_errors, len(read) - with_errors),
        spread=statistics.stdev(numbers) if len(numbers) > 1 else None,
        scores=tuple(score for _, score, _ in judgements),
        failures=tuple(failure for _, _, failure in judgements if failure),
    )


def agreement_from_dict(row: Mapping[str, Any]) -> PairAgreement:
    """Return the agreement in a dictionary that `dataclasses.asdict` made, after a trip through JSON.

    Raises TypeError or KeyError for anything else.
    """
    return PairAgreement(**{**row, **{name: tuple(row[name]) for name in ("scores", "failures")}})


def agreement_is_sound(stored_agreement: PairAgreement) -> bool:
    """Return whether every field has its type; files are edited by hand."""
    counts = (stored_agreement.judgements, stored_agreement.found, stored_agreement.against)
    numbers = [number for number in (stored_agreement.spread, *stored_agreement.scores) if number is not None]
    return (
        all(isinstance(count, int) for count in counts)
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(failure, str) for failure in stored_agreement.failures)
    )


def combined(scores: Sequence[float], how: Combine) -> float:
    """Return one score for several: their mean or their median."""
    return statistics.fmean(scores) if how == "mean" else statistics.median(scores)

"""Several judgements of one pair: how far they agree, on which words, and two ways to combine their scores.

The judgements are of several models, which reduces self-bias, or of one model sampled repeatedly at a temperature.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from excam.scoring.spans import Report

Combine = Literal["mean", "median"]
COMBINE: tuple[Combine, ...] = get_args(Combine)


@dataclass(frozen=True, slots=True)
class Marked:
    """Characters [start, end) of a text, and the shares of readable judgements that mark them at all and as major."""

    where: str
    start: int
    end: int
    share: float
    major: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the judgements of one pair. `scores` are in the order asked, None for a failure."""

    judgements: int  # number of readable ones
    found: int  # of the readable ones, how many found an error
    against: int  # of the readable ones, how many differ from the majority
    spread: float | None  # sample standard deviation of the scores; None with fewer than two
    scores: tuple[float | None, ...]
    failures: tuple[str, ...]
    spans: tuple[Marked, ...]

    @property
    def share(self) -> float | None:
        """Return the share of readable judgements that found an error; None if none is readable."""
        return self.found / self.judgements if self.judgements else None


def agreement(
    reports: Sequence[Report | None], scores: Sequence[float | None], failures: Sequence[str | None]
) -> Agreement:
    """Return the agreement of judgements, given in one order; report and score are None for a failure."""
    read = [report for report in reports if report is not None]
    with_errors = sum(bool(report.errors) for report in read)
    numbers = [score for score in scores if score is not None]
    return Agreement(
        judgements=len(read),
        found=with_errors,
        against=min(with_errors, len(read) - with_errors),
        spread=statistics.stdev(numbers) if len(numbers) > 1 else None,
        scores=tuple(scores),
        failures=tuple(failure for failure in failures if failure),
        spans=tuple(mark for where in sorted(_marked_texts(read)) for mark in _marks(where, read)),
    )


def agreement_from_dict(row: Mapping[str, Any]) -> Agreement:
    """Return the agreement in a dictionary that `dataclasses.asdict` made, after a trip through JSON.

    Raises TypeError or KeyError for anything else.
    """
    lists = {name: tuple(row[name]) for name in ("scores", "failures")}
    return Agreement(**{**row, **lists, "spans": tuple(Marked(**mark) for mark in row["spans"])})


def agreement_is_sound(stored_agreement: Agreement, texts: Mapping[str, str]) -> bool:
    """Return whether every field has its type and every mark lies in its text; files are edited by hand."""
    counts = (stored_agreement.judgements, stored_agreement.found, stored_agreement.against)
    numbers = [number for number in (stored_agreement.spread, *stored_agreement.scores) if number is not None]
    numbers += [share for mark in stored_agreement.spans for share in (mark.share, mark.major)]
    return (
        all(isinstance(count, int) for count in counts)
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(failure, str) for failure in stored_agreement.failures)
        and all(_lies_in(mark, texts.get(mark.where, "")) for mark in stored_agreement.spans)
    )


def _lies_in(mark: Marked, text: str) -> bool:
    placed = isinstance(mark.start, int) and isinstance(mark.end, int)
    return placed and 0 <= mark.start < mark.end <= len(text)


def _marked_texts(reports: Sequence[Report]) -> set[str]:
    return {error.where for report in reports for error in report.errors}


def _marks(where: str, reports: Sequence[Report]) -> Iterator[Marked]:
    """Yield runs of characters that are marked by the same number of reports, left to right; unmarked ones are not."""
    spans = [[error for error in report.errors if error.where == where and error.start >= 0] for report in reports]
    edges = sorted({edge for errors in spans for error in errors for edge in (error.start, error.end)})
    for start, end in pairwise(edges):
        over = [{error.severity for error in errors if error.start <= start and end <= error.end} for errors in spans]
        if any(over):
            marked, major = sum(map(bool, over)), sum("major" in kinds for kinds in over)
            yield Marked(where, start, end, marked / len(reports), major / len(reports))


def combined(scores: Sequence[float], how: Combine) -> float:
    """Return one score for several: their mean or their median."""
    return statistics.fmean(scores) if how == "mean" else statistics.median(scores)

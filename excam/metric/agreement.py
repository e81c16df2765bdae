"""Several judgements of one pair as one: how far they agree, where, and three ways to make one score of theirs.

The judgements are those of several models (against the self-bias of one, spec 80), or of one model asked again at a
temperature. Pure: values in, values out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal, get_args

from excam.records import WHERE, Report, Where

Combine = Literal["mean", "median", "reciprocal-rank"]
COMBINE: tuple[Combine, ...] = get_args(Combine)
OUTLIER = 2.0  # standard deviations; GEMBA v2 (WMT 2025) leaves out what is farther from the mean


@dataclass(frozen=True, slots=True)
class Marked:
    """Characters [start, end) of a text, and the share of readable judgements that mark them, as major and at all."""

    where: Where
    start: int
    end: int
    share: float
    major: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judgements of one pair agree. `scores`: of each in the order asked, None where it failed."""

    judgements: int  # that could be read
    found: int  # of these, how many found an error
    against: int  # of these, how many say other than the majority: flips, where one model was asked again
    spread: float | None  # standard deviation of the scores (n - 1); None with fewer than two
    scores: tuple[float | None, ...]
    failures: tuple[str, ...]
    spans: tuple[Marked, ...]

    @property
    def share(self) -> float | None:
        """Of the readable judgements, the share that found an error."""
        return self.found / self.judgements if self.judgements else None


def agreement(
    reports: Sequence[Report | None], scores: Sequence[float | None], failures: Sequence[str | None]
) -> Agreement:
    """Of judgements in one order; a report and a score are None where a failure is told."""
    read = [report for report in reports if report is not None]
    found = sum(bool(report.errors) for report in read)
    known = [score for score in scores if score is not None]
    return Agreement(
        judgements=len(read),
        found=found,
        against=min(found, len(read) - found),
        spread=statistics.stdev(known) if len(known) > 1 else None,
        scores=tuple(scores),
        failures=tuple(failure for failure in failures if failure),
        spans=tuple(mark for where in WHERE for mark in _marks(where, read)),
    )


def agreement_from_dict(row: Mapping[str, Any]) -> Agreement:
    """The inverse of `dataclasses.asdict` after a trip through JSON. Raises TypeError or KeyError for anything else."""
    lists = {name: tuple(row[name]) for name in ("scores", "failures")}
    return Agreement(**{**row, **lists, "spans": tuple(Marked(**mark) for mark in row["spans"])})


def agreement_is_sound(one: Agreement, instruction: str, output: str) -> bool:
    """Whether every field holds what its type says, and every mark lies in its text: files are edited."""
    counts, texts = (one.judgements, one.found, one.against), {"instruction": instruction, "output": output}
    numbers = [number for number in (one.spread, *one.scores) if number is not None]
    numbers += [share for mark in one.spans for share in (mark.share, mark.major)]
    return (
        all(isinstance(count, int) for count in counts)
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(failure, str) for failure in one.failures)
        and all(_lies_in(mark, texts.get(mark.where, "")) for mark in one.spans)
    )


def _lies_in(mark: Marked, text: str) -> bool:
    placed = isinstance(mark.start, int) and isinstance(mark.end, int)
    return placed and 0 <= mark.start < mark.end <= len(text)


def _marks(where: Where, reports: Sequence[Report]) -> Iterator[Marked]:
    """Runs of characters that equally many mark, from the left; what nobody marks is left out."""
    spans = [[one for one in report.errors if one.where == where and one.start >= 0] for report in reports]
    edges = sorted({edge for errors in spans for one in errors for edge in (one.start, one.end)})
    for start, end in pairwise(edges):
        over = [{one.severity for one in errors if one.start <= start and end <= one.end} for errors in spans]
        if any(over):
            marked, major = sum(map(bool, over)), sum("major" in kinds for kinds in over)
            yield Marked(where, start, end, marked / len(reports), major / len(reports))


def combined(scores: Sequence[float], how: Combine) -> float:
    """One score of several.

    "reciprocal-rank" is as GEMBA v2: scores more than two standard deviations from the mean are left out, the others
    weigh 1, 1/2, 1/3, ... The abstract does not say by what they are ranked; here by how near they are to the median,
    so that neither good nor bad scores are favoured, and equally near ones share their weights.
    """
    if how == "mean":
        return statistics.fmean(scores)
    if how == "median":
        return statistics.median(scores)
    mean, spread = statistics.fmean(scores), statistics.pstdev(scores)
    kept = [one for one in scores if abs(one - mean) <= OUTLIER * spread + 1e-9]  # rounding drops no equal ones
    middle = statistics.median(kept)
    near = sorted((round(abs(one - middle), 9), one) for one in kept)
    weights: list[float] = []
    for _, group in groupby(near, key=lambda one: one[0]):
        ranks = range(len(weights) + 1, len(weights) + 1 + len(list(group)))
        weights += [statistics.fmean(1 / rank for rank in ranks)] * len(ranks)
    return statistics.fmean([one for _, one in near], weights)

"""Several judgements of each row, by several models or by one that is sampled repeatedly, combined into one result.

Models are loaded one after another, and each judges all rows before the next is loaded. Their answers are in one
journal, so that a run that was killed continues with the model that it had reached.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.inference.journal import Journal
from excam.scoring import given_rows, result_files
from excam.scoring.agreement import COMBINE, Combine, agreement, combined
from excam.scoring.calibration import verdict
from excam.scoring.defaults import BAND
from excam.scoring.given_rows import GivenRows
from excam.scoring.metric import Row
from excam.scoring.results import Result
from excam.scoring.scorer import Scorer
from excam.scoring.scores import Results
from excam.scoring.warnings import LINES, NOT_FOUND, UNQUALIFIED


@dataclass(frozen=True, slots=True)
class RepeatSettings:
    """How often each model judges a row, and how judgements are combined. One greedy judgement is the default."""

    repeat: int = 1
    temperature: float = 0.0
    combine: Combine = "mean"
    band: tuple[float, float] = BAND

    def checked(self) -> RepeatSettings:
        """Validate and return unchanged. Raises InputInvalid for invalid or contradictory settings."""
        if self.combine not in COMBINE:
            raise InputInvalid(f"combine: found {self.combine}; expected {', '.join(COMBINE)}")
        if self.repeat < 1:
            raise InputInvalid(f"repeat {self.repeat}: expected 1 or more")
        if not 0 <= self.temperature < math.inf:
            raise InputInvalid(f"temperature {self.temperature:g}: expected 0 or more")
        if self.repeat > 1 and not self.temperature:
            raise InputInvalid(f"repeat {self.repeat}: greedy answers are all the same; give a temperature, such as .7")
        return self


@dataclass(frozen=True, slots=True)
class _RowList:
    """Rows in a file of JSON Lines, as `Ensemble.score` keeps them. It can be iterated several times."""

    path: Path

    def write(self, rows: Iterable[Row]) -> int:
        """Write the rows and return their number."""
        with self.path.open("w", encoding="ascii") as stream:
            return sum(bool(stream.write(json.dumps(asdict(row)) + "\n")) for row in rows)

    def __iter__(self) -> Iterator[Row]:
        with self.path.open(encoding="ascii") as stream:
            for line in stream:
                yield Row(**json.loads(line))


class Ensemble:
    """Several judges used as one, for any metric."""

    def __init__(self, judges: Sequence[Scorer], repetition: RepeatSettings) -> None:
        self._judges, self._how = judges, (how := repetition.checked())
        seeds = range(how.repeat) if how.temperature else ()
        sampled = [judge.sampled(how.temperature, seed) for judge in judges for seed in seeds]
        self.members = sampled or list(judges)
        self.metric = self.members[0].metric
        times = f"|rep:{how.repeat},temp:{how.temperature:g}" if how.temperature else ""
        named = "+".join(f"{{{member.described}{times}{member.token_limit}}}" for member in self.members[:: how.repeat])
        self.signature = f"{self.metric.name}|combine:{how.combine}|{named}|v:{VERSION}"
        if len({member.signature for member in self.members}) < len(self.members):
            raise InputInvalid(f"{named}: one judge twice; expected different models")

    @property
    def identity(self) -> str:
        """Return the signature with what decides an answer and is not in it, such as the address of a server."""
        return f"{self.signature}|{'+'.join(member.identity for member in self.members)}"

    def for_rows(self, rows: Iterable[Row]) -> Ensemble:
        """Return this ensemble for the rows of a file, as `Scorer.for_rows`."""
        return Ensemble([judge.for_rows(rows) for judge in self._judges], self._how)

    def close(self) -> None:
        """Free the memory of all models."""
        for member in self.members:
            member.close()

    def score(
        self,
        rows: GivenRows,
        journal: Path | Journal | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Score rows as `Scorer.score` does. The first result comes after every model has judged all rows.

        Each model has a progress of its own; `progress` is not used.
        """
        coming, total = given_rows.rows_of(rows, self.metric)
        if not self.metric.needs_file:
            return Results(self._results(coming, journal), keeps=total is not None)
        whole = list(coming)
        return Results(self.for_rows(whole)._results(whole, journal))

    def _results(self, coming: Iterable[Row], journal: Path | Journal | None) -> Iterator[Result]:
        """Yield results once every member has judged all rows; each frees its memory before the next is loaded."""
        with tempfile.TemporaryDirectory() as scratch:
            items = _RowList(Path(scratch, "rows.jsonl"))
            total = items.write(coming)
            paths = [Path(scratch, f"{at}.jsonl") for at in range(len(self.members))]
            for at, (member, path) in enumerate(zip(self.members, paths, strict=True), 1):
                progress = Progress(f"judgement {at} of {len(paths)}, rows", total)
                result_files.write(path, member.score(iter(items), journal, progress) if total else ())
                if at % self._how.repeat == 0:
                    member.close()
            combined = map(self._combined, zip(*map(result_files.read, paths), strict=True))
            yield from map(Result.of_row, combined, items)

    def _combined(self, judged: Sequence[Result]) -> Result:
        """Return one result for several of one row. Its report is the majority's that is nearest in severity.

        So a score below 0 can come with a report without errors: if one of three found some, the mean is below 0.
        """
        agreed = agreement([(result.report, result.score, result.failure) for result in judged])
        warnings = {code for result in judged for code in result.warnings}
        unmeasured = replace(judged[0].metric, measured="")
        common: dict[str, Any] = {"signature": self.signature, "agreement": agreed, "metric": unmeasured}
        if any(result.metric.measured for result in judged):  # alone, not together
            warnings.add(UNQUALIFIED)
        common["warnings"] = tuple(code for code in LINES if code in warnings)
        scores = [result.score for result in judged if result.score is not None]
        if not scores:
            return replace(judged[0], **common)
        score = combined(scores, self._how.combine)
        is_wrong = agreed.found * 2 >= agreed.judgements  # on a tie, too
        majority = [result for result in judged if result.report and bool(result.errors) == is_wrong]
        middle = combined([value for each in judged if (value := each.preference) is not None], self._how.combine)
        chosen = min(majority, key=lambda each: abs((each.preference or 0.0) - middle))
        if NOT_FOUND not in chosen.warnings:  # nor is another judgement's report shown
            common["warnings"] = tuple(code for code in common["warnings"] if code != NOT_FOUND)
        chance = _mean_probability(judged)
        has_errors = bool(chosen.errors) if self.metric.lists_errors else None
        decided = verdict(has_errors, chance, self._how.band)
        if has_errors is not None and chance is None and agreed.against * 2 == agreed.judgements:
            decided = "unsure"
        return replace(chosen, score=score, probability=chance, verdict=decided, **common)


def _mean_probability(judged: Sequence[Result]) -> float | None:
    """Return the mean of the probabilities of readable judgements; None if one of them, or all, have none."""
    chances = [result.probability for result in judged if result.report is not None]
    numbers = [chance for chance in chances if chance is not None]
    return sum(numbers) / len(numbers) if numbers and len(numbers) == len(chances) else None

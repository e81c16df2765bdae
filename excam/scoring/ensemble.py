"""Several judgements of each row, by several models or by one that is sampled repeatedly, combined into one result.

Models are loaded one after another, and each judges all rows before the next is loaded. The results of each are in a
file of their own until the end, so that a run that was killed continues with the model that it had reached.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.inference import Request
from excam.inference.budget import Budget
from excam.inference.journal import Journal
from excam.scoring import async_bridge, files, result_files, rows
from excam.scoring.agreement import COMBINE, Combine, agreement, combined
from excam.scoring.calibration import verdict
from excam.scoring.defaults import BAND, BATCH
from excam.scoring.metric import Row
from excam.scoring.result_files import Growing
from excam.scoring.results import Result, Results
from excam.scoring.scorer import Scorer
from excam.scoring.warnings import LINES, NOT_FOUND


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often each model judges a row, and how judgements are combined. One greedy judgement is the default."""

    repeat: int = 1
    temperature: float = 0.0
    combine: Combine = "mean"
    band: tuple[float, float] = BAND

    def checked(self) -> Repetition:
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
class RowList:
    """Rows in a file of JSON Lines, as `Ensemble.score` keeps them. It can be iterated several times."""

    path: Path

    def __iter__(self) -> Iterator[Row]:
        with self.path.open(encoding="ascii") as stream:
            for line in stream:
                yield Row(**json.loads(line))


class Ensemble:
    """Several judges used as one, for any metric."""

    def __init__(self, judges: Sequence[Scorer], repetition: Repetition, budget: Budget | None = None) -> None:
        self._judges, self._how, self.budget = judges, (how := repetition.checked()), budget
        seeds = range(how.repeat) if how.temperature else ()
        sampled = [one.sampled(how.temperature, seed) for one in judges for seed in seeds]
        self.members = sampled or list(judges)
        self.metric = self.members[0].metric
        times = f"|rep:{how.repeat},temp:{how.temperature:g}" if how.temperature else ""
        named = "+".join(f"{{{one.described}{times}{one.token_limit}}}" for one in self.members[:: how.repeat])
        self.signature = f"{self.metric.name}|combine:{how.combine}|{named}|v:{VERSION}"
        if len({one.signature for one in self.members}) < len(self.members):
            raise InputInvalid(f"{named}: one judge twice; expected different models")

    @property
    def identity(self) -> str:
        """Return the signature with what decides an answer and is not in it, such as the address of a server."""
        return f"{self.signature}|{'+'.join(one.identity for one in self.members)}"

    @property
    def max_tokens(self) -> int:
        """Return the limit of an answer in tokens."""
        return self.members[0].max_tokens

    @property
    def repeat(self) -> int:
        """Return how often each row is judged."""
        return len(self.members)

    def first_requests(self, row: Row) -> Sequence[Request]:
        """Return what one of the judges asks first about a row."""
        return self.members[0].first_requests(row)

    def for_rows(self, given: Iterable[Row]) -> Ensemble:
        """Return this ensemble for the rows of a file, as `Scorer.for_rows`."""
        return Ensemble([one.for_rows(given) for one in self._judges], self._how, self.budget)

    def close(self) -> None:
        """Free the memory of all models."""
        for member in self.members:
            member.close()

    def score(
        self,
        given: Iterable[Mapping[str, Any] | Row],
        journal: Path | Journal | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Score rows as `Scorer.score` does. The first result comes after every model has judged all rows.

        Answers are kept in files of their own until then; `journal` and `progress` are not used.
        """
        coming = rows.of_mappings(given, self.metric)
        if not self.metric.needs_file:
            return Results(self._spooled(coming))
        whole = list(coming)
        return Results(self.for_rows(whole)._spooled(iter(whole)))

    def ascore(self, given: Iterable[Mapping[str, Any] | Row]) -> AsyncIterator[Result]:
        """Score rows as `score` does, for `async for`."""
        return async_bridge.to_async(self.score(given))

    def _spooled(self, coming: Iterator[Row]) -> Iterator[Result]:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "rows.jsonl")
            with file.open("w", encoding="ascii") as stream:
                written = sum(bool(stream.write(json.dumps(asdict(one)) + "\n")) for one in coming)
            if written:
                yield from self.score_file(RowList(file), Path(scratch, "scored.jsonl"))

    def score_file(self, items: Iterable[Row], to: Path) -> Iterator[Result]:
        """Yield the results of rows that can be iterated several times, and write them to `to`."""
        with ExitStack() as kept:
            whole = kept.enter_context(Growing(to, self))
            whole.done(())  # combined results of an earlier run are made again
            parts = [
                kept.enter_context(Growing(to.with_name(f"{to.name}.{at}"), one))
                for at, one in enumerate(self.members, 1)
            ]
            self._judge(items, parts)
            together = map(self._combined, zip(*(result_files.read(part.part) for part in parts), strict=True))
            while found := list(islice(together, BATCH)):
                whole.add(found)
                yield from found
            whole.finish()
            for part in parts:
                part.drop()

    def _judge(self, items: Iterable[Row], parts: Sequence[Growing]) -> None:
        """Let every member judge all rows, each into its own file, and free its memory before the next is loaded."""
        total = sum(1 for _ in items)
        for at, (member, part) in enumerate(zip(self.members, parts, strict=True), 1):
            progress = Progress(f"judgement {at} of {len(parts)}, rows", total)
            deque(files.grown(member, items, part, progress), maxlen=0)
            if at % self._how.repeat == 0:
                member.close()

    def _combined(self, judged: Sequence[Result]) -> Result:
        """Return one result for several of one row. Its report is the majority's report that is nearest in score.

        So a score below 0 can come with a report without errors: if one of three found some, the mean is below 0.
        """
        agreed = agreement([one.report for one in judged], [one.score for one in judged], [r.failure for r in judged])
        warnings = {code for one in judged for code in one.warnings}
        common: dict[str, Any] = {"signature": self.signature, "agreement": agreed}
        common["warnings"] = tuple(code for code in LINES if code in warnings)
        scores = [one.score for one in judged if one.score is not None]
        if not scores:
            return replace(judged[0], **common)
        score = combined(scores, self._how.combine)
        chances = [one.probability for one in judged if one.report is not None]
        known = [chance for chance in chances if chance is not None]
        chance = sum(known) / len(known) if known and len(known) == len(chances) else None
        majority = _majority(judged, agreed.found, agreed.judgements)
        chosen = min(majority, key=lambda one: abs((one.score or 0.0) - score))
        if NOT_FOUND not in chosen.warnings:  # nor is another judgement's report shown
            common["warnings"] = tuple(code for code in common["warnings"] if code != NOT_FOUND)
        found = bool(chosen.errors) if self.metric.lists_errors else None
        decided = verdict(found, chance, self._how.band)
        if found is not None and chance is None and agreed.against * 2 == agreed.judgements:
            decided = "unsure"
        return replace(chosen, score=score, probability=chance, verdict=decided, **common)


def _majority(judged: Sequence[Result], found: int, judgements: int) -> list[Result]:
    """Return the readable judgements with the majority verdict; on a tie those that found errors."""
    return [one for one in judged if one.report and bool(one.errors) == (found * 2 >= judgements)]

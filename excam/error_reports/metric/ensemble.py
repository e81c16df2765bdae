"""Several judgements of each pair, by several models or by one that is sampled repeatedly, combined into one result.

Models are loaded one after another, and each judges all pairs before the next is loaded. The results of each are in a
file of their own until the end, so that a run that was killed continues with the model that it had reached.

>>> ensemble = Ensemble.open(["results/adapters/gemma3-27b/all", "results/adapters/phi4/all"])
>>> for scored in ensemble.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.agreement.share)
"""

from __future__ import annotations

import json
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.error_reports.metric.probability import verdict
from excam.error_reports.metric.scorer import Metric
from excam.inference.budget import Budget
from excam.scoring import files, pairs, scored_file
from excam.scoring.agreement import COMBINE, Combine, agreement, combined
from excam.scoring.defaults import BAND, BATCH, MAX_TOKENS
from excam.scoring.evidence import Index
from excam.scoring.files import Scorer
from excam.scoring.pairs import Pair, PairFile
from excam.scoring.scored import Scored, Scores
from excam.scoring.scored_file import Growing
from excam.scoring.warnings import LINES


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often each model judges a pair, and how judgements are combined. One greedy judgement is the default."""

    repeat: int = 1
    temperature: float = 0.0
    combine: Combine = "mean"
    band: tuple[float, float] = BAND

    def checked(self) -> Repetition:
        """Validate and return unchanged. Raises InputInvalid for invalid or contradictory settings."""
        if self.combine not in COMBINE:
            raise InputInvalid(f"combine: found {self.combine}; expected {', '.join(COMBINE)}")
        if self.repeat < 1 or self.temperature < 0:
            raise InputInvalid(f"repeat {self.repeat}, temperature {self.temperature:g}: expected 1 or more, 0 or more")
        if self.repeat > 1 and not self.temperature:
            raise InputInvalid(f"repeat {self.repeat}: greedy answers are all the same; give a temperature, such as .7")
        return self


class Ensemble:
    """Several metrics used as one. Open it with `Ensemble.open`."""

    def __init__(self, metrics: Sequence[Metric], repetition: Repetition) -> None:
        self._how = how = repetition.checked()
        seeds = range(how.repeat) if how.temperature else ()
        sampled = [one.sampled(how.temperature, seed) for one in metrics for seed in seeds]
        self.members = sampled or list(metrics)
        times = f"|rep:{how.repeat},temp:{how.temperature:g}" if how.temperature else ""
        judges = "+".join(f"{{{one.described}{times}{one.token_limit}}}" for one in self.members[:: how.repeat])
        self.signature = f"excam|combine:{how.combine}|{judges}|v:{VERSION}"
        if len({one.signature for one in self.members}) < len(self.members):
            raise InputInvalid(f"{judges}: one judge twice; expected different adapters")

    @classmethod
    def open(
        cls,
        adapters: Sequence[str | Path],
        bases: Sequence[str | Path] = (),
        max_tokens: int = MAX_TOKENS,
        repetition: Repetition = Repetition(),
        judge: str | None = None,
        engine: str | None = None,
        budget: Budget | None = None,
        evidence: Index | None = None,
    ) -> Ensemble:
        """Open models, with the folders of adapters' bases in the same order, or none to find them automatically.

        Nothing is loaded yet. Raises ModelInvalid as `Metric.open` does, and InputInvalid for another number of bases.
        """
        if bases and len(bases) != len(adapters):
            raise InputInvalid(f"{len(bases)} bases of {len(adapters)} adapters; expected none, or one each in order")
        found = zip(adapters, bases or [None] * len(adapters), strict=True)
        opened = [
            Metric.open(one, base, max_tokens, repetition.band, judge=judge, engine=engine, budget=budget)
            for one, base in found
        ]
        return cls([one.with_open_book(evidence) for one in opened] if evidence else opened, repetition)

    def score(self, pairs_: Iterable[Mapping[str, Any] | Pair]) -> Scores:
        """Judge pairs as `Metric.score` does. The first result comes after every model has judged all pairs."""
        return Scores(self._spooled(pairs.given(pairs_)))

    def _spooled(self, coming: Iterator[Pair]) -> Iterator[Scored]:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "pairs.jsonl")
            with file.open("w", encoding="ascii") as stream:
                written = sum(bool(stream.write(json.dumps(asdict(one)) + "\n")) for one in coming)
            if written:
                yield from self.score_file(PairFile(file), Path(scratch, "scored.jsonl"))

    def score_file(self, rows: PairFile, to: Path) -> Iterator[Scored]:
        """Yield the results of a file and write them to `to`. Raises InputInvalid for a row that is no pair."""
        with ExitStack() as kept:
            whole = kept.enter_context(Growing(to, self.signature))
            whole.done(())  # combined results of an earlier run are made again
            parts = [
                kept.enter_context(Growing(to.with_name(f"{to.name}.{at}"), one.signature))
                for at, one in enumerate(self.members, 1)
            ]
            self._judge(rows, parts)
            together = map(self._combined, zip(*(scored_file.read(part.part) for part in parts), strict=True))
            while found := list(islice(together, BATCH)):
                whole.add(found)
                yield from found
            whole.finish()
            for part in parts:
                part.drop()

    def _judge(self, rows: PairFile, parts: Sequence[Growing]) -> None:
        """Let every member judge all rows, each into its own file, and free its memory before the next is loaded."""
        total = sum(1 for _ in pairs.distinct(rows))
        for at, (member, part) in enumerate(zip(self.members, parts, strict=True), 1):
            progress = Progress(f"judgement {at} of {len(parts)}, rows", total)
            deque(files.grown(member, rows, part, progress), maxlen=0)
            if at % self._how.repeat == 0:
                member.close()

    def _combined(self, rows: Sequence[Scored]) -> Scored:
        """Return one result for several of one pair. Its report is the majority's report that is nearest in score.

        So a score below 0 can come with a report without errors: if one of three found some, the mean is below 0.
        """
        agreed = agreement([row.report for row in rows], [row.score for row in rows], [row.failure for row in rows])
        warnings = {code for row in rows for code in row.warnings}
        common: dict[str, Any] = {"signature": self.signature, "agreement": agreed}
        common["warnings"] = tuple(code for code in LINES if code in warnings)
        scores = [row.score for row in rows if row.score is not None]
        if not scores:
            return replace(rows[0], **common)
        score = combined(scores, self._how.combine)
        chances = [row.probability for row in rows if row.report is not None]
        known = [chance for chance in chances if chance is not None]
        chance = sum(known) / len(known) if known and len(known) == len(chances) else None
        chosen = min(_majority(rows, agreed.found, agreed.judgements), key=lambda row: abs((row.score or 0.0) - score))
        decided = verdict(chosen.report, chance, self._how.band)
        if chance is None and agreed.against * 2 == agreed.judgements:
            decided = "unsure"
        return replace(chosen, score=score, probability=chance, verdict=decided, **common)


def _majority(rows: Sequence[Scored], found: int, judgements: int) -> list[Scored]:
    """Return the readable judgements with the majority verdict; on a tie those that found errors."""
    return [row for row in rows if row.report and bool(row.report.errors) == (found * 2 >= judgements)]


def open_judge(
    adapters: Sequence[str | Path],
    bases: Sequence[Path],
    max_tokens: int,
    repetition: Repetition = Repetition(),
    judge: str | None = None,
    engine: str | None = None,
    budget: Budget | None = None,
    evidence: Index | None = None,
) -> Metric | Ensemble:
    """Return a metric if each pair gets one judgement, else an ensemble. Raises as `Ensemble.open` does."""
    one = len(adapters) == 1 and len(bases) < 2
    if one and repetition.checked().repeat == 1:
        base = bases[0] if bases else None
        how = {"judge": judge, "engine": engine}
        metric = Metric.open(adapters[0], base, max_tokens, repetition.band, **how, budget=budget)
        metric = metric.with_open_book(evidence) if evidence else metric
        return metric.sampled(repetition.temperature, 0) if repetition.temperature else metric
    return Ensemble.open(adapters, bases, max_tokens, repetition, judge, engine, budget, evidence)


def results(judge: Scorer[Pair] | Ensemble, rows: PairFile, to: Path | None) -> Iterator[Scored]:
    """Yield the results of a file in order, and write them to the file `to` if there is one."""
    if isinstance(judge, Ensemble):
        return judge.score_file(rows, to) if to else judge.score(rows)
    return files.results(judge, rows, to)

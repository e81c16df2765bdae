"""Several judgements of the same pairs, by several models or by one asked again, put together as one result a row.

One model after another is in memory, each through all pairs before the next is loaded; what each said is in a growing
file of its own until the end, so that a run that was killed goes on in the model it stood in.

>>> ensemble = Ensemble.open(["results/adapters/gemma3-27b/all", "results/adapters/phi4/all"], combine="mean")
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

import excam
from excam.exceptions import InputInvalid
from excam.metric import files, pairs, scored_file
from excam.metric.agreement import COMBINE, Combine, agreement, combined
from excam.metric.cautions import LINES
from excam.metric.defaults import BAND, MAX_TOKENS
from excam.metric.judging import Scorer
from excam.metric.metric import BATCH, Metric
from excam.metric.pairs import Pair, PairFile
from excam.metric.probability import verdict
from excam.metric.scored import Scored, Scores
from excam.metric.scored_file import Growing
from excam.provenance import Progress


@dataclass(frozen=True, slots=True)
class Several:
    """How often each model judges a pair, and how judgements become one. One greedy judgement is the default."""

    repeat: int = 1
    temperature: float = 0.0
    combine: Combine = "mean"
    band: tuple[float, float] = BAND

    def checked(self) -> Several:
        """The same. Raises InputInvalid for what makes no sense."""
        if self.combine not in COMBINE:
            raise InputInvalid(f"combine: found {self.combine}; expected {', '.join(COMBINE)}")
        if self.repeat < 1 or self.temperature < 0:
            raise InputInvalid(f"repeat {self.repeat}, temperature {self.temperature:g}: expected 1 or more, 0 or more")
        if self.repeat > 1 and not self.temperature:
            raise InputInvalid(f"repeat {self.repeat}: greedy answers are all the same; give a temperature, such as .7")
        return self


class Ensemble:
    """Several metrics as one. Open it with `Ensemble.open`."""

    def __init__(self, metrics: Sequence[Metric], several: Several) -> None:
        how = several.checked()
        self._how = how
        seeds = range(how.repeat) if how.temperature else ()
        drawn = [one.sampled(how.temperature, seed) for one in metrics for seed in seeds]
        self.members = drawn or list(metrics)
        times = f"|rep:{how.repeat},temp:{how.temperature:g}" if how.temperature else ""
        judges = "+".join(f"{{{one.described}{times}{one.longest}}}" for one in self.members[:: how.repeat])
        self.signature = f"excam|combine:{how.combine}|{judges}|v:{excam.__version__}"
        if len({one.signature for one in self.members}) < len(self.members):
            raise InputInvalid(f"{judges}: one judge twice; expected different adapters")

    @classmethod
    def open(
        cls,
        adapters: Sequence[str | Path],
        bases: Sequence[str | Path] = (),
        max_tokens: int = MAX_TOKENS,
        several: Several = Several(),
    ) -> Ensemble:
        """Open adapters, with their bases in the same order where these are not found by themselves.

        Nothing is loaded yet. Raises ModelInvalid as `Metric.open` does, and InputInvalid for another number of bases.
        """
        if bases and len(bases) != len(adapters):
            raise InputInvalid(f"{len(bases)} bases of {len(adapters)} adapters; expected none, or one each in order")
        found = zip(adapters, bases or [None] * len(adapters), strict=True)
        return cls([Metric.open(one, base, max_tokens, several.band) for one, base in found], several)

    def score(self, pairs_: Iterable[Mapping[str, Any] | Pair]) -> Scores:
        """Judge pairs as `Metric.score` does; results come once the last model is at it. Takes disk, not memory."""
        return Scores(self._spooled(pairs.given(pairs_)))

    def _spooled(self, coming: Iterator[Pair]) -> Iterator[Scored]:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "pairs.jsonl")
            with file.open("w", encoding="ascii") as stream:
                written = sum(bool(stream.write(json.dumps(asdict(one)) + "\n")) for one in coming)
            if written:
                yield from self.kept(PairFile(file), Path(scratch, "scored.jsonl"))

    def kept(self, rows: PairFile, to: Path) -> Iterator[Scored]:
        """Results of a file, and in a file; see the module. Raises InputInvalid where a row is no pair."""
        with ExitStack() as kept:
            whole = kept.enter_context(Growing(to, self.signature))
            whole.done(())  # what an earlier run put together is put together again
            parts = [
                kept.enter_context(Growing(to.with_name(f"{to.name}.{at}"), one.signature))
                for at, one in enumerate(self.members, 1)
            ]
            self._judge(rows, parts)
            together = map(self._together, zip(*(scored_file.read(part.part) for part in parts), strict=True))
            while found := list(islice(together, BATCH)):
                whole.add(found)
                yield from found
            whole.finish()
            for part in parts:
                part.drop()

    def _judge(self, rows: PairFile, parts: Sequence[Growing]) -> None:
        """Every member through all rows, each into its own file, and out of memory before the next is loaded."""
        total = rows.count()
        for at, (member, part) in enumerate(zip(self.members, parts, strict=True), 1):
            progress = Progress(f"judgement {at} of {len(parts)}, rows", total)
            deque(files.grown(member, rows, part, progress), maxlen=0)
            if at % self._how.repeat == 0:
                member.close()

    def _together(self, rows: Sequence[Scored]) -> Scored:
        """One result of several of one pair. Its report is that of one judgement: of the majority, nearest in score.

        So a score below 0 may stand beside a report without errors: one of three found some, and the mean tells of it.
        """
        told = agreement([row.report for row in rows], [row.score for row in rows], [row.failure for row in rows])
        warnings = {code for row in rows for code in row.warnings}
        same: dict[str, Any] = {"signature": self.signature, "agreement": told}
        same["warnings"] = tuple(code for code in LINES if code in warnings)
        scores = [row.score for row in rows if row.score is not None]
        if not scores:
            return replace(rows[0], **same)
        score = combined(scores, self._how.combine)
        chances = [row.probability for row in rows if row.report is not None]
        known = [chance for chance in chances if chance is not None]
        chance = sum(known) / len(known) if known and len(known) == len(chances) else None
        chosen = min(_majority(rows, told.found, told.judgements), key=lambda row: abs((row.score or 0.0) - score))
        decided = verdict(chosen.report, chance, self._how.band)
        if chance is None and told.against * 2 == told.judgements:
            decided = "unsure"
        return replace(chosen, score=score, probability=chance, verdict=decided, **same)


def _majority(rows: Sequence[Scored], found: int, judgements: int) -> list[Scored]:
    """The readable judgements that say what most say; where even, those that found errors, which can be looked at."""
    return [row for row in rows if row.report and bool(row.report.errors) == (found * 2 >= judgements)]


def opened(
    adapters: Sequence[Path], bases: Sequence[Path], max_tokens: int, several: Several = Several()
) -> Metric | Ensemble:
    """One metric where each pair gets one judgement, else an ensemble. Raises as `Ensemble.open` does."""
    one = len(adapters) == 1 and len(bases) < 2
    if one and several.checked().repeat == 1:
        metric = Metric.open(adapters[0], bases[0] if bases else None, max_tokens, several.band)
        return metric.sampled(several.temperature, 0) if several.temperature else metric
    return Ensemble.open(adapters, bases, max_tokens, several)


def results(judge: Scorer | Ensemble, rows: PairFile, to: Path | None) -> Iterator[Scored]:
    """Results of a file, in order, kept in the file `to` where one is named."""
    if isinstance(judge, Ensemble):
        return judge.kept(rows, to) if to else judge.score(rows)
    return files.kept(judge, rows, to) if to else files.scored(judge, rows)

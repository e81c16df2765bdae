"""A queue before a metric: pairs that wait together are judged in one batch, by the one thread that owns the model.

Nobody's pairs depend on anybody else's: a request may be given up, and a pair that cannot be judged is a row with its
reason, while its neighbours are judged. The queue is bounded; who finds it full is told how long to wait.

A connection has one request in the queue at a time, and requests are judged in the order in which they came: so
connections take turns. A full queue still takes a request that is no larger than an equal share of its places: with n
places, one of a single pair as long as fewer than n requests wait. So at most n requests wait, and at most
n + n/2 + ... + n/n pairs.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from excam.exceptions import AnswersMissing, ExcamError, InputInvalid
from excam.metric.defaults import MAX_PAIRS, QUEUE
from excam.metric.pairs import Pair
from excam.metric.scored import Scored, Scores
from excam.provenance import Progress

Status = Literal["loading", "ready", "failed", "stopping"]
LONGEST = 200_000  # characters of a pair; a tokenizer needs a second for more, and no model has the context
MOST_WAIT = 300  # seconds that anybody is told to wait
FIRST = Pair("first", "Name a Greek dish.", "Moussaka.")  # judged before anybody's: then the model is loaded and works
TOO_LONG = "too-long"


class Scorer(Protocol):
    """What judges pairs: `excam.metric.metric.Metric`, or anything that does the same."""

    @property
    def signature(self) -> str: ...

    def score(self, pairs: Iterable[Pair], journal: Path | None = None, progress: Progress | None = None) -> Scores: ...


class Refused(Exception):  # never leaves the server
    """Pairs that are not taken now. `wait`: seconds after which it is worth asking again."""

    def __init__(self, line: str, wait: int) -> None:
        super().__init__(line)
        self.wait = wait


class Failed(Exception):  # never leaves the server
    """Pairs that were taken and could not be judged, for a reason that is not theirs."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Pairs of one request, and where their results will be. Whoever cancels `done` gives them up."""

    pairs: Sequence[Pair]
    done: asyncio.Future[list[Scored]]


class Judging:
    """The queue and the thread. `queue`: its places, one for a pair; `max_pairs`: so many are judged in one batch."""

    def __init__(self, metric: Scorer, max_pairs: int = MAX_PAIRS, queue: int = QUEUE) -> None:
        self.metric, self.max_pairs, self.queue = metric, max_pairs, queue
        self.status: Status = "loading"
        self.problem: BaseException | None = None  # why the model could not be opened
        self._jobs: deque[Job] = deque()
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._seconds = 1.0  # that a pair takes, as last seen

    @property
    def waiting(self) -> int:
        """How many pairs wait; those being judged do not count."""
        return sum(self._sizes())

    def _sizes(self) -> list[int]:
        """The number of pairs of each request that waits."""
        return [len(job.pairs) for job in self._jobs if not job.done.done()]

    def enter(self, pairs: Sequence[Pair]) -> Job:
        """Take pairs of a request, to be judged in turn. Raises Refused where there is no room, or no more is judged.

        There is room for what fits into the free places, and for an equal share of all places: as many pairs as each
        request could have if all that wait, and this one, had the same number.
        """
        if self.status in ("failed", "stopping"):
            raise Refused(f"the server is {self.status}; send it again later", 10)
        sizes = self._sizes()
        waiting, share = sum(sizes), self.queue // (len(sizes) + 1)
        if waiting and waiting + len(pairs) > self.queue and len(pairs) > share:
            wait = min(MOST_WAIT, max(1, math.ceil(waiting * self._seconds)))
            fewer = f", or {share} pairs or fewer now" if share else ""
            raise Refused(f"{waiting} pairs wait, of {self.queue} that may; send it again in {wait} s{fewer}", wait)
        job = Job(pairs, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._changed.set()
        return job

    def stop(self) -> None:
        """Judge what is begun to its end and nothing more: who waits is refused now, and may ask another server."""
        if self.status != "failed":
            self.status = "stopping"
        for job in self._jobs:
            if not job.done.done():
                job.done.set_exception(Refused("the server is stopping; send it again later", 10))
        self._jobs.clear()
        self._changed.set()
        self._over.set()

    async def run(self) -> None:
        """Load the model, judge until `stop`. Where it cannot be loaded, `problem` says why, and no more is judged."""
        thread = ThreadPoolExecutor(1, "model")
        try:
            await self._open(thread)
            while self.status == "ready":
                if batch := self._batch():
                    await self._judge(thread, batch)
                else:
                    self._changed.clear()
                    await self._changed.wait()
        finally:
            thread.shutdown(wait=False)  # idle, but for a model that is still loading: nobody waits for that

    async def _open(self, thread: ThreadPoolExecutor) -> None:
        first = Job([FIRST], asyncio.get_running_loop().create_future())
        opening, over = asyncio.create_task(self._judge(thread, [first])), asyncio.create_task(self._over.wait())
        await asyncio.wait({opening, over}, return_when=asyncio.FIRST_COMPLETED)
        if self.status != "loading":
            return
        self.problem = first.done.exception()
        self.status = "failed" if self.problem else "ready"
        if self.problem:
            self.stop()

    def _batch(self) -> list[Job]:
        """Those whose turn it is: as many as go into one batch, in the order in which they came."""
        batch: list[Job] = []
        while self._jobs:
            job = self._jobs[0]
            if job.done.done():  # given up
                self._jobs.popleft()
                continue
            if batch and sum(len(one.pairs) for one in batch) + len(job.pairs) > self.max_pairs:
                break
            batch.append(self._jobs.popleft())
        return batch

    async def _judge(self, thread: ThreadPoolExecutor, batch: Sequence[Job]) -> None:
        pairs = [pair for job in batch for pair in job.pairs]
        began = time.monotonic()
        outcome = asyncio.get_running_loop().run_in_executor(thread, judged, self.metric, pairs)
        await asyncio.wait([outcome])  # raises nothing: whatever went wrong in there, the queue goes on
        problem = outcome.exception()
        if not problem:
            self._seconds = (time.monotonic() - began) / len(pairs)
        results = iter(() if problem else outcome.result())
        for job in batch:
            found = [next(results) for _ in job.pairs] if not problem else []
            if job.done.done():
                continue
            if problem:
                job.done.set_exception(problem if isinstance(problem, ExcamError) else Failed(_told(problem)))
            else:
                job.done.set_result(found)


def judged(metric: Scorer, pairs: Sequence[Pair]) -> list[Scored]:
    """A result for each pair, in order. Ids may be there twice: pairs of several requests meet here."""
    named = [replace(pair, id=str(at)) for at, pair in enumerate(pairs)]
    long = {pair.id for pair in named if len(pair.instruction) + len(pair.output) > LONGEST}
    with tempfile.TemporaryDirectory() as scratch:
        found = _judged(metric, [pair for pair in named if pair.id not in long], Path(scratch, "answers.jsonl"))
    by_id = {one.id: one for one in found}
    by_id |= {pair.id: unjudged(pair, metric.signature, TOO_LONG) for pair in named if pair.id in long}
    return [replace(by_id[name.id], id=pair.id) for name, pair in zip(named, pairs, strict=True)]


def _judged(metric: Scorer, pairs: Sequence[Pair], answers: Path) -> list[Scored]:
    """The same for distinct ids. What is answered is in `answers` and is not asked again."""
    if not pairs:
        return []
    try:
        return list(metric.score(pairs, journal=answers, progress=Progress("", None, every=math.inf)))
    except AnswersMissing as missing:
        reasons = {str(row): reason for row, reason in missing.reasons.items()}
        left = [pair for pair in pairs if pair.id not in reasons]
        silent = [pair for pair in pairs if pair.id in reasons]
        found = [unjudged(pair, metric.signature, f"unanswered: {reasons[pair.id]}") for pair in silent]
        return found + _judged(metric, left, answers)
    except InputInvalid as problem:  # one of them is no input for this model: which?
        if len(pairs) == 1:
            return [unjudged(pairs[0], metric.signature, str(problem))]
        return [one for pair in pairs for one in _judged(metric, [pair], answers)]


def unjudged(pair: Pair, signature: str, reason: str) -> Scored:
    """The result of a pair that was never judged."""
    nothing = {"score": None, "certainty": None, "report": None, "recovered": (), "thinking": ""}
    texts = {name: getattr(pair, name) for name in ("instruction", "output", "language", "system", "culture")}
    return Scored(id=pair.id, failure=reason, signature=signature, **texts, **nothing)  # pyright: ignore[reportArgumentType]  # by name


def _told(problem: BaseException) -> str:
    """What went wrong and where, for the log: not the message, which may quote a text."""
    trace = problem.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"{type(problem).__name__}{where}"

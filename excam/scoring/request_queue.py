"""A bounded queue in front of a metric: waiting pairs are judged in batches, by the one thread that owns the model.

Requests are independent: one may be cancelled, and a pair that cannot be judged becomes a result with a failure while
the other pairs of its batch are judged. If the queue is full, the request is refused, with a time to retry.

A connection has one request in the queue at a time, and requests are judged first in, first out, so connections take
turns. A full queue still accepts a request that is no larger than an equal share of its limit: with a limit of n, one
of a single pair as long as fewer than n requests wait. So at most n requests wait, and at most n + n/2 + ... + n/n
pairs.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from excam.core.exceptions import AnswersMissing, ExcamError, InputInvalid
from excam.core.provenance import Progress
from excam.scoring.defaults import MAX_PAIRS, QUEUE
from excam.scoring.files import Scorer
from excam.scoring.pairs import Pair
from excam.scoring.scored import Scored

Status = Literal["loading", "ready", "failed", "stopping"]
MAX_CHARS = 200_000  # characters of a pair; longer ones take a tokenizer over a second and fit no model's context
MAX_WAIT = 300  # seconds
FIRST = Pair(
    "first", "Name a Greek dish.", "Moussaka."
)  # judged at the start, to load the model and show that it works
TOO_LONG = "too-long"


class Refused(Exception):  # never leaves the server
    """Raised for pairs that are not accepted now; `wait` is the number of seconds before a retry."""

    def __init__(self, line: str, wait: int) -> None:
        super().__init__(line)
        self.wait = wait


class Failed(Exception):  # never leaves the server
    """Raised for accepted pairs that could not be judged because of the server."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The pairs of one request and the future of their results; cancelling `done` removes them from the queue."""

    pairs: Sequence[Pair]
    done: asyncio.Future[list[Scored]]


class RequestQueue:
    """The queue and its thread. `limit` is that of waiting pairs, `max_pairs` that of a batch."""

    def __init__(self, metric: Scorer[Pair], max_pairs: int = MAX_PAIRS, limit: int = QUEUE) -> None:
        self.metric, self.max_pairs, self.limit = metric, max_pairs, limit
        self.status: Status = "loading"
        self.problem: BaseException | None = None  # the reason why the model could not be opened
        self._jobs: deque[Job] = deque()
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._seconds = 1.0  # per pair, in the last batch

    @property
    def waiting(self) -> int:
        """Return the number of waiting pairs, without those being judged."""
        return sum(self._sizes())

    def _sizes(self) -> list[int]:
        """Return the number of pairs of each waiting request."""
        return [len(job.pairs) for job in self._jobs if not job.done.done()]

    def enter(self, pairs: Sequence[Pair]) -> Job:
        """Queue the pairs of a request. Raises Refused if there is no room, or if the queue has stopped.

        There is room for as many pairs as the limit leaves, and for an equal share of the limit: as many pairs as each
        request could have if all waiting ones, and this one, had the same number.
        """
        if self.status in ("failed", "stopping"):
            raise Refused(f"the server is {self.status}; send it again later", 10)
        sizes = self._sizes()
        waiting, share = sum(sizes), self.limit // (len(sizes) + 1)
        if waiting and waiting + len(pairs) > self.limit and len(pairs) > share:
            wait = min(MAX_WAIT, max(1, math.ceil(waiting * self._seconds)))
            fewer = f", or {share} pairs or fewer now" if share else ""
            raise Refused(f"{waiting} pairs wait, of {self.limit} that may; send it again in {wait} s{fewer}", wait)
        job = Job(pairs, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._changed.set()
        return job

    def stop(self) -> None:
        """Finish the current batch and refuse all waiting requests now, so that clients can ask another server."""
        if self.status != "failed":
            self.status = "stopping"
        for job in self._jobs:
            if not job.done.done():
                job.done.set_exception(Refused("the server is stopping; send it again later", 10))
        self._jobs.clear()
        self._changed.set()
        self._over.set()

    async def run(self) -> None:
        """Load the model and judge until `stop`. If it cannot be loaded, `problem` is the reason."""
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
            thread.shutdown(wait=False)  # idle, unless a model is still loading, which is not waited for

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
        """Return the requests of the next batch, first in, first out."""
        batch: list[Job] = []
        while self._jobs:
            job = self._jobs[0]
            if job.done.done():  # cancelled
                self._jobs.popleft()
                continue
            if batch and sum(len(one.pairs) for one in batch) + len(job.pairs) > self.max_pairs:
                break
            batch.append(self._jobs.popleft())
        return batch

    async def _judge(self, thread: ThreadPoolExecutor, batch: Sequence[Job]) -> None:
        pairs = [pair for job in batch for pair in job.pairs]
        began = time.monotonic()
        outcome = asyncio.get_running_loop().run_in_executor(thread, results, self.metric, pairs)
        await asyncio.wait([outcome])  # raises nothing, so that the queue continues after any error
        problem = outcome.exception()
        if not problem:
            self._seconds = (time.monotonic() - began) / len(pairs)
        judged = iter(() if problem else outcome.result())
        for job in batch:
            found = [next(judged) for _ in job.pairs] if not problem else []
            if job.done.done():
                continue
            if problem:
                job.done.set_exception(
                    problem if isinstance(problem, ExcamError) else Failed(_error_type_and_place(problem))
                )
            else:
                job.done.set_result(found)


def results(metric: Scorer[Pair], pairs: Sequence[Pair]) -> list[Scored]:
    """Return a result for each pair, in order. Ids may repeat, because pairs of several requests are in one batch."""
    named = [replace(pair, id=str(at)) for at, pair in enumerate(pairs)]
    long = {pair.id for pair in named if len(pair.instruction) + len(pair.output) > MAX_CHARS}
    with tempfile.TemporaryDirectory() as scratch:
        found = _results(metric, [pair for pair in named if pair.id not in long], Path(scratch, "answers.jsonl"))
    by_id = {one.id: one for one in found}
    by_id |= {pair.id: failed_result(pair, metric.signature, TOO_LONG) for pair in named if pair.id in long}
    return [replace(by_id[name.id], id=pair.id) for name, pair in zip(named, pairs, strict=True)]


def _results(metric: Scorer[Pair], pairs: Sequence[Pair], answers: Path) -> list[Scored]:
    """Return results of pairs with distinct ids, in any order. `answers` is the journal."""
    if not pairs:
        return []
    try:
        return list(metric.score(pairs, journal=answers, progress=Progress("", None, every=math.inf)))
    except AnswersMissing as missing:
        reasons = {str(row): reason for row, reason in missing.reasons.items()}
        left = [pair for pair in pairs if pair.id not in reasons]
        silent = [pair for pair in pairs if pair.id in reasons]
        found = [failed_result(pair, metric.signature, f"unanswered: {reasons[pair.id]}") for pair in silent]
        return found + _results(metric, left, answers)
    except InputInvalid as problem:  # one of the pairs is no input for this model; find it
        if len(pairs) == 1:
            return [failed_result(pairs[0], metric.signature, str(problem))]
        return [one for pair in pairs for one in _results(metric, [pair], answers)]


def failed_result(pair: Pair, signature: str, reason: str) -> Scored:
    """Return the result of a pair that could not be judged."""
    nothing = {"score": None, "certainty": None, "report": None, "recovered": (), "thinking": ""}
    texts = {name: getattr(pair, name) for name in ("instruction", "output", "language", "system", "culture")}
    return Scored(id=pair.id, failure=reason, signature=signature, **texts, **nothing)  # pyright: ignore[reportArgumentType]  # by name


def _error_type_and_place(problem: BaseException) -> str:
    """Return type and place of an error for the log, without its message, which may quote a text."""
    trace = problem.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"{type(problem).__name__}{where}"

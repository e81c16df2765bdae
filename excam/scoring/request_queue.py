"""A bounded queue in front of a metric: waiting rows are judged in batches, by the one thread that owns the model.

Requests are independent: one may be cancelled, and a row that cannot be judged becomes a result with a failure while
the other rows of its batch are judged. If the queue is full, the request is refused, with a time to retry.

A connection has one request in the queue at a time, and requests are judged first in, first out, so connections take
turns.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

from excam.core.exceptions import AnswersMissing, ExcamError, InputInvalid
from excam.core.provenance import Progress
from excam.inference.journal import Journal
from excam.scoring.defaults import MAX_ROWS, QUEUE
from excam.scoring.files import Judge
from excam.scoring.metric import Row
from excam.scoring.results import Result

Status = Literal["loading", "ready", "failed", "stopping"]
MAX_CHARS = 200_000  # characters of a row; longer ones take a tokenizer over a second and fit no model's context
MAX_WAIT = 300  # seconds
TOO_LONG = "too-long"


class Refused(Exception):  # never leaves the server
    """Raised for rows that are not accepted now; `wait` is the number of seconds before a retry."""

    def __init__(self, line: str, wait: int) -> None:
        super().__init__(line)
        self.wait = wait


class ServerFailed(Exception):  # never leaves the server
    """Raised for accepted rows that could not be judged because of the server."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The rows of one request and the future of their results; cancelling `done` removes them from the queue."""

    rows: Sequence[Row]
    done: asyncio.Future[list[Result]]


class RequestQueue:
    """The queue and its thread. `limit` is that of waiting rows, `max_rows` that of a batch."""

    def __init__(self, judge: Judge, max_rows: int = MAX_ROWS, limit: int = QUEUE) -> None:
        self.judge, self.max_rows, self.limit = judge, max_rows, limit
        self.status: Status = "loading"
        self.problem: BaseException | None = None  # the reason why the model could not be opened
        self._jobs: deque[Job] = deque()
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._seconds = 1.0  # per row, in the last batch

    def _first(self) -> Row:
        """Return a row that is scored at the start, to load the model and show that it works."""
        metric = self.judge.metric
        return Row("first", dict(metric.example) or dict.fromkeys(metric.columns, "Moussaka."))

    @property
    def waiting(self) -> int:
        """Return the number of waiting rows, without those being judged."""
        return sum(len(job.rows) for job in self._jobs if not job.done.done())

    def enter(self, rows: Sequence[Row]) -> Job:
        """Queue the rows of a request. Raises Refused if the limit leaves no room, or if the queue has stopped."""
        if self.status in ("failed", "stopping"):
            raise Refused(f"the server is {self.status}; send it again later", 10)
        waiting = self.waiting
        if waiting and waiting + len(rows) > self.limit:
            wait = min(MAX_WAIT, max(1, math.ceil(waiting * self._seconds)))
            raise Refused(f"{waiting} rows wait, of {self.limit} that may; send it again in {wait} s", wait)
        job = Job(rows, asyncio.get_running_loop().create_future())
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
        first = Job([self._first()], asyncio.get_running_loop().create_future())
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
            if batch and sum(len(earlier.rows) for earlier in batch) + len(job.rows) > self.max_rows:
                break
            batch.append(self._jobs.popleft())
        return batch

    async def _judge(self, thread: ThreadPoolExecutor, batch: Sequence[Job]) -> None:
        rows = [row for job in batch for row in job.rows]
        began = time.monotonic()
        outcome = asyncio.get_running_loop().run_in_executor(thread, results, self.judge, rows)
        await asyncio.wait([outcome])  # raises nothing, so that the queue continues after any error
        problem = outcome.exception()
        if not problem:
            self._seconds = (time.monotonic() - began) / len(rows)
        judged = iter(() if problem else outcome.result())
        for job in batch:
            job_results = [next(judged) for _ in job.rows] if not problem else []
            if job.done.done():
                continue
            if problem:
                job.done.set_exception(
                    problem if isinstance(problem, ExcamError) else ServerFailed(_error_type_and_place(problem))
                )
            else:
                job.done.set_result(job_results)


def results(judge: Judge, rows: Sequence[Row]) -> list[Result]:
    """Return a result for each row, in order. Ids may repeat, because rows of several requests are in one batch."""
    named = [
        replace(row, id=str(at), failure=TOO_LONG if sum(map(len, row.texts.values())) > MAX_CHARS else row.failure)
        for at, row in enumerate(rows)
    ]
    by_id = {result.id: result for result in _results(judge, named, Journal())}
    return [replace(by_id[name.id], id=row.id) for name, row in zip(named, rows, strict=True)]


def _results(judge: Judge, rows: Sequence[Row], answers: Journal) -> list[Result]:
    """Return results of rows with distinct ids, in any order.

    `answers` is the journal. It forgets none, since rows may have to be judged again.
    """
    try:
        return list(judge.score(rows, journal=answers, progress=Progress("", None, interval=math.inf)))
    except AnswersMissing as missing:
        reasons = {str(name): reason for name, reason in missing.reasons.items()}
        silent = {row.id: f"unanswered: {reasons[row.id]}" for row in rows if row.id in reasons}
        return _results(judge, [replace(row, failure=silent.get(row.id, row.failure)) for row in rows], answers)
    except InputInvalid as problem:  # one of the rows is no input for this model; find it
        if len(rows) == 1:
            return _results(judge, [replace(rows[0], failure=str(problem))], answers)
        return [result for row in rows for result in _results(judge, [row], answers)]


def _error_type_and_place(problem: BaseException) -> str:
    """Return type and place of an error for the log, without its message, which may quote a text."""
    trace = problem.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else ""
    return f"{type(problem).__name__}{where}"

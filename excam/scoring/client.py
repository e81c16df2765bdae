"""A client of `excam serve`, used as a metric with a model of this machine is.

The key comes from EXCAM_SERVER_KEY, is sent in one header, and is in no message. Redirects are not followed. The client
stores nothing: rows without results when a program ended are sent again by the next run.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from excam.core import listening, offline, web
from excam.core.exceptions import InputInvalid, ModelInvalid, in_a_line
from excam.core.provenance import Progress, say
from excam.inference.journal import Journal
from excam.scoring import async_bridge, messages
from excam.scoring import rows as reading
from excam.scoring.defaults import KEY
from excam.scoring.messages import Health
from excam.scoring.metric import LABELS, Metric, Row
from excam.scoring.results import Result, from_dict
from excam.scoring.scores import Results

if TYPE_CHECKING:
    import aiohttp

PER_REQUEST = 8  # rows; the server batches the rows of several requests
AT_ONCE = 8  # requests
ATTEMPTS = 8
BUSY = frozenset({429, 503})  # the server is overloaded: retried for ANSWER seconds
RETRIED = frozenset({408, 502, 504}) | BUSY
FIRST_WAIT = 0.5  # seconds before another attempt, doubled with each
CONNECT, ANSWER = 10.0, 900.0  # seconds; longer than the server's own timeout


class _Failed(Exception):  # never leaves this module
    """A request that failed and is to be retried after at least `wait` seconds."""

    def __init__(self, reason: str, wait: float = 0.0, *, busy: bool = False) -> None:
        super().__init__(reason)
        self.wait, self.busy = wait, busy


class Client:
    """Scores rows by asking a server; made by `connect`."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key
        (health,) = async_bridge.to_sync(self._health())
        self.signature = health.signature
        self.metric: Metric = messages.metric_of(health.metric)
        self._per_request = min(PER_REQUEST, health.max_rows)
        # this client alone never fills the queue
        self._at_once = max(1, min(AT_ONCE, health.queue // self._per_request))

    @property
    def identity(self) -> str:
        """Return the signature with the address: rows that another server scored are not continued."""
        return f"{self.signature}|{self._url}"

    def for_rows(self, rows: Iterable[Row]) -> Client:
        """Return itself: what depends on all rows of a file is not served."""
        return self

    def score(
        self,
        rows: Iterable[Mapping[str, Any] | Row],
        journal: Path | Journal | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Return an iterator over a result for each row, in order. `journal` is ignored: the server keeps answers.

        Raises InputInvalid for a column that no row has, ModelInvalid if the server cannot be reached any more.
        """
        known = reading.of_mappings(rows, self.metric)
        return Results(async_bridge.to_sync(self._results(known, progress)))

    async def ascore(
        self,
        rows: Iterable[Mapping[str, Any] | Row],
        journal: Path | Journal | None = None,
        progress: Progress | None = None,
    ) -> AsyncIterator[Result]:
        """Yield results as `score` does, for `async for`: several requests are open at once."""
        async for result in self._results(reading.of_mappings(rows, self.metric), progress):
            yield result

    async def _results(self, coming: Iterator[Row], progress: Progress | None) -> AsyncGenerator[Result, None]:
        open_: deque[asyncio.Task[list[Result]]] = deque()
        async with self._client() as client:
            try:
                while part := list(islice(coming, self._per_request)):
                    open_.append(asyncio.create_task(self._with_failures(client, part)))
                    while len(open_) >= self._at_once:
                        for result in _advanced(await open_[0], progress):
                            yield result
                        open_.popleft()
                while open_:
                    for result in _advanced(await open_[0], progress):
                        yield result
                    open_.popleft()
            finally:
                for task in open_:
                    task.cancel()
                await asyncio.gather(*open_, return_exceptions=True)

    async def _with_failures(self, client: aiohttp.ClientSession, part: Sequence[Row]) -> list[Result]:
        """Return the results of some rows; those that cannot be scored are not sent."""
        sent = [row for row in part if not row.failure]
        results = iter(await self._judged(client, sent) if sent else [])
        return [(self._failed(row) if row.failure else next(results)).of_row(row) for row in part]

    def _failed(self, row: Row) -> Result:
        labels: dict[str, Any] = dict(row.labels)
        known = {"metric": self.metric.description, "signature": self.signature}
        return Result(id=row.id, texts=row.texts, score=None, failure=row.failure, **known, **labels)

    async def _judged(self, client: aiohttp.ClientSession, part: Sequence[Row]) -> list[Result]:
        """Return the results of one request, with retries. Raises ModelInvalid when retries are exhausted."""
        sent = [{"id": row.id, **row.values, **row.labels} for row in part]
        body = json.dumps({"rows": sent}).encode("ascii")
        began, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            try:
                answer = await self._asked(client, "POST", "score", body)
                return self._read(answer, part)
            except _Failed as problem:
                if time.monotonic() - began > ANSWER or (attempt >= ATTEMPTS and not problem.busy):
                    line = f"{problem} ({attempt} attempts); see whether the server runs, and start again"
                    raise ModelInvalid(f"{self._url}: {line}") from None
                wait = min(30.0, FIRST_WAIT * 2 ** min(attempt, 10)) * random.uniform(0.5, 1.0)
                await asyncio.sleep(max(wait, problem.wait * random.uniform(1.0, 1.2)))

    def _read(self, answer: Any, part: Sequence[Row]) -> list[Result]:
        """Return the results in an answer. Raises ModelInvalid if they are of other rows or of another metric."""
        try:
            results = [from_dict(row) for row in answer["results"]]
        except (InputInvalid, LookupError, TypeError):
            results = []
        if [_facts(result) for result in results] != [_facts_of(row) for row in part]:
            raise ModelInvalid(
                f"{self._url}: no answer to what was asked; expected a server that `excam serve` started"
            )
        if others := {result.signature for result in results} - {self.signature}:
            raise ModelInvalid(
                f"{self._url}: judged by {min(others)}; expected {self.signature}, as in earlier answers; start again"
            )
        return results

    async def _health(self) -> AsyncGenerator[Health, None]:
        async with self._client() as client:
            try:
                answer = await self._asked(client, "GET", "health")
            except _Failed as problem:
                raise ModelInvalid(f"{self._url}: {problem}; expected a running `excam serve`") from None
        try:
            health = Health.model_validate_json(json.dumps(answer), strict=True)  # JSON has lists in place of tuples
        except ValidationError:
            line = "not a scoring server; expected the address that `excam serve` prints"
            raise ModelInvalid(f"{self._url}: {line}") from None
        yield health

    async def _asked(self, client: aiohttp.ClientSession, method: str, path: str, body: bytes = b"") -> Any:
        """Return the JSON of an answer. Raises _Failed if a retry may help, else InputInvalid or ModelInvalid."""
        import aiohttp

        try:
            async with (
                asyncio.timeout(ANSWER),
                client.request(method, f"{self._url}/{path}", data=body, allow_redirects=False) as answer,
            ):
                text = await answer.text(errors="replace")
        except aiohttp.ClientError as problem:
            raise _Failed(in_a_line(web.fault(problem).reason)) from None
        except TimeoutError:
            raise _Failed(f"no complete answer within {ANSWER:g} s") from None
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if answer.status == 200:
            return content
        line = content.get("error") if isinstance(content, dict) else text[:100]  # the answer may be a proxy's
        reason = f"HTTP {answer.status}: {' '.join(str(line or 'no reason given').split())[:200]}"
        if answer.status in RETRIED:
            wait = answer.headers.get("Retry-After", "")
            raise _Failed(
                reason, float(wait) if wait.isdecimal() and len(wait) < 4 else 0.0, busy=answer.status in BUSY
            )
        if answer.status in (413, 422):
            raise InputInvalid(f"{self._url}: {reason}")
        raise ModelInvalid(f"{self._url}: {reason}" + (f"; set {KEY}" if answer.status == 401 else ""))

    def _client(self) -> aiohttp.ClientSession:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip", **key}
            route = web.route(self._url, headers, CONNECT)
        except (ValueError, OSError) as problem:
            raise ModelInvalid(f"{self._url}: {in_a_line(problem)}; check the proxies and SSL_CERT_FILE") from None
        return route.session()


def connect(url: str) -> Client:
    """Return a client of the server at `url`, e.g. http://127.0.0.1:8010.

    Raises InputInvalid for an invalid address or with --offline; ModelInvalid if no scoring server answers.
    """
    offline.refuse(url, url)
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # an invalid port
        parts, valid = None, False
    if not valid or parts is None:
        shown = url.rpartition("@")[2]  # without the password before it
        raise InputInvalid(f"{shown}: no address of a server alone; expected one like http://127.0.0.1:8010")
    key = os.environ.get(KEY, "")
    if not (key.isascii() and (key.isprintable() or not key)):
        raise InputInvalid(f"{KEY}: holds characters that no key has; expected the key of {parts.hostname} alone")
    if parts.scheme == "http" and listening.is_public(str(parts.hostname)):
        say(f"warning: texts{' and key' if key else ''} go to {parts.hostname} unencrypted; expected https")
    return Client(url.rstrip("/"), key)


def _facts(result: Result) -> tuple[Any, ...]:
    return (result.id, result.texts, *(getattr(result, name) or None for name in LABELS))


def _facts_of(row: Row) -> tuple[Any, ...]:
    return (row.id, row.texts, *(row.labels.get(name) or None for name in LABELS))


def _advanced(results: list[Result], progress: Progress | None) -> list[Result]:
    if progress:
        progress.advance(len(results))
    return results

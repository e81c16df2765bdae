"""A metric over HTTP.

POST /score          {"rows": [...]} -> 200 {"results", "summary", "signature"}
GET  /health         state of the server, number of waiting rows, limits; needs no key

Errors are {"error": one line}: 401, 408, 413, 415, 422 for an invalid request; 503 with Retry-After if the queue is
full or the server stops; 504 if a request waited too long; 500 if the server failed. An unknown host name gets plain
text, 400.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request, Security
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from excam.core import request_bodies
from excam.core.escapes import visible
from excam.core.exceptions import ExcamError, InputInvalid
from excam.core.listening import LOCAL
from excam.core.release import VERSION
from excam.scoring import given_rows, summary
from excam.scoring.defaults import TIMEOUT
from excam.scoring.metric import Metric, Row
from excam.scoring.request_queue import Job, Refused, RequestQueue, ServerFailed
from excam.scoring.results import Result

LOG = logging.getLogger(__name__)
LARGEST = 4 * 2**20  # bytes of a request
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_BEARER = HTTPBearer(auto_error=False, description="the value of EXCAM_SERVER_KEY, if the server has one")


def application(
    queue: RequestQueue,
    *,
    key: str = "",
    hosts: Sequence[str] = LOCAL,
    timeout: float = TIMEOUT,
    failed: Callable[[], None] = lambda: None,
) -> FastAPI:
    """Return the server's application. The model is loaded when it starts; `failed` is called if that fails.

    `key` must be sent by clients, "" for none; `hosts` are the names that the server answers to; `timeout` is the
    seconds after which a waiting request fails.
    """
    web_application = FastAPI(title="ExCAM", version=VERSION, openapi_url=None, lifespan=_run_queue)
    web_application.state.queue, web_application.state.failed = queue, failed
    web_application.state.key, web_application.state.timeout = sha256(key.encode()).digest() if key else b"", timeout
    web_application.router.redirect_slashes = False
    web_application.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    web_application.post("/score")(score)
    web_application.get("/health")(health)
    web_application.add_exception_handler(PlainHTTPException, _refused)
    return web_application


@asynccontextmanager
async def _run_queue(app: FastAPI) -> AsyncIterator[None]:
    async def judge() -> None:
        queue: RequestQueue = app.state.queue
        await queue.run()
        if queue.problem:
            app.state.failed()

    running = asyncio.create_task(judge())
    yield
    app.state.queue.stop()
    await running


def health(request: Request) -> dict[str, Any]:
    """Return the state of the server, how many rows wait, and the limits of these and of one request."""
    queue: RequestQueue = request.app.state.queue
    about = {"status": queue.status, "signature": queue.judge.signature}
    return about | {"waiting": queue.waiting, "queue": queue.limit, "max_rows": queue.max_rows}


async def score(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> Response:
    """Score rows with the server's metric. A row without a score has a `failure`."""
    _refuse_stranger(request.app.state.key, credentials)
    queue: RequestQueue = request.app.state.queue
    began = time.monotonic()
    try:
        rows = rows_of(await _body(request), queue.judge.metric, queue.max_rows)
        job = queue.enter(rows)
        results = await _results(request, job)
    except InputInvalid as problem:
        raise HTTPException(422, str(problem)) from None
    except Refused as problem:
        raise HTTPException(503, str(problem), {"Retry-After": str(problem.wait)}) from None
    except (ServerFailed, ExcamError) as problem:  # e.g. a full disk
        LOG.error("judging failed: %s", problem)
        raise HTTPException(500, "the server failed; its log says where; send it again, or tell who runs it") from None
    LOG.info("%d rows in %.1f s", len(rows), time.monotonic() - began)
    return Response(answer_of(results, queue.judge.signature), headers=HEADERS, media_type="application/json")


def rows_of(body: bytes, metric: Metric, max_rows: int) -> list[Row]:
    """Return the rows of a request. Raises InputInvalid for no rows, too many, or rows without a column."""
    row = ", ".join(f'"{name}": ...' for name in metric.pair or metric.columns)
    expected = f'expected {{"rows": [{{{row}}}, ...]}}'
    try:
        request = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError: also digits beyond Python's limit
        raise InputInvalid(f"body: no JSON in UTF-8; {expected}") from None
    if not isinstance(request, Mapping) or request.keys() != {"rows"} or not isinstance(request["rows"], list):
        received = (
            f"keys {', '.join(map(str, request))[:100]}" if isinstance(request, Mapping) else type(request).__name__
        )
        raise InputInvalid(f"body: found {received}; {expected}")
    rows = request["rows"]
    if not 0 < len(rows) <= max_rows:
        raise InputInvalid(
            f"rows: found {len(rows)}; expected 1 to {max_rows}; send the others in a request of their own"
        )
    return list(given_rows.rows_of(rows, metric)[0])


def answer_of(results: Sequence[Result], signature: str) -> bytes:
    """Return the answer in ASCII, because a text may hold a lone surrogate, which UTF-8 cannot encode."""
    counter = summary.Summary()
    scored_rows = [result.to_dict() for result in counter.counting(results)]
    counts = {name.replace(" ", "_"): counter.counts[name] for name in ("rows", "with errors", "failed")}
    return json.dumps({"results": scored_rows, "summary": counts, "signature": signature}).encode("ascii")


def _refuse_stranger(key: bytes, credentials: HTTPAuthorizationCredentials | None) -> None:
    """Raise HTTPException 401 unless the key was sent. Hashes are compared in constant time."""
    sent = sha256((credentials.credentials if credentials else "").encode("utf-8", "surrogateescape")).digest()
    if key and not hmac.compare_digest(sent, key):
        raise HTTPException(
            401, "no key, or a wrong one; expected Authorization: Bearer and the key", {"WWW-Authenticate": "Bearer"}
        )


async def _body(request: Request) -> bytes:
    """Return the request body. Raise HTTPException 415 for a kind that a form on another site could send."""
    body = await request_bodies.read(request, LARGEST, "fewer or shorter rows; send them in several requests")
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or "Content-Encoding" in request.headers:
        raise HTTPException(415, "expected Content-Type: application/json, not compressed")
    return body


async def _results(request: Request, job: Job) -> Sequence[Any]:
    """Return the results of a request. If the client disconnects or the timeout passes, its rows leave the queue."""
    gone = asyncio.create_task(_gone(request))
    try:
        timeout = request.app.state.timeout
        await asyncio.wait({job.done, gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if job.done.done():
            return job.done.result()
        if gone.done():
            raise HTTPException(400, "the client went away")
        raise HTTPException(504, f"not judged within {timeout:g} s; send fewer rows, or send them again later")
    finally:
        gone.cancel()
        job.done.cancel()


async def _gone(request: Request) -> None:
    """Return when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refused(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, PlainHTTPException)
    line = problem.detail
    if problem.status_code in (404, 405) and line in ("Not Found", "Method Not Allowed"):
        line = f"{line.lower()}; expected POST /score or GET /health"
    text = " ".join(visible(line).split())[:400]
    return JSONResponse({"error": text}, problem.status_code, {**HEADERS, **(problem.headers or {})})

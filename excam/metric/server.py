"""The metric over HTTP: pairs in, error reports and scores out, described by an OpenAPI document.

POST /score          {"pairs": [...]} -> 200 {"results", "summary", "signature"}
GET  /health         how the server is, how many pairs wait, how many one may send; needs no key
GET  /openapi.json   what both take and give

What cannot be done is {"error": one line}: 401, 408, 413, 415, 422 for a request that is none; 503 with Retry-After
where the queue is full or the server stops; 504 where the turn did not come in time; 500 where it failed. A host name
that it does not answer to gets plain text, 400.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Annotated, Any

import anyio
from fastapi import FastAPI, HTTPException, Request, Security
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect

import excam
from excam.escapes import visible
from excam.exceptions import ExcamError, InputInvalid
from excam.listening import LOCAL, SENDING
from excam.metric import messages
from excam.metric.defaults import TIMEOUT
from excam.metric.judging import Failed, Job, Judging, Refused, Scorer

LOG = logging.getLogger(__name__)
LARGEST = 4 * 2**20  # bytes of a request
OVERHEARD = 8 * LARGEST  # bytes read and dropped: who still sends when we close the connection does not see why
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
STATUSES = (401, 408, 413, 415, 422, 500, 503, 504)
BODY = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Asked"}}}}
_BEARER = HTTPBearer(auto_error=False, description="the value of EXCAM_SERVER_KEY, where the server has one")


def application(
    metric: Scorer,
    judging: Judging | None = None,
    *,
    key: str = "",
    hosts: Sequence[str] = LOCAL,
    timeout: float = TIMEOUT,
    failed: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The server's application. The model is loaded once it runs; `failed` is called where it cannot be.

    `judging`: the queue, by default one of 256 pairs, 64 a batch. `key`: what clients have to show, "" for nothing;
    `hosts`: the names it answers to; `timeout`: seconds until a request whose turn has not come is given up.
    """
    judging = judging or Judging(metric)
    found = FastAPI(title="ExCAM", version=excam.__version__, docs_url=None, redoc_url=None, lifespan=_judging)
    found.state.judging, found.state.failed = judging, failed
    found.state.key, found.state.timeout = sha256(key.encode()).digest() if key else b"", timeout
    found.router.redirect_slashes = False
    found.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    known: dict[int | str, dict[str, Any]] = {status: {"model": messages.Problem} for status in STATUSES}
    found.post("/score", response_model=messages.Answered, responses=known, openapi_extra={"requestBody": BODY})(score)
    found.get("/health", response_model=messages.Health)(health)
    found.add_exception_handler(PlainHTTPException, _refused)
    plain = found.openapi

    def described() -> dict[str, Any]:
        document = plain()
        document["components"]["schemas"] |= messages.schemas()
        return document

    found.openapi = described
    return found


@asynccontextmanager
async def _judging(app: FastAPI) -> AsyncIterator[None]:
    async def judge() -> None:
        judging: Judging = app.state.judging
        await judging.run()
        if judging.problem:
            app.state.failed()

    running = asyncio.create_task(judge())
    yield
    app.state.judging.stop()
    await running


def health(request: Request) -> messages.Health:
    """How the server is."""
    judging: Judging = request.app.state.judging
    return messages.Health(
        status=judging.status,
        signature=judging.metric.signature,
        waiting=judging.waiting,
        queue=judging.queue,
        max_pairs=judging.max_pairs,
    )


async def score(
    request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> Response:
    """Judge pairs: where they get a culture wrong, how badly, and why. A pair without a score has a `failure`."""
    _refuse_stranger(request.app.state.key, shown)
    judging: Judging = request.app.state.judging
    began = time.monotonic()
    try:
        pairs = messages.read(await _body(request), judging.max_pairs)
        job = judging.enter(pairs)
        results = await _results(request, job)
    except InputInvalid as problem:
        raise HTTPException(422, str(problem)) from None
    except Refused as problem:
        raise HTTPException(503, str(problem), {"Retry-After": str(problem.wait)}) from None
    except (Failed, ExcamError) as problem:  # a model that is gone, or a disk that is full
        LOG.error("judging failed: %s", problem)
        raise HTTPException(500, "the server failed; its log says where; send it again, or tell who runs it") from None
    LOG.info("%d pairs in %.1f s", len(pairs), time.monotonic() - began)
    return Response(messages.written(results, judging.metric.signature), headers=HEADERS, media_type="application/json")


def _refuse_stranger(key: bytes, shown: HTTPAuthorizationCredentials | None) -> None:
    """Raises HTTPException 401 unless the key is shown. Hashes of one length are compared, in constant time."""
    given = sha256((shown.credentials if shown else "").encode("utf-8", "surrogateescape")).digest()
    if key and not hmac.compare_digest(given, key):
        raise HTTPException(
            401, "no key, or a wrong one; expected Authorization: Bearer and the key", {"WWW-Authenticate": "Bearer"}
        )


async def _body(request: Request) -> bytes:
    """What was sent, counted as it comes: a header may say anything."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or "Content-Encoding" in request.headers:  # what a form of a foreign page cannot send
        raise HTTPException(415, "expected Content-Type: application/json, not compressed", {"Connection": "close"})
    body, size = bytearray(), 0
    try:
        with anyio.fail_after(SENDING):
            async for piece in request.stream():
                size += len(piece)
                if size <= LARGEST:
                    body += piece
                elif size > OVERHEARD:
                    break
    except TimeoutError:
        raise HTTPException(408, f"no whole request in {SENDING} s; send it again", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "no whole request; send it again") from None
    if size > LARGEST:
        line = f"more than {LARGEST} bytes; expected fewer or shorter pairs; send them in several requests"
        raise HTTPException(413, line, {"Connection": "close"})
    return bytes(body)


async def _results(request: Request, job: Job) -> Sequence[Any]:
    """What the pairs were judged. A client that goes away, or waits too long, takes its pairs out of the queue."""
    gone = asyncio.create_task(_gone(request))
    try:
        timeout = request.app.state.timeout
        await asyncio.wait({job.done, gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if job.done.done():
            return job.done.result()
        if gone.done():
            raise HTTPException(400, "the client went away")
        raise HTTPException(504, f"not judged within {timeout:g} s; send fewer pairs, or send them again later")
    finally:
        gone.cancel()
        job.done.cancel()


async def _gone(request: Request) -> None:
    """Returns when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refused(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, PlainHTTPException)
    line = problem.detail
    if problem.status_code in (404, 405) and line in ("Not Found", "Method Not Allowed"):
        line = f"{line.lower()}; expected POST /score, GET /health or GET /openapi.json"
    text = " ".join(visible(line).split())[:400]
    return JSONResponse({"error": text}, problem.status_code, {**HEADERS, **(problem.headers or {})})

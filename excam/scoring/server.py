"""A metric over HTTP, described by an OpenAPI document.

POST /score          {"rows": [...]} -> 200 {"results", "summary", "signature"}
GET  /health         state of the server, number of waiting rows, limits; needs no key
GET  /openapi.json   schema of requests and answers

Errors are {"error": one line}: 401, 408, 413, 415, 422 for an invalid request; 503 with Retry-After if the queue is
full or the server stops; 504 if a request waited too long; 500 if the server failed. An unknown host name gets plain
text, 400.
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
from excam.scoring import messages
from excam.scoring.defaults import TIMEOUT
from excam.scoring.request_queue import Failed, Job, Refused, RequestQueue

LOG = logging.getLogger(__name__)
LARGEST = 4 * 2**20  # bytes of a request
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
STATUSES = (401, 408, 413, 415, 422, 500, 503, 504)
BODY = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Asked"}}}}
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
    web_application = FastAPI(title="ExCAM", version=VERSION, docs_url=None, redoc_url=None, lifespan=_run_queue)
    web_application.state.queue, web_application.state.failed = queue, failed
    web_application.state.key, web_application.state.timeout = sha256(key.encode()).digest() if key else b"", timeout
    web_application.router.redirect_slashes = False
    web_application.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    problems: dict[int | str, dict[str, Any]] = {status: {"model": messages.Problem} for status in STATUSES}
    web_application.post(
        "/score", response_model=messages.Answered, responses=problems, openapi_extra={"requestBody": BODY}
    )(score)
    web_application.get("/health", response_model=messages.Health)(health)
    web_application.add_exception_handler(PlainHTTPException, _refused)
    plain = web_application.openapi

    def described() -> dict[str, Any]:
        document = plain()
        document["components"]["schemas"] |= messages.schemas(queue.judge.metric)
        return document

    web_application.openapi = described
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


def health(request: Request) -> messages.Health:
    """Return the state of the server."""
    queue: RequestQueue = request.app.state.queue
    return messages.Health(
        status=queue.status,
        signature=queue.judge.signature,
        waiting=queue.waiting,
        queue=queue.limit,
        max_rows=queue.max_rows,
    )


async def score(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> Response:
    """Score rows with the server's metric. A row without a score has a `failure`."""
    _refuse_stranger(request.app.state.key, credentials)
    queue: RequestQueue = request.app.state.queue
    began = time.monotonic()
    try:
        rows = messages.read(await _body(request), queue.judge.metric, queue.max_rows)
        job = queue.enter(rows)
        results = await _results(request, job)
    except InputInvalid as problem:
        raise HTTPException(422, str(problem)) from None
    except Refused as problem:
        raise HTTPException(503, str(problem), {"Retry-After": str(problem.wait)}) from None
    except (Failed, ExcamError) as problem:  # e.g. a full disk
        LOG.error("judging failed: %s", problem)
        raise HTTPException(500, "the server failed; its log says where; send it again, or tell who runs it") from None
    LOG.info("%d rows in %.1f s", len(rows), time.monotonic() - began)
    return Response(messages.answer(results, queue.judge.signature), headers=HEADERS, media_type="application/json")


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
        line = f"{line.lower()}; expected POST /score, GET /health or GET /openapi.json"
    text = " ".join(visible(line).split())[:400]
    return JSONResponse({"error": text}, problem.status_code, {**HEADERS, **(problem.headers or {})})

"""The server of a campaign: it serves the page to each annotator and stores the answers.

Whoever has a link is its annotator; there is no other login. Answers travel as JSON, one at a time. Of two about one
task, from two tabs or two machines, the one that was saved later counts; the store keeps both.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from excam.annotation import answers, exchange, page
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign
from excam.annotation.form import SUBMITTED
from excam.annotation.storage import Unwritable
from excam.annotation.store import Saved, Store
from excam.core import listening, request_bodies
from excam.core.escapes import visible
from excam.core.exceptions import ExcamError, InputInvalid
from excam.core.provenance import say

LOG = logging.getLogger(__name__)
LONG = re.compile(r"[^/?\s]{17,}")  # a link's token has 32 characters, a task's id 16
LARGEST = 256 * 2**10  # bytes of one answer; ten full texts of four-byte characters have 200,000
NOWHERE = "no such page; expected the complete link that you were given"
CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": CLOSED,
    "Referrer-Policy": "no-referrer",  # the link is the key
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def application(store: Store, hosts: Sequence[str] = listening.LOCAL) -> Starlette:
    """The server's application. It answers requests to these host names only, and closes the store at its end.

    GET  /a/{token}                 the page; 404 for every token that is none
    GET  /a/{token}/answers         {"annotator", "answers": [{"revision", "answer"}]}
    PUT  /a/{token}/answers/{task}  an answer -> {"revision", "answer"} that count now, on disk: another answer if it
                                    is later; 400, 404, 408, 413, 500, 507: {"error": one line}, nothing is saved
    GET  /a/{token}/answers/{task}/others  {"answers": [{field: value}]} of those who submitted, once one's own is, for
                                    tasks that the form compares; 403 before
    """

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        store.close()

    web_application = Starlette(
        routes=[
            Route("/a/{token}", _page),
            Route("/a/{token}/answers", _answers),
            Route("/a/{token}/answers/{task}", _save, methods=["PUT"]),
            Route("/a/{token}/answers/{task}/others", _others),
        ],
        middleware=[  # the first is around the others
            Middleware(_Headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
        exception_handlers={HTTPException: _refusal, ExcamError: _failure, 500: _failure},
        lifespan=closing,
    )
    web_application.router.redirect_slashes = False
    web_application.state.store = store
    return web_application


def _page(request: Request) -> Response:
    served = page.Served(_annotator(request), f"/a/{request.path_params['token']}")
    text = page.write(request.app.state.store.campaign, served)
    policy = f"{page.policy(served)}; frame-ancestors 'none'"  # the page itself cannot say who may frame it
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def _answers(request: Request) -> Response:
    name = _annotator(request)
    rows = [_row(each) for each in request.app.state.store.latest(name)]
    return JSONResponse({"annotator": name, "answers": rows})


async def _save(request: Request) -> Response:
    name = await run_in_threadpool(_annotator, request)
    store: Store = request.app.state.store
    task = request.path_params["task"]
    if task not in store.campaign.by_id:
        raise HTTPException(404, f"task {task[:40]!r} is not in this campaign; expected one of its tasks; reload it")
    answer = _sent(await request_bodies.read(request, LARGEST, "one answer"), store.campaign)
    if (answer.annotator, answer.task) != (name, task):
        raise HTTPException(
            400, f"{answer.annotator}'s answer about {answer.task}; expected {name}'s about {task}, as the address says"
        )
    return JSONResponse(_row(await run_in_threadpool(store.save, answer)))


def _others(request: Request) -> Response:
    """Return what others submitted about a task, without their names, to who has submitted an answer of their own."""
    name, store = _annotator(request), request.app.state.store
    form, wanted = store.campaign.form, request.path_params["task"]
    task = next((task for task in store.campaign.tasks_of(name) if task.id == wanted), None)
    if task is None or form.compare is None or not answers.is_compared(form, task):
        raise HTTPException(404, "no task whose answers are compared; expected one of the calibration")
    submitted = {answer.annotator: answer for answer in store.about(wanted) if answer[SUBMITTED]}
    if name not in submitted:
        raise HTTPException(403, "submit your own answer first; the others' are shown after it")
    rows = [
        {field: answer[field] for field in form.compare.fields}
        for answer in submitted.values()
        if answer.annotator != name
    ]
    return JSONResponse({"answers": sorted(rows, key=str)})  # by content, so that the order does not identify raters


def _annotator(request: Request) -> str:
    """Return the annotator of a link. An unknown link gets the same response as an address that does not exist."""
    name = request.app.state.store.annotator(request.path_params["token"])
    if name is None:
        raise HTTPException(404)
    return name


def _row(saved: Saved) -> dict[str, Any]:
    return {"revision": saved.revision, "answer": saved.answer.row()}


def _sent(body: bytes, campaign: Campaign) -> Answer:
    """Return the answer in a request. Raises HTTPException 400 if it is invalid."""
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise HTTPException(400, f"no JSON in UTF-8 ({str(problem)[:100]}); expected an answer") from None
    if not isinstance(raw, dict):
        raise HTTPException(400, "expected an answer, an object")
    try:
        answer = answers.read(raw, campaign)
        exchange.refuse_future([answer])
    except InputInvalid as problem:
        raise HTTPException(400, str(problem)) from None
    return answer


def _refusal(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    line = NOWHERE if problem.status_code == 404 and problem.detail == "Not Found" else problem.detail
    return _line(request, problem.status_code, line, problem.headers)


def _failure(request: Request, problem: Exception) -> Response:
    """Return the response to a failure of the store or of our code. The line names no path; the log has the details."""
    if isinstance(problem, ExcamError):
        LOG.error("%s", problem)
    if isinstance(problem, Unwritable):
        return _line(
            request, 507, "the server cannot write just now; nothing that was saved is lost; it is tried again"
        )
    return _line(request, 500, "the server failed; nothing that was saved is lost; tell who runs this campaign")


def _line(request: Request, status: int, line: str, more: Mapping[str, str] | None = None) -> Response:
    """Return one line as a response: JSON for the page's script, text for a person."""
    text, headers = " ".join(visible(line).split())[:300], {**HEADERS, **(more or {})}
    if "/answers" in request.scope["path"]:
        return JSONResponse({"error": text}, status, headers)
    return PlainTextResponse(f"{text}\n", status, headers)


class _Headers:
    """Middleware that adds `HEADERS` to every response; headers that the response already has are kept."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)


class _Redacted(logging.Filter):
    """Log filter that removes tokens from the access log: a reader of the log must not be able to answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True always: a line is changed, never dropped."""
        if isinstance(record.args, tuple):
            record.args = tuple(LONG.sub("…", value) if isinstance(value, str) else value for value in record.args)
        return True


def serve(store: Store, host: str, port: int, names: Sequence[str]) -> None:
    """Serve until SIGINT or SIGTERM. Raises InputInvalid if nothing can listen there.

    Args:
        store: of the campaign
        host: the address to listen at
        port: 0: any that is free
        names: further names of this machine, to which it answers
    """
    listener = listening.listening_socket(host, port)
    if listening.is_public(host):
        say("warning: what is sent is not encrypted, links included; put a server with TLS in front of this one")
    hosts = listening.announce(listener, host, names)
    config = listening.server_config(application(store, hosts), _log_config(), timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[listener])


def _log_config() -> dict[str, Any]:
    config = listening.log_config()
    config["filters"] = {"redacted": {"()": _Redacted}}
    config["handlers"]["access"] |= {"stream": "ext://sys.stderr", "filters": ["redacted"]}
    return config

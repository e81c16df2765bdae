"""Connections to OpenAI-compatible servers: address, key, pool of connections, event loop, and how a request fails."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from excam.config import Server
from excam.core import web
from excam.core.exceptions import ModelInvalid

if TYPE_CHECKING:
    import aiohttp

LARGEST = 64 * 2**20  # bytes of a response
LARGE = 2**20  # bytes of a request that is sent piece by piece
CONNECT = 30.0  # seconds to connect, part of the time for an answer
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
BUSY = frozenset({429, 503, 529})  # of these, those of a server that has too many requests
REDIRECTED = frozenset({301, 302, 303, 307, 308})
FINAL = frozenset({401, 402, 404, 405})  # errors that all other requests would get too, as with these codes of OpenAI
FINAL_CODES = frozenset(
    {"insufficient_quota", "invalid_api_key", "model_not_found"}
    | {"unknown_parameter", "unsupported_parameter", "unsupported_value"}
)
# Statuses that may be the fault of one request, and how often it is sent before its own refusal is believed
OF_ONE_REQUEST = {**dict.fromkeys((400, 403, 413, 414, 415, 422, 431, 451), 2), 500: 6}


@dataclass(eq=False)
class CallFailed(Exception):  # not raised outside the backend
    """A request failed.

    `again`: retry after at least `wait` seconds; `later`: the server itself says that it is for now only; `final`: all
    other requests would fail too; `believed`: after so many equal failures, the request itself is the cause, if others
    are answered; `busy`: the server has too many requests; `reached`: it was there;
    `strange`: what it answered is none of this API;
    `instead`: the question to ask when it is asked again.
    """

    reason: str
    _: KW_ONLY
    again: bool = False
    later: bool = False
    wait: float = 0.0
    final: bool = False
    believed: int = 0
    busy: bool = False
    reached: bool = True
    strange: bool = False
    instead: Any = None


def route(name: str, url: str, label: str, key: str) -> web.Route:
    """Return how a server is reached. Raise ModelInvalid if proxy or TLS settings of the environment are invalid.

    Args:
        name: of the model, for messages
        url: of the requests
        label: the address without what may be a key, for messages
        key: of the server; "": none is sent
    """
    headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    try:
        return web.route(url, headers, CONNECT)
    except (ValueError, OSError) as problem:
        raise ModelInvalid(
            f"{name}: {label} cannot be asked: {without_key(str(problem), key)}; check HTTPS_PROXY, ALL_PROXY, "
            "NO_PROXY and SSL_CERT_FILE in the environment"
        ) from None


def without_key(text: str, *secrets: str) -> str:
    """Return one short line without the key, or the query of an address, which a server may echo."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return " ".join(text.split())[:200]


def address(name: str, endpoint: str) -> tuple[str, str]:
    """Return the URL of requests, and the endpoint without user, password and query for messages.

    Raise ModelInvalid if it is not a valid address.
    """
    with suppress(ValueError):
        parts = urlsplit(endpoint)
        url = parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions", fragment="").geturl()
        if web.host_of(url):
            return url, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    label = endpoint.partition("?")[0].rpartition("@")[2]
    raise ModelInvalid(f"{name}: {label} is not an address; expected one like https://host/v1")


def key_of(name: str, server: Server, label: str) -> str:
    """Return the key, "" if the server needs none. Raise ModelInvalid if it is missing or invalid.

    A key with characters that a header cannot have is refused here, because the exception of a library would quote it.
    """
    if not server.key_env:
        return ""
    key = os.environ.get(server.key_env, "").strip()
    if not key:
        raise ModelInvalid(f"{name}: environment variable {server.key_env} is not set; expected the key of {label}")
    if not key.isascii() or not key.isprintable():
        raise ModelInvalid(
            f"{name}: environment variable {server.key_env} holds a line break or other characters that no key has; "
            f"expected the key of {label} alone"
        )
    return key


@contextmanager
def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield an event loop in a separate thread, since a notebook already runs one in the caller's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="asking", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def posted(
    client: aiohttp.ClientSession, url: str, fields: Mapping[str, Any], seconds: float
) -> tuple[aiohttp.ClientResponse, bytes]:
    """Return the response to a request and its body. Raise CallFailed if it is not complete within `seconds`."""
    import aiohttp

    sent = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    data, body = sent if len(sent) < LARGE else BytesIO(sent), bytearray()
    try:
        async with (
            asyncio.timeout(seconds),
            client.post(web.encoded(url), data=data, allow_redirects=False) as response,
        ):
            coding = response.headers.get("Content-Encoding", "identity").strip().lower()
            if coding not in ("identity", "gzip"):
                raise CallFailed(f"HTTP {response.status} with a body in {coding}, which was not asked for")
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > LARGEST:
                    raise CallFailed(f"HTTP {response.status} with more than {LARGEST} bytes")
            return response, bytes(body)
    except aiohttp.ClientError as problem:  # refused, reset, incomplete body
        fault = web.fault(problem)
        again, reached = not fault.untrusted, fault.reached
        raise CallFailed(fault.reason, again=again, final=fault.untrusted, reached=reached) from None
    except TimeoutError:
        raise CallFailed(f"no complete answer within {seconds:g} s", again=True, busy=True) from None


async def end(client: aiohttp.ClientSession) -> None:
    """Cancel open requests (the caller has stopped) and close the connections."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await client.close()

"""Connections of the HTTP servers: a bounded number, time limits for incomplete requests, and a short log.

Requires uvicorn; constants that clients also need are in `excam.core.listening`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
from typing import Any

import anyio
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from excam.core.listening import AT_ONCE, BACKLOG, HEAD, IDLE

LOG = logging.getLogger(__name__)
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Connection(H11Protocol):
    """A uvicorn connection that also closes if no complete request arrives.

    Uvicorn closes a connection that stays idle after a response. This class also closes one after `HEAD` seconds
    without a first request, within the headers, or within a body that the application did not wait for. If half of the
    allowed connections are open, a new one replaces the one that has been without a complete request for longest; the
    other half of the limit is left for requests, which end slightly later than their connections.
    """

    _since: float  # time at which it was opened or last answered
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn
        super().connection_made(transport)
        # asyncio does so for its own sockets only; without it, the second part of a response waits 40 ms for the client
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._since = self.loop.time()
        self._watch()
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency // 2:
            self._take_a_place()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._since = self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._watch()

    def shutdown(self) -> None:
        """Answer requests that have arrived completely; do not wait for an incomplete one."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.abort()
        else:
            super().shutdown()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        """Start or stop the timer for data that the client still has to send."""
        silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        kept_alive = silent and self.timeout_keep_alive_task is not None
        if self._answering() or kept_alive or self.transport.is_closing():
            if self._late:
                self._late.cancel()
                self._late = None
        elif not self._late:  # single bytes that arrive slowly do not restart it
            self._late = self.loop.call_later(HEAD, self.transport.close)

    def _waits_for_client(self) -> bool:
        """Return whether closing loses only data that the client would send again or has not fetched."""
        return not self._answering() or self.conn.their_state is h11.SEND_BODY or self.flow.write_paused

    def _take_a_place(self) -> None:
        """Close the connection that has been without a complete request for longest, unless all are being answered."""
        others = (other for other in self.connections if isinstance(other, Connection) and other is not self)
        oldest = min(
            (other for other in others if other._waits_for_client()),
            key=lambda other: other._since,
            default=None,
        )
        if oldest:
            self.connections.discard(oldest)  # immediately: several may arrive before the loop reports the loss
            oldest.transport.abort()


class Server(uvicorn.Server):
    """A uvicorn server that logs one line when no more connections can be accepted."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._failed)
        await super().serve(sockets)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if not isinstance(problem, OSError) or problem.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
        else:
            LOG.warning("connections wait, since none can be accepted: %s; see `ulimit -n`", problem.strerror)


def server_config(app: Any, log_config: dict[str, Any], **more: Any) -> uvicorn.Config:
    """Return the uvicorn settings of an ExCAM server; `more` is passed on to uvicorn."""
    anyio.run(anyio.sleep, 0)  # loads its backend now: at the first request all descriptors may be taken
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = descriptors == resource.RLIM_INFINITY
    return uvicorn.Config(
        app,
        http=Connection,
        loop="asyncio",
        ws="none",  # websockets would bypass the limits of `Connection`
        lifespan="on",
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=AT_ONCE if unlimited else min(AT_ONCE, descriptors // 2),  # the rest is for files
        timeout_keep_alive=IDLE,
        log_config=log_config,
        log_level=None,
        **more,
    )

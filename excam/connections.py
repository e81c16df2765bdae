"""Connections of our servers: their number is bounded, none waits for long for a request, and the log stays short.

Needs uvicorn; what a client needs to know of a server is in `excam.listening`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from excam.listening import AT_ONCE, BACKLOG, HEAD, IDLE

LOG = logging.getLogger(__name__)
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Connection(H11Protocol):
    """Uvicorn's connection, closed also where no request comes.

    Uvicorn closes a connection that is silent after an answer. This one also closes it after `HEAD` seconds without a
    first request, within a head, or within a body that the application has not waited for. Where half as many are open
    as may be, a new one takes the place of the one that has been without a whole request for longest: the other half is
    left for requests, which end a little later than their connections.
    """

    _since: float  # when it was opened or last answered
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn
        super().connection_made(transport)
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
        """Answer what has come whole; half a request is not waited for."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.abort()
        else:
            super().shutdown()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        """Start or stop the clock for what the client still has to send."""
        silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        kept_alive = silent and self.timeout_keep_alive_task is not None
        if self._answering() or kept_alive or self.transport.is_closing():
            if self._late:
                self._late.cancel()
                self._late = None
        elif not self._late:  # bytes that trickle in do not start it again
            self._late = self.loop.call_later(HEAD, self.transport.close)

    def _waits_for_client(self) -> bool:
        """Whether nothing is lost but what the client would have to send again, or has not fetched."""
        return not self._answering() or self.conn.their_state is h11.SEND_BODY or self.flow.write_paused

    def _take_a_place(self) -> None:
        """Close the connection that has been without a whole request for longest; none where all are being answered."""
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        oldest = min((one for one in others if one._waits_for_client()), key=lambda one: one._since, default=None)
        if oldest:
            self.connections.discard(oldest)  # now: several may come before the loop says that it is lost
            oldest.transport.abort()


class Server(uvicorn.Server):
    """Uvicorn's server, which says in one line that no more connections can be accepted."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._failed)
        await super().serve(sockets)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if not isinstance(problem, OSError) or problem.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
        else:
            LOG.warning("connections wait, since none can be accepted: %s; see `ulimit -n`", problem.strerror)


def config(app: Any, log_config: dict[str, Any], **more: Any) -> uvicorn.Config:
    """The settings of a server of ours; `more` goes to uvicorn as it is."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = descriptors == resource.RLIM_INFINITY
    return uvicorn.Config(
        app,
        http=Connection,
        loop="asyncio",
        ws="none",  # would take a connection out of our hands
        lifespan="on",
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=AT_ONCE if unlimited else min(AT_ONCE, descriptors // 2),  # the rest is for files
        timeout_keep_alive=IDLE,
        log_config=log_config,
        log_level=None,
        **more,
    )

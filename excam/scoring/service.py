"""Running the scoring server: listening, logs, and a shutdown that still answers the current batch."""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Sequence
from types import FrameType

import uvicorn

from excam.core import listening
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.scoring.defaults import KEY
from excam.scoring.request_queue import RequestQueue
from excam.scoring.server import application


class _Server(uvicorn.Server):
    """A server that stops the queue as soon as it receives a signal."""

    def __init__(self, config: uvicorn.Config, queue: RequestQueue) -> None:
        super().__init__(config)
        self._queue = queue
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop:  # a signal may arrive between any two steps of the loop
            self._loop.call_soon_threadsafe(self._queue.stop)
        super().handle_exit(sig, frame)


def key() -> str:
    """Return the key that clients must send, "" if none is set. Raises InputInvalid for an invalid key."""
    secret = os.environ.get(KEY)
    if secret is not None and not (secret and secret.isascii() and secret.isprintable() and " " not in secret):
        raise InputInvalid(
            f"{KEY}: set, and no key; expected printable ASCII without spaces, or a variable that is not"
        )
    return secret or ""


def serve(waiting: RequestQueue, host: str, port: int, names: Sequence[str], timeout: float) -> None:
    """Serve until SIGINT or SIGTERM. Raises InputInvalid if the address cannot be used, ModelInvalid for the model.

    Args:
        waiting: the queue in front of the metric
        host: the address to listen at
        port: 0: any that is free
        names: further names of this machine, to which it answers
        timeout: seconds after which a waiting request fails
    """
    required = key()
    listener = listening.listening_socket(host, port)
    if listening.is_public(host):
        say("warning: texts and key are not encrypted on their way; let a server with TLS stand in front of this one")
        if not required:
            at = listening.url_host(host)
            say(f"warning: anybody who can reach {at} may have texts judged; set {KEY} to ask for a key")
    hosts = listening.announce(listener, host, names)
    app = application(
        waiting,
        key=required,
        hosts=hosts,
        timeout=timeout,
        failed=lambda: setattr(server, "should_exit", True),
    )
    config = listening.server_config(
        app,
        listening.log_config(),
        access_log=False,  # our own log has the same without queries
        timeout_graceful_shutdown=math.ceil(timeout),  # the current batch is answered by then
    )
    server = _Server(config, waiting)
    server.run(sockets=[listener])
    if waiting.problem:
        raise ModelInvalid(f"the model cannot judge: {waiting.problem}") from None

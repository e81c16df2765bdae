"""How a scoring server listens, what it logs, and how it ends: what is being judged is still answered."""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Sequence
from types import FrameType

import uvicorn

from excam import connections, listening
from excam.exceptions import InputInvalid, ModelInvalid
from excam.metric.defaults import KEY
from excam.metric.judging import Judging, Scorer
from excam.metric.server import application
from excam.provenance import say


class _Server(connections.Server):
    """A server which tells the queue as soon as it is asked to end."""

    def __init__(self, config: uvicorn.Config, judging: Judging) -> None:
        super().__init__(config)
        self._judging = judging
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop:  # a signal comes between any two steps of the loop
            self._loop.call_soon_threadsafe(self._judging.stop)
        super().handle_exit(sig, frame)


def key() -> str:
    """What clients have to show, "" where the environment names nothing. Raises InputInvalid for what is no key."""
    found = os.environ.get(KEY)
    if found is not None and not (found and found.isascii() and found.isprintable() and " " not in found):
        raise InputInvalid(
            f"{KEY}: set, and no key; expected printable ASCII without spaces, or a variable that is not"
        )
    return found or ""


def serve(
    metric: Scorer, host: str, port: int, names: Sequence[str], max_pairs: int, queue: int, timeout: float
) -> None:
    """Serve until SIGINT or SIGTERM. Raises InputInvalid where nothing can listen there, ModelInvalid for the model."""
    shown, judging = key(), Judging(metric, max_pairs, queue)
    listener = listening.bound(host, port)
    if listening.is_open(host):
        say("warning: texts and key are not encrypted on their way; let a server with TLS stand in front of this one")
        if not shown:
            at = listening.named(host)
            say(f"warning: anybody who can reach {at} may have texts judged; set {KEY} to ask for a key")
    hosts = listening.announced(listener, host, names)
    app = application(
        metric, judging, key=shown, hosts=hosts, timeout=timeout, failed=lambda: setattr(server, "should_exit", True)
    )
    config = connections.config(
        app,
        listening.log_config(),
        access_log=False,  # ours tells as much, and no query
        timeout_graceful_shutdown=math.ceil(timeout),  # what is begun is answered by then
    )
    server = _Server(config, judging)
    server.run(sockets=[listener])
    if judging.problem:
        raise ModelInvalid(f"the model cannot judge: {judging.problem}") from None

"""Start the server and write its log: one line per request on stderr, without tokens."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

import uvicorn

from excam.annotation.server import application
from excam.annotation.store import Store
from excam.core import listening
from excam.core.provenance import say

LONG = re.compile(r"[^/?\s]{17,}")  # a link's token has 32 characters, a task's id 16


class Redacted(logging.Filter):
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
    config["filters"] = {"redacted": {"()": Redacted}}
    config["handlers"]["access"] |= {"stream": "ext://sys.stderr", "filters": ["redacted"]}
    return config

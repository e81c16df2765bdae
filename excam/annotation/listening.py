"""How the server listens and what it logs: one line for each request on stderr, which tells no link."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

from excam import connections, listening
from excam.annotation.server import application
from excam.annotation.store import Store
from excam.provenance import say

LONG = re.compile(r"[^/?\s]{17,}")  # a link's token has 32 characters, a task's id 16


class Redacted(logging.Filter):
    """Takes the tokens out of the access log's lines: who reads a log must not be able to answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true: a line is changed, never dropped."""
        if isinstance(record.args, tuple):
            record.args = tuple(LONG.sub("…", value) if isinstance(value, str) else value for value in record.args)
        return True


def serve(store: Store, host: str, port: int, names: Sequence[str]) -> None:
    """Serve until SIGINT or SIGTERM. Raises InputInvalid where nothing can listen there."""
    listener = listening.bound(host, port)
    if listening.is_open(host):
        say("warning: what is sent is not encrypted, links included; let a server with TLS stand in front of this one")
    hosts = listening.announced(listener, host, names)
    config = connections.config(application(store, hosts), _log_config(), timeout_graceful_shutdown=5)
    connections.Server(config).run(sockets=[listener])


def _log_config() -> dict[str, Any]:
    found = listening.log_config()
    found["filters"]["redacted"] = {"()": Redacted}
    found["handlers"]["access"] |= {"stream": "ext://sys.stderr", "filters": ["redacted"]}
    return found

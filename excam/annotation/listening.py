"""How the server listens and what it logs: one line for each request on stderr, which tells no link."""

from __future__ import annotations

import copy
import logging
import re
import socket
from collections.abc import Sequence

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from excam.annotation.server import LOCAL, application
from excam.annotation.store import Store
from excam.exceptions import InputInvalid
from excam.provenance import say

LONG = re.compile(r"[^/?\s]{17,}")  # a link's token has 32 characters, a task's id 16
IDLE = 75  # seconds until a connection without a request is closed: longer than a thought about one question


class Redacted(logging.Filter):
    """Takes the tokens out of the access log's lines: who reads a log must not be able to answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true: a line is changed, never dropped."""
        if isinstance(record.args, tuple):
            record.args = tuple(LONG.sub("…", value) if isinstance(value, str) else value for value in record.args)
        return True


def serve(store: Store, host: str, port: int, names: Sequence[str]) -> None:
    """Serve until SIGINT or SIGTERM. Raises InputInvalid where nothing can listen there."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as problem:
        detail = str(problem.strerror).split(" (")[0]
        raise InputInvalid(
            f"{host} port {port}: {detail}; expected an address of this machine and a free port; choose with --port"
        ) from None
    at = f"[{host}]" if ":" in host else host
    hosts = list(dict.fromkeys([*LOCAL, at, *names]))
    if host not in ("127.0.0.1", "::1", "localhost"):
        say("warning: what is sent is not encrypted, links included; let a server with TLS stand in front of this one")
    say(f"listening at http://{at}:{listener.getsockname()[1]} for the host names {', '.join(hosts)}; Ctrl-C ends it")
    config = uvicorn.Config(
        application(store, hosts),
        lifespan="on",
        server_header=False,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=5,
        log_config=_log_config(),
        log_level=None,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _log_config() -> dict:
    found = copy.deepcopy(LOGGING_CONFIG)
    found["filters"] = {"redacted": {"()": Redacted}}
    found["handlers"]["access"] |= {"stream": "ext://sys.stderr", "filters": ["redacted"]}
    found["loggers"]["uvicorn"]["level"] = "WARNING"
    found["loggers"]["uvicorn.error"]["level"] = "WARNING"
    found["loggers"]["excam"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return found

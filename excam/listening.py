"""How our servers listen: at an address of this machine, for known host names, with one log on stderr."""

from __future__ import annotations

import copy
import logging
import socket
from collections.abc import Sequence
from typing import Any

from excam.exceptions import InputInvalid
from excam.provenance import say

LOCAL = ("localhost", "127.0.0.1", "[::1]")  # host names that a server answers to in any case
AT_ONCE = 512  # connections and requests, where the process may open twice as many files; more are refused with 503
BACKLOG = 128  # connections that the system keeps until they are accepted
HEAD = 10  # seconds for a first request to begin, and for the head of any to come in
SENDING = 30  # seconds for the rest of a request to come in
QUIET = 60  # seconds until a warning of which there may be one for each connection is logged again
IDLE = 75  # seconds from an answer until its connection is closed: longer than a thought about one question


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free. Raises InputInvalid where nothing can."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as problem:
        detail = str(problem.strerror).split(" (")[0]
        raise InputInvalid(
            f"{host} port {port}: {detail}; expected an address of this machine and a free port; choose with --port"
        ) from None


def is_open(host: str) -> bool:
    """Whether others than this machine can reach a server that listens there."""
    return host not in ("127.0.0.1", "::1", "localhost")


def named(host: str) -> str:
    """An address as it stands in a link."""
    return f"[{host}]" if ":" in host else host


def announced(listener: socket.socket, host: str, names: Sequence[str]) -> list[str]:
    """The host names that the server answers to; they and its address are said on stderr."""
    hosts = list(dict.fromkeys([*LOCAL, named(host), *names]))
    port = listener.getsockname()[1]
    say(f"listening at http://{named(host)}:{port} for the host names {', '.join(hosts)}; Ctrl-C ends it")
    return hosts


class Seldom(logging.Filter):
    """Drops a warning that was logged less than `QUIET` seconds ago: strangers must not be able to fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._until: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log it: all but warnings, and the first of each kind."""
        if record.levelno != logging.WARNING:
            return True
        new = record.created >= self._until.get(record.msg, 0)
        if new:
            self._until[record.msg] = record.created + QUIET
        return new


def log_config() -> dict[str, Any]:
    """Uvicorn's, with nothing of its own below a warning, and our log beside it."""
    from uvicorn.config import LOGGING_CONFIG

    found = copy.deepcopy(LOGGING_CONFIG)
    found["loggers"]["uvicorn"]["level"] = found["loggers"]["uvicorn.error"]["level"] = "WARNING"
    found["filters"] = {"seldom": {"()": Seldom}}
    found["loggers"]["excam.connections"] = {"filters": ["seldom"]}
    found["loggers"]["uvicorn.error"]["filters"] = ["seldom"]
    found["loggers"]["excam"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return found

"""How the HTTP servers listen: at an address of this machine, for known host names, with one log on stderr."""

from __future__ import annotations

import copy
import logging
import socket
from collections.abc import Sequence
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say

LOCAL = ("localhost", "127.0.0.1", "[::1]")  # host names that a server always answers to
AT_ONCE = 512  # limit on connections and requests (half of the open files allowed, if less); others get 503
BACKLOG = 128  # connections that the system queues until they are accepted
HEAD = 10  # seconds until a first request must begin, and for the headers of any request
SENDING = 30  # seconds for the rest of a request to arrive
QUIET = 60  # seconds before a warning that every connection may cause is logged again
IDLE = 75  # seconds that a connection stays open after a response: longer than annotating one item


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free one. Raise InputInvalid if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as problem:
        detail = str(problem.strerror).split(" (")[0]
        raise InputInvalid(
            f"{host} port {port}: {detail}; expected an address of this machine and a free port; choose with --port"
        ) from None


def is_public(host: str) -> bool:
    """Return whether a server that listens at `host` can be reached from other machines."""
    return host not in ("127.0.0.1", "::1", "localhost")


def url_host(host: str) -> str:
    """Return an address as URLs write it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def announce(listener: socket.socket, host: str, names: Sequence[str]) -> list[str]:
    """Print address and host names on stderr; return the host names that the server answers to."""
    hosts = list(dict.fromkeys([*LOCAL, url_host(host), *names]))
    port = listener.getsockname()[1]
    say(f"listening at http://{url_host(host)}:{port} for the host names {', '.join(hosts)}; Ctrl-C ends it")
    return hosts


class RepeatedWarningFilter(logging.Filter):
    """Drop a warning that was logged less than `QUIET` seconds ago, so that clients cannot fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._until: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record: everything but warnings, and the first warning of each kind per period."""
        if record.levelno != logging.WARNING:
            return True
        new = record.created >= self._until.get(record.msg, 0)
        if new:
            self._until[record.msg] = record.created + QUIET
        return new


def log_config() -> dict[str, Any]:
    """Return uvicorn's log configuration with its own messages limited to warnings, and the loggers of excam."""
    from uvicorn.config import LOGGING_CONFIG

    config = copy.deepcopy(LOGGING_CONFIG)
    config["loggers"]["uvicorn"]["level"] = config["loggers"]["uvicorn.error"]["level"] = "WARNING"
    config["filters"] = {"seldom": {"()": RepeatedWarningFilter}}
    config["loggers"]["excam.core.connections"] = {"filters": ["seldom"]}
    config["loggers"]["uvicorn.error"]["filters"] = ["seldom"]
    config["loggers"]["excam"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return config

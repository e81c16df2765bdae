"""How our servers listen: at an address of this machine, for known host names, with one log on stderr."""

from __future__ import annotations

import copy
import socket
from collections.abc import Sequence
from typing import Any

from excam.exceptions import InputInvalid
from excam.provenance import say

LOCAL = ("localhost", "127.0.0.1", "[::1]")  # host names that a server answers to in any case
IDLE = 75  # seconds until a connection without a request is closed: longer than a thought about one question


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free. Raises InputInvalid where nothing can."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
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


def log_config() -> dict[str, Any]:
    """Uvicorn's, with nothing of its own below a warning, and our log beside it."""
    from uvicorn.config import LOGGING_CONFIG

    found = copy.deepcopy(LOGGING_CONFIG)
    found["loggers"]["uvicorn"]["level"] = found["loggers"]["uvicorn.error"]["level"] = "WARNING"
    found["loggers"]["excam"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return found

"""How the HTTP servers listen: at an address of this machine, for known host names, with one log on stderr."""

from __future__ import annotations

import copy
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say

if TYPE_CHECKING:
    import uvicorn

LOCAL = ("localhost", "127.0.0.1", "[::1]")  # host names that a server always answers to
AT_ONCE = 512  # limit on connections and requests; others get 503
BACKLOG = 128  # connections that the system queues until they are accepted
SENDING = 30  # seconds for the body of a request to arrive
IDLE = 75  # seconds that a connection stays open after a response: longer than annotating one item


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free one. Raise InputInvalid if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as problem:
        detail = str(problem.strerror).split(" (")[0]
        raise InputInvalid(
            f"{host} port {port}: {detail}; expected an address of this machine and a free port; choose with --port"
        ) from None
    # Connections inherit both: a client that is gone is noticed, and the body of a response does not wait for the
    # client to acknowledge its head, which takes 40 ms.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


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


def server_config(app: Any, log_config: dict[str, Any], **more: Any) -> uvicorn.Config:
    """Return the uvicorn settings of an ExCAM server; `more` is passed on to uvicorn."""
    import uvicorn

    return uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=AT_ONCE,
        timeout_keep_alive=IDLE,
        log_config=log_config,
        log_level=None,
        **more,
    )


def log_config() -> dict[str, Any]:
    """Return uvicorn's log configuration with its own messages limited to warnings, and the loggers of excam."""
    from uvicorn.config import LOGGING_CONFIG

    config = copy.deepcopy(LOGGING_CONFIG)
    config["loggers"]["uvicorn"]["level"] = config["loggers"]["uvicorn.error"]["level"] = "WARNING"
    config["loggers"]["excam"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return config

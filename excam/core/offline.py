"""Offline mode: if EXCAM_OFFLINE is set, this process and its children open no network connection.

`EXCAM_OFFLINE=1` (or `excam score --offline`) refuses every connection; `EXCAM_OFFLINE=loopback` all except those to
this machine, where a local model server may listen. Code calls `refuse` before each request, which explains what was
requested. An audit hook of the interpreter refuses everything else: a redirect, or a library that connects by itself.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from excam.core.exceptions import InputInvalid

NAME = "EXCAM_OFFLINE"
LOOPBACK = "loopback"
SENDING = ("socket.connect", "socket.sendto", "socket.sendmsg")  # audit events with (socket, address)
RESOLVING = ("socket.getaddrinfo", "socket.gethostbyname")  # audit events with (host, ...)


def is_on() -> bool:
    """Return whether connections are refused, either all or all except those to this machine."""
    return os.environ.get(NAME, "0") not in ("", "0")


def switch_on(mode: str = "1") -> None:
    """Refuse connections from now on, in this process and those it starts; `mode` is the value of EXCAM_OFFLINE."""
    os.environ[NAME] = mode
    if mode != LOOPBACK:
        os.environ["HF_HUB_OFFLINE"] = "1"
    _guard()


def refuse(what: str, url: str = "") -> None:
    """Raise InputInvalid if a request for `what` at `url` is not allowed; no `url` means another machine."""
    if not is_on():
        return
    _guard()
    mode = os.environ[NAME]
    if mode != LOOPBACK:
        raise InputInvalid(f"{what}: not asked, since {NAME} (or --offline) is set; expected files that are here")
    if not _is_here(_host(url)):
        raise InputInvalid(f"{what}: not asked, since {NAME}={mode}; expected files or a server on this machine")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_here(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


@cache
def _guard() -> None:
    """Install the audit hook once. It cannot be removed, and reads the environment variable each time."""
    sys.addaudithook(_refuse_sockets)


def _refuse_sockets(event: str, args: tuple[Any, ...]) -> None:
    """Raise OSError as a broken network would, because every library reports that properly."""
    if event in SENDING:
        address = args[1]
        host = address[0] if isinstance(address, tuple) and address else None
    elif event in RESOLVING:
        host = args[0]
    else:
        return
    host = host.decode(errors="replace") if isinstance(host, bytes) else host
    if not isinstance(host, str) or not host or not is_on():  # Unix and kernel sockets do not reach the network
        return
    if os.environ[NAME] == LOOPBACK and _is_here(host):
        return
    if event in RESOLVING and _address(host):  # a literal address needs no name lookup
        return
    line = f"{host}: refused, since {NAME}={os.environ[NAME]}"
    raise socket.gaierror(socket.EAI_NONAME, line) if event in RESOLVING else OSError(errno.ENETUNREACH, line)

"""Clients of HTTP servers: whom to trust, which proxy to ask, what a failed connection is called.

Certificates are verified, against those of SSL_CERT_FILE or SSL_CERT_DIR, else those of the package certifi.
HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY apply; a server on this machine is never asked through a proxy. Nothing
is read from ~/.netrc, no cookie is kept, and no redirect is followed.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

HERE = frozenset({"localhost", "127.0.0.1", "::1"})
IDLE = 4.0  # seconds that a connection is kept after an answer; many servers close theirs after 5
LONGEST_LINE = 64 * 2**10  # bytes of a line of a response's head


def host_of(url: str) -> str:
    """Return the host of an address, as it is asked for. Raise ValueError if the address is invalid."""
    from yarl import URL

    parts = urlsplit(url)
    if parts.port == 0 or not parts.hostname:  # reading an invalid port raises ValueError
        raise ValueError("no host, or no port")
    return URL(url).host or ""


@cache
def encoded(url: str) -> URL:
    """Return an address to ask, with its query as it is: in it may be a signature."""
    from yarl import URL

    return URL(url, encoded=url.isascii())


def proxy_of(url: str) -> str | None:
    """Return the proxy for an address, None if it is asked directly.

    Raise ValueError if a proxy of the environment is none that can be used, for this address or another one.
    """
    addresses = getproxies()
    proxies = {name: addresses[name] for name in ("http", "https", "all") if addresses.get(name)}
    proxies = {name: value if "://" in value else f"http://{value}" for name, value in proxies.items()}
    for value in proxies.values():
        scheme = urlsplit(value).scheme
        if scheme not in ("http", "https"):
            raise ValueError(f"unknown scheme {scheme} of a proxy; expected http or https")
        host_of(value)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in HERE or proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return proxies.get(parts.scheme, proxies.get("all"))


def trusted() -> ssl.SSLContext:
    """Return the certificates that a server may show. Raise OSError for a file of the environment that has none."""
    import certifi

    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        context = ssl.create_default_context(cafile=file or None, capath=None if file else folder)
    else:
        context = ssl.create_default_context(cafile=certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True, slots=True)
class Route:
    """How a server is reached: its address, the proxy, the certificates, and the headers of every request."""

    url: str
    proxy: str | None
    context: ssl.SSLContext | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    connect: float  # seconds that a connection may take

    def session(self) -> aiohttp.ClientSession:
        """Return a pool of any number of connections, in the event loop that is running. The caller closes it."""
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self.context or True, keepalive_timeout=IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self.headers,
            proxy=self.proxy,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.connect),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )


def route(url: str, headers: Mapping[str, str], connect: float) -> Route:
    """Return how a server is reached. Raise ValueError or OSError for the environment's proxies or certificates."""
    encrypted = urlsplit(url).scheme == "https" or (proxy_of(url) or "").startswith("https:")
    return Route(url, proxy_of(url), trusted() if encrypted else None, headers, connect)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why there is no complete response: a reason, and whether the server was reached at all, and is who it says."""

    reason: str
    reached: bool = True
    untrusted: bool = False


def fault(problem: aiohttp.ClientError) -> _Fault:
    """Return what went wrong with a request, without addresses, which may hold a key."""
    import aiohttp

    match problem:
        case aiohttp.ClientConnectorCertificateError():
            return _Fault(f"ConnectError: {problem.certificate_error}", False, untrusted=True)
        case aiohttp.ClientConnectorError():
            below = problem.os_error
            number = 0 if isinstance(below, ssl.SSLError) else below.errno or 0  # below 0: of a name that is not known
            return _Fault(f"ConnectError: {os.strerror(number) if number > 0 else below}", False)
        case aiohttp.ConnectionTimeoutError():
            return _Fault("ConnectTimeout: no connection in time", False)
        case aiohttp.ClientHttpProxyError():
            return _Fault(f"ProxyError: HTTP {problem.status} from the proxy", False)
        case aiohttp.ServerDisconnectedError():
            return _Fault("RemoteProtocolError: Server disconnected without sending a response")
        case aiohttp.ClientResponseError():  # its text has the address
            return _Fault(f"RemoteProtocolError: {problem.message}")
        case aiohttp.ClientPayloadError() if "encoding" in str(problem):
            return _Fault("DecodingError: the body is not compressed as its head says")
        case aiohttp.ClientPayloadError():
            return _Fault("RemoteProtocolError: peer closed connection without sending complete message body")
        case _:
            return _Fault(f"{type(problem).__name__}: {problem}")

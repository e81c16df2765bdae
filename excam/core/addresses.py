"""Addresses of servers, which may hold a key or a password: what of one may be written, and whether one holds a key."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import parse_qsl

USER = re.compile(r"//[^/?#]*@")
SECRET = re.compile("key|token|secret|sig|pass|pwd|auth|cred|code", re.IGNORECASE)  # in the name of a parameter


def without_secrets(address: str) -> str:
    """Return an address for people: without user, password and query."""
    return USER.sub("//", re.split("[?#]", address, maxsplit=1)[0])


def identified(address: str) -> str:
    """Return an address for files: that for people, and a digest of its query, which may decide what answers."""
    query = address.partition("?")[2]
    digest = f"?{hashlib.sha256(query.encode()).hexdigest()[:8]}" if query else ""
    return without_secrets(address) + digest


def key_in(address: str) -> str:
    """Return what in an address looks like a key: "user", or the name of a parameter; "" for nothing."""
    if USER.search(address):
        return "user"
    names = (name for name, _ in parse_qsl(address.partition("?")[2], keep_blank_values=True))
    return next(filter(SECRET.search, names), "")

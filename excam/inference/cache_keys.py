"""Cache key and per-request seed, from the model's identity, the request and the decoding settings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import Any

from excam.inference import Generate, Request, Sampling, request_to_row

SAMPLING = tuple(field.name for field in fields(Sampling))


def cache_key(identity: str, request: Request, sampling: Sampling) -> str:
    """Return the SHA-256 of identity, request and sampling; `sampling` does not affect the key of a `Choose`."""
    how = {name: getattr(sampling, name) for name in SAMPLING} if isinstance(request, Generate) else None
    return hashlib.sha256(canonical_json([identity, request_to_row(request), how])).hexdigest()


def request_seed(request: Generate, sampling: Sampling) -> int:
    """Return a 31-bit seed that depends on sampling settings and request only, not on the batch or the shard."""
    return int(cache_key("seed", request, sampling)[:8], 16) & 0x7FFFFFFF


def canonical_json(value: Any) -> bytes:
    """Return canonical JSON on one line; ASCII only, so that lone surrogates are kept as escapes."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")

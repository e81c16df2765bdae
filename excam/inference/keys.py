"""What an answer is found by, and what its chance hangs on: who is asked, what, and how the answer is sampled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from excam.inference import Generate, Request, Sampling


def key(identity: str, request: Request, sampling: Sampling) -> str:
    """sha256 (hex) of who is asked, what, and how the answer is sampled; a `Choose` is not sampled."""
    how = asdict(sampling) if isinstance(request, Generate) else None
    return hashlib.sha256(canonical([identity, asdict(request), how])).hexdigest()


def seed(request: Generate, sampling: Sampling) -> int:
    """31 bits from the experiment's seed and the request: a row's chance depends neither on its batch nor its shard."""
    return int(key("seed", request, sampling)[:8], 16) & 0x7FFFFFFF


def canonical(value: Any) -> bytes:
    """JSON in one way, on one line; ASCII only, so that lone surrogates (of a model, a data set) survive as escapes."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")

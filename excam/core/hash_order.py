"""Random choices of construction are orders by a hash of seed and subject, so that they are independent."""

from __future__ import annotations

import hashlib
import json


def digest(seed: int, *parts: str) -> str:
    """Return the SHA-256 of the seed and the parts, in hexadecimal.

    The parts are written as a JSON list, so that no two lists of parts give the same text.
    """
    return hashlib.sha256(json.dumps([seed, *parts]).encode("ascii")).hexdigest()

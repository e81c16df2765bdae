"""HTML files that need nothing else: no network, no library, no other file.

Texts are hostile: one may hold markup, scripts, or signs that turn the direction of what follows. They travel packed,
in letters and digits that can end no element, become text nodes and never markup, and a content security policy names
the one script and the one style sheet that may run, by their hashes. The same values give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def signs() -> str:
    """What the script of every page begins with: unpacking, and texts as text nodes."""
    return (Path(__file__).parent / "signs.js").read_text(encoding="utf-8")


def packed(value: Any) -> str:
    """A JSON value, compressed, in base64: nothing in it has a meaning to an HTML parser. Lone surrogates stay."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its `{{names}}` filled in one pass, so that what is filled in is never searched for names."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def policy(style: str, script: str, *more: str) -> str:
    """A content security policy that lets run one style sheet and one script, and `more` directives."""
    return "; ".join(
        (
            f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}",
            *more,
            "base-uri 'none'; form-action 'none'",
        )
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""Self-contained HTML files: no network, no library, no other file.

Texts are untrusted: one may contain markup, scripts, or bidirectional control characters. They are embedded as base64,
which cannot end an element, and become text nodes, never markup. A content security policy allows only one script and
one style sheet, by their hashes. Equal values give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

LEVEL = 5  # of compression; 9 takes twice as long for a page that is 5 % smaller
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@cache
def shared_script() -> str:
    """Return the JavaScript that every page shares: decoding of the data, and texts as text nodes."""
    return (Path(__file__).parent / "signs.js").read_text(encoding="utf-8")


def pack_json(value: Any) -> str:
    """Return a value as compressed JSON in base64, which an HTML parser cannot interpret. Lone surrogates are kept."""
    return _packed([_JSON.encode(value)])


def pack_json_with_rows(others: Callable[[], Mapping[str, Any]], rows: Iterable[Any]) -> str:
    """Return `pack_json` of an object that has one list more, its `rows`, in the memory of a few of them.

    The other values stand behind the rows, and are asked for then.
    """
    lines = (f"{',' * (number > 0)}{_JSON.encode(row)}" for number, row in enumerate(rows))
    behind = (_JSON.encode(value())[1:] for value in [others])
    return _packed(chain(['{"rows":['], lines, ["],"], behind))


def _packed(parts: Iterable[str]) -> str:
    stream = zlib.compressobj(LEVEL)
    packed = b"".join(stream.compress(part.encode(errors="backslashreplace")) for part in parts)
    return base64.b64encode(packed + stream.flush()).decode()


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its `{{names}}` replaced in one pass; inserted values are not searched for names."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def content_security_policy(style: str, script: str, *more: str) -> str:
    """Return a content security policy that allows one style sheet and one script, with `more` directives."""
    return "; ".join(
        (
            f"default-src 'none'; style-src {_csp_hash(style)}; script-src {_csp_hash(script)}",
            *more,
            "base-uri 'none'; form-action 'none'",
        )
    )


def _csp_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""Judged rows -> one HTML file that needs nothing else: no network, no library, no other file.

The texts are hostile: a judged text may hold markup, scripts, or signs that turn the direction of what follows. They
travel packed, in letters and digits that can end no element, become text nodes and never markup, and a content security
policy names the one script and the one style sheet that may run, by their hashes. The same rows give the same bytes.

They are packed for size: `snakemake --report` puts the page into the address of a frame, where Chromium shows nothing
of more than 2 MiB (`FITS`).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.browsing.rows import COLUMNS, OUTCOMES, JudgedRow, counts

ASSETS = Path(__file__).parent / "assets"
FITS = 1_570_000  # bytes of a page whose address, four signs for three bytes, Chromium opens in a frame


def write(system: str, rows: Sequence[JudgedRow], inputs: Mapping[str, str]) -> str:
    """The page of one system's rows; `inputs` are the files that they come from, with their sha256."""
    style, script = asset("page.css"), asset("page.js")
    return filled(
        asset("page.html"),
        {
            "policy": f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
            "base-uri 'none'; form-action 'none'",
            "system": html.escape(system),
            "n": str(len(rows)),
            "style": style,
            "script": script,
            "counts": _counts(rows),
            "inputs": "".join(
                f"<li><code>{html.escape(name)}</code> sha256 <code>{digest}</code></li>\n"
                for name, digest in inputs.items()
            ),
            "data": packed(
                {"columns": COLUMNS, "outcomes": OUTCOMES, "rows": [[row[name] for name in COLUMNS] for row in rows]}
            ),
        },
    )


def asset(name: str) -> str:
    """One of the files that the page is put together from."""
    return (ASSETS / name).read_text(encoding="utf-8")


def packed(value: Any) -> str:
    """A JSON value, compressed, in base64: nothing in it has a meaning to an HTML parser."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its `{{names}}` filled in one pass, so that what is filled in is never searched for names."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _counts(rows: Sequence[JudgedRow]) -> str:
    lines = [
        f'<tr><th scope="row">{html.escape(name)}</th>'
        + "".join(f"<td>{line[kind]}</td>" for kind in (*OUTCOMES, "n"))
        + "</tr>\n"
        for name, line in counts(rows).items()
    ]
    return "".join(lines)

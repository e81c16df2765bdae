"""Judged rows -> one HTML file that needs nothing else (`excam.pages`).

The rows are packed for size: `snakemake --report` puts the page into the address of a frame, where Chromium shows
nothing of more than 2 MiB (`FITS`).
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from excam.browsing.rows import COLUMNS, OUTCOMES, JudgedRow, counts
from excam.pages import filled, packed, policy, signs

ASSETS = Path(__file__).parent / "assets"
FITS = 1_570_000  # bytes of a page whose address, four signs for three bytes, Chromium opens in a frame


def write(system: str, rows: Sequence[JudgedRow], inputs: Mapping[str, str]) -> str:
    """The page of one system's rows; `inputs` are the files that they come from, with their sha256."""
    style, script = asset("texts.css") + asset("page.css"), signs() + asset("texts.js") + asset("browse.js")
    script += asset("page.js")
    return filled(
        asset("page.html"),
        {
            "policy": policy(style, script),
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


def _counts(rows: Sequence[JudgedRow]) -> str:
    lines = [
        f'<tr><th scope="row">{html.escape(name)}</th>'
        + "".join(f"<td>{line[kind]}</td>" for kind in (*OUTCOMES, "n"))
        + "</tr>\n"
        for name, line in counts(rows).items()
    ]
    return "".join(lines)

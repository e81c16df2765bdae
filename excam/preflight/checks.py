"""One thing looked at before a long run: what was found beside what is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fine", "wrong", "unknown"]
FETCH = "not fetched yet"
NEXT = "snakemake --until fetch_source fetch_model fetch_tokenizer -- all, with your profile, then preflight again"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    check: str
    of: str
    found: str
    expected: str
    verdict: Verdict


def gigabytes(size: float) -> str:
    """Return bytes as a text in GB, of 10^9; in MB where there is less than one."""
    if size < 1e9:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e9:.1f} GB" if size < 1e11 else f"{size / 1e9:,.0f} GB"

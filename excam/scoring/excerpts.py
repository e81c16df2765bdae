"""Parts of a long text that are worth showing: around its marked words, or its beginning."""

from __future__ import annotations

from collections.abc import Iterable

LONG = 600  # characters; a shorter text is shown whole
AROUND = 120  # characters on each side of marked words
BEGINNING = 300  # characters of a long text without marks


def excerpts(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of a text that are shown, in order and apart from one another; all of a short text."""
    if len(text) <= LONG:
        return [(0, len(text))]
    near = [(max(0, start - AROUND), min(len(text), end + AROUND)) for start, end in sorted(spans) if start >= 0]
    ranges: list[tuple[int, int]] = []
    for start, end in near or [(0, BEGINNING)]:
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges

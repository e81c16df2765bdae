"""The four boxes of a task: both texts of a row and of its original, in pieces, with marked changes.

Each text is marked by its own comparison with the other: in a modified text the marks are the differences of which its
gold errors were made. If something was inserted or deleted, the other text has a gap, an empty piece.
"""

from __future__ import annotations

from collections.abc import Iterable

from excam.annotation.campaign import Passage
from excam.error_reports.records import WHERE, Sample, Where
from excam.excam40k.construction.spans import Mode, Span, diff_spans


def boxes(right: Sample, wrong: Sample, mode: Mode) -> dict[Where, tuple[Passage, Passage]]:
    """Return the original and the modified text for instruction and output. `mode`: how the gold spans were made."""
    texts: dict[Where, tuple[str, str]] = {where: (getattr(right, where), getattr(wrong, where)) for where in WHERE}
    return {where: (_marked(new, old, mode), _marked(old, new, mode)) for where, (old, new) in texts.items()}


def _marked(other: str, text: str, mode: Mode) -> Passage:
    """Return a text in pieces, marked where it differs from the other one."""
    return _pieces(text, diff_spans(other, text, mode).spans)


def _pieces(text: str, differences: Iterable[Span]) -> Passage:
    pieces, at = [], 0
    for span in differences:
        start = span.end if span.kind == "delete" else span.start  # a gap behind the word that it points at
        if start > at:
            pieces.append((text[at:start], False))
        pieces.append((text[start : span.end], True))
        at = span.end
    return (*pieces, (text[at:], False)) if at < len(text) or not pieces else tuple(pieces)

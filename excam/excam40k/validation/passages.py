"""The four boxes of a task: both texts of a row and of its original, in pieces, with marked changes.

In a modified text the marks are the differences of which its gold errors were made; in the original, the corresponding
words. If something was inserted or deleted, the other text has a gap, an empty piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from excam.annotation.campaign import Passage
from excam.error_reports.records import Sample, Where
from excam.excam40k.construction import alignment, spans

Place = tuple[int, int]


def boxes(right: Sample, wrong: Sample, mode: spans.Mode) -> dict[Where, tuple[Passage, Passage]]:
    """Return the original and the modified text for instruction and output. `mode`: how the gold spans were made."""
    aligned = alignment.edits(right, wrong, mode)
    return {where: _passages(right, wrong, where, mode, aligned) for where in alignment.WHERE}


def _passages(
    right: Sample,
    wrong: Sample,
    where: Where,
    mode: spans.Mode,
    aligned: tuple[alignment.Edit, ...] | alignment.Unaligned,
) -> tuple[Passage, Passage]:
    original, modified = getattr(right, where), getattr(wrong, where)
    changes = spans.diff_spans(original, modified, mode).spans
    if isinstance(aligned, alignment.Unaligned):  # then each text is marked by its own comparison with the other
        back = spans.diff_spans(modified, original, mode).spans
        return _pieces(original, _difference_places(back)), _pieces(modified, _difference_places(changes))
    edits = [edit for edit in aligned if edit.where == where]
    old, new = [], []
    for span, edit in zip(changes, edits, strict=True):
        old.append((edit.right_place[0],) * 2 if span.kind == "insert" else edit.words)
        new.append((edit.wrong_place[0],) * 2 if span.kind == "delete" else (span.start, span.end))
    return _pieces(original, old), _pieces(modified, new)


def _difference_places(differences: Iterable[spans.Span]) -> Iterator[Place]:
    """Return the places of differences; a deletion is a gap behind the word that it points at."""
    return ((span.end, span.end) if span.kind == "delete" else (span.start, span.end) for span in differences)


def _pieces(text: str, places: Iterable[Place]) -> Passage:
    pieces, at = [], 0
    for start, end in places:
        if start > at:
            pieces.append((text[at:start], False))
        pieces.append((text[start:end], True))
        at = end
    return (*pieces, (text[at:], False)) if at < len(text) or not pieces else tuple(pieces)

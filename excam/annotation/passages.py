"""The four boxes of a task: both texts of a row and of its right twin, in pieces, with what was changed (spec 68).

What is marked in a modified text are the differences of which its gold errors were made (spec 28); in the original, the
words that stand in their place. Where something was inserted or taken away, the other text has a gap, an empty piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from excam.annotation.campaign import Passage
from excam.construction import alignment, spans
from excam.records import Sample, Where

Place = tuple[int, int]


def boxes(right: Sample, wrong: Sample, mode: spans.Mode) -> dict[Where, tuple[Passage, Passage]]:
    """For instruction and output: the original and the modified text. `mode`: how the gold spans were made."""
    found = alignment.edits(right, wrong, mode)
    return {where: _passages(right, wrong, where, mode, found) for where in alignment.WHERE}


def _passages(
    right: Sample,
    wrong: Sample,
    where: Where,
    mode: spans.Mode,
    found: tuple[alignment.Edit, ...] | alignment.Unaligned,
) -> tuple[Passage, Passage]:
    original, modified = getattr(right, where), getattr(wrong, where)
    changes = spans.diff_spans(original, modified, mode).spans
    if isinstance(found, alignment.Unaligned):  # then each text is marked by its own comparison with the other
        back = spans.diff_spans(modified, original, mode).spans
        return _pieces(original, _own(back)), _pieces(modified, _own(changes))
    edits = [edit for edit in found if edit.where == where]
    old, new = [], []
    for span, edit in zip(changes, edits, strict=True):
        old.append((edit.right_place[0],) * 2 if span.kind == "insert" else edit.words)
        new.append((edit.wrong_place[0],) * 2 if span.kind == "delete" else (span.start, span.end))
    return _pieces(original, old), _pieces(modified, new)


def _own(found: Iterable[spans.Span]) -> Iterator[Place]:
    """Places of differences; a deletion is a gap behind the word that it points at."""
    return ((span.end, span.end) if span.kind == "delete" else (span.start, span.end) for span in found)


def _pieces(text: str, places: Iterable[Place]) -> Passage:
    pieces, at = [], 0
    for start, end in places:
        if start > at:
            pieces.append((text[at:start], False))
        pieces.append((text[start:end], True))
        at = end
    return (*pieces, (text[at:], False)) if at < len(text) or not pieces else tuple(pieces)

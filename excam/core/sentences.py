"""The sentences of a text that state something, by ICU's rules for its language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

_BULLET = regex.compile(r"^\s*(?:[-*•·–]|\(?\d{1,3}[.)]|#{1,6})\s+")
_MARKUP = regex.compile(r"\*\*|__|`")
_ASKS = regex.compile(r"(?:[?？؟]|か[。.])\s*[\"'”’»)*_`]*$")
_GREEK_ASKS = regex.compile(r"[?;]\s*[\"'”’»)*_`]*$")
_ABBREVIATED = regex.compile(r"(?:^|[\s.])(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St)\.\s*$")


def sentence_places(text: str, language: str) -> list[tuple[int, int]]:
    """Return the places of the sentences that state something, half-open characters of the text as it is.

    `language` is a code, "root" where it is unknown. Lines end sentences; marks of a list are left out; questions and
    pieces without a letter state nothing. An initial or a title with a full stop (W. G. Grace, Dr. Who) ends none.
    """
    from icu4py.breakers import SentenceBreaker  # loads 40 MB of tables

    asks = _GREEK_ASKS if language == "el" else _ASKS
    places: list[tuple[int, int]] = []
    begin = 0
    for line in well_formed(text).splitlines(keepends=True):
        at = begin
        for piece in _joined(SentenceBreaker(line, language)) if line.strip() else ():
            start = at + (len(piece) - len(piece.lstrip()))
            if at == begin and (bullet := _BULLET.match(piece)):
                start = at + bullet.end()
            end = at + len(piece.rstrip())
            at += len(piece)
            stated = text[start:end]
            if any(map(str.isalpha, stated)) and not asks.search(stated):
                places.append((start, end))
        begin += len(line)
    return places


def well_formed(text: str) -> str:
    """Return a text of the same length without lone surrogates and zeros."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def without_marks(sentence: str) -> str:
    """Return a sentence without emphasis and signs of code."""
    return _MARKUP.sub("", sentence).strip()


def _joined(pieces: Iterable[str]) -> Iterator[str]:
    """Yield ICU's sentences, those that only an abbreviation ended together with the next."""
    begun = ""
    for piece in pieces:
        begun += piece
        if not _ABBREVIATED.search(begun):
            yield begun
            begun = ""
    yield from [begun] if begun else []

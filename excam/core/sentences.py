"""The sentences of a text that state something, by ICU's rules for its language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

_BULLET = regex.compile(r"^\s*(?:[-*•·–]|\(?\d{1,3}[.)]|#{1,6})\s+")
_MARKUP = regex.compile(r"\*\*|__|`")
_QUESTION = regex.compile(r"(?:[?？؟;]|か[。.])\s*[\"'”’»)]*$")
_ASKS = regex.compile(r"(?:[?？؟]|か[。.])\s*[\"'”’»)*_`]*$")
_ABBREVIATED = regex.compile(r"(?:^|[\s.])(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St)\.\s*$")


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a text that state something; `language` is a code, "root" where it is unknown.

    Lines end sentences, list marks and emphasis are dropped; questions and pieces without a letter state nothing.
    An initial or a title with a full stop (W. G. Grace, Dr. Who) ends none.
    """
    from icu4py.breakers import SentenceBreaker  # loads 40 MB of tables

    clean = text.encode("utf-8", "replace").decode().replace("\0", " ")
    stated: list[str] = []
    for line in clean.splitlines():
        plain = _MARKUP.sub("", _BULLET.sub("", line)).strip()
        if plain:
            stated += [piece.strip() for piece in _joined(SentenceBreaker(plain, language))]
    return [sentence for sentence in stated if any(map(str.isalpha, sentence)) and not _QUESTION.search(sentence)]


def sentence_places(text: str, language: str) -> list[tuple[int, int]]:
    """Return the places of the sentences that state something, half-open characters of the text as it is.

    As `sentences`, but emphasis stays, and a semicolon ends no question.
    """
    from icu4py.breakers import SentenceBreaker  # loads 40 MB of tables

    places: list[tuple[int, int]] = []
    begin = 0
    for line in text.encode("utf-8", "replace").decode().replace("\0", " ").splitlines(keepends=True):
        at = begin
        for piece in _joined(SentenceBreaker(line, language)) if line.strip() else ():
            start = at + (len(piece) - len(piece.lstrip()))
            if at == begin and (bullet := _BULLET.match(piece)):
                start = at + bullet.end()
            end = at + len(piece.rstrip())
            at += len(piece)
            stated = text[start:end]
            if any(map(str.isalpha, stated)) and not _ASKS.search(stated):
                places.append((start, end))
        begin += len(line)
    return places


def _joined(pieces: Iterable[str]) -> Iterator[str]:
    """Yield ICU's sentences, those that only an abbreviation ended together with the next."""
    begun = ""
    for piece in pieces:
        begun += piece
        if not _ABBREVIATED.search(begun):
            yield begun
            begun = ""
    yield from [begun] if begun else []

"""The sentences of a text, by ICU's rules for its language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import regex

from excam.core.package_tables import table_rows

_BARE = r"(?![\p{GCB=EX}\p{GCB=ZWJ}\p{GCB=SM}])"  # no accent stands on the space before
_SPACES = regex.compile(rf"(?:\s{_BARE})*")
_BULLET = regex.compile(rf"^\s*(?:[-*•·–]|\(?\d{{1,3}}[.)]|#{{1,6}})\s+{_BARE}")
_MARKUP = regex.compile(r"\*\*|__|`")
_ASKS = regex.compile(r"(?:[?？؟]|か[。.])\s*[\"'”’»)*_`]*$")
_GREEK_ASKS = regex.compile(r"[?;]\s*[\"'”’»)*_`]*$")
LONGEST_END = 40  # characters of an abbreviation and the spaces in it
_SHORT = r"\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St"  # in every language
_ORDINAL = regex.compile(r"(?:^|[^\p{L}\p{M}\p{N}.,])\d{1,4}\.\s*$")


def sentence_places(text: str, language: str) -> list[tuple[int, int]]:
    """Return the places of the sentences, half-open characters of the text as it is.

    `language` is a code, "root" where it is unknown. Lines end sentences; marks of a list and pieces without a letter
    are left out. An initial, a title and an abbreviation with a full stop (W. G. Grace, Dr.
    Who, z. B.) end none, nor does an ordinal before a month, as those of `abbreviations.tsv` for some languages.
    """
    from icu4py.breakers import SentenceBreaker  # loads 40 MB of tables

    places: list[tuple[int, int]] = []
    begin = 0
    for line in well_formed(text).splitlines(keepends=True):
        at = begin
        for piece in _joined(SentenceBreaker(line, language), language) if line.strip() else ():
            before = (_SPACES, _BULLET) if at == begin else (_SPACES,)
            start = at + max(match.end() for pattern in before if (match := pattern.match(piece)))
            end = at + len(piece.rstrip())
            at += len(piece)
            if any(map(str.isalpha, text[start:end])):
                places.append((start, end))
        begin += len(line)
    return places


def asks(sentence: str, language: str) -> bool:
    """Return whether a sentence ends as a question; `language` is a code."""
    return bool((_GREEK_ASKS if language == "el" else _ASKS).search(sentence))


def well_formed(text: str) -> str:
    """Return a text of the same length without lone surrogates and zeros."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def without_marks(sentence: str) -> str:
    """Return a sentence without emphasis and signs of code."""
    return _MARKUP.sub("", sentence).strip()


def _joined(pieces: Iterable[str], language: str) -> Iterator[str]:
    """Yield ICU's sentences, those that only an abbreviation or an ordinal ended together with the next."""
    abbreviated, counted = _going_on(language)
    begun = ""
    for piece in pieces:
        tail = max(0, len(begun.rstrip()) - LONGEST_END)
        if begun and not (abbreviated.search(begun, tail) or (_ORDINAL.search(begun) and counted.match(piece))):
            yield begun
            begun = ""
        begun += piece
    yield from [begun] if begun else []


@cache
def _going_on(language: str) -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """Return what ends with an abbreviation of a language, and what an ordinal with a full stop may stand before.

    An abbreviation that often ends a sentence (usw., etc., и т. д.) is in no list.
    """
    rows = {code: more for code, *more in table_rows("excam.core", "abbreviations.tsv")}
    abbreviations, counted = rows.get(language, ["", ""])
    parts = [phrase.split() for phrase in abbreviations.split("|")]
    beginnings = {" ".join(part[:count]).rstrip(".") for part in parts for count in range(1, len(part) + 1)}
    short = "|".join(regex.escape(words).replace(r"\ ", r"\s*") for words in sorted(beginnings)) or "(?!)"
    abbreviated = rf"(?:^|[\s.(])(?:{_SHORT}|(?i:{short}))\.\s*$"
    return regex.compile(abbreviated), regex.compile(rf"(?i)(?:{counted}|\d{{1,2}}\.)(?!\w)" if counted else "(?!)")

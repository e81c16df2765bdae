"""Words of a text with their places, folded so that case, width, accents, markup and invisible signs do not count."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from excam.core.plain_text import plain_text
from excam.core.text import SCRIPTS

UNSPACED = regex.compile(rf"(?V1)[{SCRIPTS}ー々〆]+")
# A number with its separators, letters of a script that sets spaces (English "it's" is "it"), a run of one that sets
# none, or a sign that is a part of what is said ("< 5", "5+").
PIECE = regex.compile(
    r"(?V1)\p{Nd}{1,3}(?:[ \u00a0\u202f]\p{Nd}{3})+(?!\p{Nd})|\p{Nd}+(?:[.,:٫٬]\p{Nd}+)*"
    rf"|[{SCRIPTS}ー々〆]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{SCRIPTS}\p{{Nd}}]]+(?P<short>['’ʼ](?i:s|re|ve|ll|d|m)(?!\p{{L}}))?"
    r"|[%٪°<>≤≥±≠]|\p{Sc}|(?<=\p{Nd})\+"
)
LATIN = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}]")
LETTER = regex.compile(r"[\p{L}\p{N}]")
LONGEST_RUN = 400  # characters that are divided at once; ICU's time grows faster than the length of a run
LETTERS = str.maketrans({"ı": "i", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ə": "e"})
ARABIC = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": None, "ک": "ك", "ی": "ي"})
MARKS = regex.compile(r"\p{Mn}")
HARAKAT = regex.compile("[\u064b-\u0652\u0670\u0654\u0655]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: characters [start, end), and its folded form."""

    start: int
    end: int
    key: str


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order; digits and letters that touch are apart ("5km"), hyphens divide."""
    plain = plain_text(text)
    return tuple(Word(*plain.span(word.start, word.end), word.key) for word in words_of_plain(plain.text))


@lru_cache(maxsize=1024)
def words_of_plain(text: str) -> tuple[Word, ...]:
    """Return the words of a text without markup and invisible signs."""
    return tuple(_words(text))


def _words(text: str) -> Iterator[Word]:
    for match in PIECE.finditer(text):
        start, end = match.span()
        if UNSPACED.fullmatch(text, start, end):
            yield from _unspaced(text, start, end)
        elif key := fold(match.group().removesuffix(match["short"] or "")):
            yield Word(start, end, key)


def _unspaced(text: str, start: int, end: int) -> Iterator[Word]:
    """Divide a run of a script without spaces into ICU's words."""
    from icu4py.breakers import WordBreaker  # loads 40 MB of tables

    for first in range(start, end, LONGEST_RUN):
        at = first
        for piece in WordBreaker(text[first : min(first + LONGEST_RUN, end)], "root"):
            if LETTER.search(piece):
                yield Word(at, at + len(piece), fold(piece))
            at += len(piece)


@cache
def fold(word: str) -> str:
    """Return a word as it is compared: NFKC, case-folded, without accents of Latin, Greek and Cyrillic letters.

    Digits of every script become ASCII; Arabic letters lose their vowel signs and the forms of alif and ya.
    """
    folded = unicodedata.normalize("NFKC", word).casefold()
    if LATIN.search(folded):
        folded = MARKS.sub("", unicodedata.normalize("NFD", folded)).translate(LETTERS)
    folded = HARAKAT.sub("", folded).translate(ARABIC)
    return "".join(str(unicodedata.digit(sign)) if sign.isdecimal() else sign for sign in folded)


@dataclass(frozen=True, slots=True)
class Atom:
    """What phrases are made of: a word, or a character of a script without spaces.

    `alone` is whether it is a word: true of every atom but a character inside a longer word.
    """

    start: int
    end: int
    key: str
    alone: bool


def atoms(text: str) -> tuple[Atom, ...]:
    """Return the atoms of a text without markup in order."""
    made: list[Atom] = []
    for word in words_of_plain(text):
        if UNSPACED.fullmatch(text, word.start, word.end):
            alone = word.end - word.start == 1
            made += [Atom(at, at + 1, fold(text[at]), alone) for at in range(word.start, word.end)]
        else:
            made.append(Atom(word.start, word.end, word.key, True))
    return tuple(made)

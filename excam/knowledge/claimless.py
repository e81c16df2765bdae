"""Sentences that state nothing: greetings, closings, offers of help, addresses to the reader, headings, refusals.

The rule is cheap and careful: it knows the usual phrases of fifteen languages (`claimless.tsv`), and what it does not
know it takes for a claim. A phrase is compared with the beginning of a sentence, case-folded, without marks of
emphasis; "~" stands for some words.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal

import regex

from excam.core.package_tables import table_rows
from excam.core.sentences import sentence_places
from excam.knowledge.passages import words

Kind = Literal["opening", "anywhere", "alone", "refusal"]
LONGEST = 24  # words of a sentence that begins with such a phrase; a longer one may state something as well
MORE = 1  # words beside a greeting that stands alone: a name
LONGEST_HEADING = 8  # words
LONGEST_MARK = 20  # characters before a sentence that show whether its line is a heading or an item of a list
_EMPHASIS = regex.compile(r"[*_`#]+")
_SIGNS = str.maketrans({"’": "'", "‘": "'", "´": "'"})
_LINE_END = regex.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HASHES = regex.compile(r"\s*#{1,6}\s*")
_EMPHASISED = regex.compile(r"(\*\*|__).+\1[:：]?")
_GOES_ON = regex.compile(r"[,;:.!?，。；：،]\s*\w|\b(?:but|aber|pero|mais|mas|ma|ama|tapi|но)\b")
_SENTENCE_END = regex.compile(r"[.!?。！？।]$")


def claim_places(text: str, language: str) -> list[tuple[int, int]]:
    """Return the places of the sentences of a text that claim something; `language` is a code, "root" if unknown."""
    return [place for place in sentence_places(text, language) if not is_claimless(text, place)]


def is_claimless(text: str, place: tuple[int, int]) -> bool:
    """Return whether the sentence at a place of a text states nothing, as far as its phrases and its form tell."""
    sentence = text[slice(*place)]
    before = text[max(0, place[0] - LONGEST_MARK) : place[0]]
    if _is_heading(sentence, _LINE_END.split(before)[-1]):
        return True
    plain = _plain(sentence)
    count = len(words(plain))
    if is_refusal(sentence) or (count <= LONGEST and _at_start("opening").match(plain)):
        return True
    if count <= LONGEST and any(phrase in plain for phrase in _phrases("anywhere")):
        return True
    alone = _at_start("alone").match(plain)
    return alone is not None and len(words(plain[alone.end() :])) <= MORE


def is_refusal(text: str) -> bool:
    """Return whether a short text says only that its writer does not know or does not answer.

    What goes on behind a comma or "but" may be an answer.
    """
    plain = _plain(text)
    refused = _at_start("refusal").match(plain)
    return refused is not None and len(words(plain)) <= LONGEST and not _GOES_ON.search(plain, refused.end())


def _is_heading(sentence: str, before: str) -> bool:
    """Return whether a sentence is a heading: behind #, wholly emphasised, or short with a colon at its end.

    `before` is what stands before it in its line: an emphasised item of a list is no heading.
    """
    if _HASHES.fullmatch(before):
        return True
    plain = _plain(sentence)
    is_marked = not before.strip() and bool(_EMPHASISED.fullmatch(sentence)) and not _SENTENCE_END.search(plain)
    return (is_marked or plain.endswith((":", "："))) and len(words(plain)) <= LONGEST_HEADING


def _plain(text: str) -> str:
    """Return a text case-folded, without emphasis, the signs before its first letter and the space around it."""
    folded = unicodedata.normalize("NFKC", _EMPHASIS.sub("", text)).translate(_SIGNS).casefold()
    return " ".join(folded.split()).lstrip("\"'“„«¡¿-–—•( ")


@cache
def _phrases(kind: Kind) -> tuple[str, ...]:
    rows = table_rows("excam.knowledge", "claimless.tsv")
    return tuple(_plain(phrase) for named, phrases in rows if named == kind for phrase in phrases.split("|"))


@cache
def _at_start(kind: Kind) -> regex.Pattern[str]:
    """Return what matches one of the phrases at the beginning; "~" is up to 30 characters of the same sentence.

    Behind a phrase that ends with a letter of an alphabet no letter follows.
    """
    some = r"[^.!?。！？]{0,30}?"
    longest_first = sorted(_phrases(kind), key=len, reverse=True)
    either = "|".join(some.join(map(regex.escape, phrase.split("~"))) for phrase in longest_first)
    return regex.compile(rf"(?:{either})(?![\p{{Latin}}\p{{Cyrillic}}\p{{M}}])")

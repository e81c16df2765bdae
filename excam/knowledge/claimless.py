"""What of a sentence may state something: greetings, closings and offers of help do not.

The rule is careful: it knows the usual phrases of fifteen languages (`claimless.tsv`), and takes what it does not know
for a claim. A phrase is compared with the beginning of a clause, case-folded, without marks of emphasis; "~" stands for
some words. It excuses the clause that it stands in, if all words behind it are listed as polite ones, and nothing else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

import regex

from excam.core.package_tables import table_rows
from excam.core.sentences import asks, sentence_places
from excam.knowledge.passages import words

Kind = Literal["opening", "anywhere", "alone", "refusal", "polite"]
EXCUSES: tuple[Kind, ...] = ("opening", "anywhere", "alone")
LONGEST_REFUSAL = 24  # words
# What may stand before a phrase
BEFORE: Mapping[Kind, str] = {"opening": r"(?:\p{L}+ )?", "anywhere": r"[^,，。、]{0,6}?"}
LONGEST_HEADING = 5  # words
LONGEST_MARK = 20  # characters before a sentence that show whether its line is a heading or an item of a list
_EMPHASIS = regex.compile(r"[*_`#]+")
_SIGNS = str.maketrans({"’": "'", "‘": "'", "´": "'"})
_LINE_END = regex.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HASHES = regex.compile(r"\s*#{1,6}\s*")
_EMPHASISED = regex.compile(r"(\*\*|__).+\1[:：]?")
_BUT = r"\b(?:but|aber|pero|mais|mas|ma|ama|tapi|но)\b"
_GOES_ON = regex.compile(rf"[,;:.!?，。；：،]\s*\w|{_BUT}")
_CLAUSE = regex.compile(rf"(?:[,;:.!?](?=\s)|[，。；：،、]|\s[–—-](?=\s)|\s(?={_BUT}))\s*", regex.IGNORECASE)
_SENTENCE_END = regex.compile(r"[.!?。！？।]$")


def claim_places(text: str, language: str) -> list[tuple[int, int]]:
    """Return the places of what claims something in a text, a sentence each; `language` is a code, "root" if unknown.

    Questions, headings and refusals are left out.
    """
    sentences = [
        place
        for place in sentence_places(text, language)
        if not (asks(sentence := text[slice(*place)], language) or is_refusal(sentence) or is_heading(text, place))
    ]
    return [part for place in sentences if (part := stating_part(text, place))]


@lru_cache(maxsize=4096)
def stating_part(text: str, place: tuple[int, int]) -> tuple[int, int] | None:
    """Return the place of what the sentence at a place of a text may state, behind clauses that a phrase excuses.

    None if that is nothing, as far as phrases tell.
    """
    start, end = place
    ends = [*(mark.end() for mark in _CLAUSE.finditer(text, start, end)), end]
    while excused := [stop for stop in ends if _is_excused(text[start:stop])]:
        start, ends = excused[0], [stop for stop in ends if stop > excused[0]]
    return (start, end) if start == place[0] or not _is_polite(text[start:end]) else None


def _is_excused(clauses: str) -> bool:
    """Return whether a clause, or several that a phrase goes over, are such a phrase with polite words behind it."""
    plain = _plain(clauses)
    begun = [match.end() for kind in EXCUSES if (match := _at_start(kind).match(plain))]
    return any(_is_polite(plain[end:]) for end in begun)


def _is_polite(text: str) -> bool:
    return _polite().issuperset(words(text))


@cache
def _polite() -> frozenset[str]:
    return frozenset(word for phrase in _phrases("polite") for word in words(phrase))


def is_refusal(text: str) -> bool:
    """Return whether a short text says only that its writer does not know or does not answer.

    What goes on behind a comma or "but" may be an answer.
    """
    plain = _plain(text)
    refused = _at_start("refusal").match(plain)
    return refused is not None and len(words(plain)) <= LONGEST_REFUSAL and not _GOES_ON.search(plain, refused.end())


def is_heading(text: str, place: tuple[int, int]) -> bool:
    """Return whether the sentence at a place of a text is a short heading: behind #, emphasised, or with a colon.

    It belongs to what follows, and may deny it ("# Myth"). An emphasised item of a list is no heading.
    """
    start, end = place
    sentence, before = text[start:end], _LINE_END.split(text[max(0, start - LONGEST_MARK) : start])[-1]
    plain = _plain(sentence)
    is_marked = not before.strip() and bool(_EMPHASISED.fullmatch(sentence)) and not _SENTENCE_END.search(plain)
    is_marked = is_marked or plain.endswith((":", "：")) or bool(_HASHES.fullmatch(before))
    return is_marked and len(words(plain)) <= LONGEST_HEADING


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

    Something short may stand before it ("and let me know"). Behind a phrase that ends with a letter of an alphabet no
    letter follows.
    """
    some = r"[^.!?。！？]{0,30}?"
    longest_first = sorted(_phrases(kind), key=len, reverse=True)
    either = "|".join(some.join(map(regex.escape, phrase.split("~"))) for phrase in longest_first)
    return regex.compile(rf"{BEFORE.get(kind, '')}(?:{either})(?![\p{{Latin}}\p{{Cyrillic}}\p{{M}}])")

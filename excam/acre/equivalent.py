"""The judge without a model: does a translation hold an accepted equivalent, or the words of the explication?

It reads only what an item lists, so it is as good as the list. A translation is data: no sentence in it can ask for
anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import regex

from excam.acre.items import TermSentence
from excam.core.exceptions import InputInvalid

VERSION = 2  # before, a vowel sign ended a word
SHARE = 0.4  # of the explication's content words that a paraphrase must hold
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*")
REASONS = ("equivalent", "literal", "explication", "none", "empty")


@dataclass(frozen=True, slots=True)
class _Equivalence:
    """The verdict, and what it rests on (`REASONS`); `share` is that of the explication's content words."""

    valid: bool
    reason: str
    evidence: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What `judge` reads of an item, where a row has nothing else of it."""

    id: str
    explication: str
    equivalent: str | None
    accepted: tuple[str, ...]
    literal: tuple[str, ...]


def comparable(item: TermSentence | Expected) -> bool:
    """Return whether an item has an equivalent or an explication, with which a translation can be compared."""
    return bool(item.equivalent or item.accepted or item.explication)


def judge(item: TermSentence | Expected, translation: str) -> _Equivalence:
    """Return whether the expression survived: 1 an accepted equivalent, 2 not a listed literal gloss, 3 enough words.

    Raise InputInvalid for an item with neither equivalents nor an explication, which nothing can be compared with.
    """
    accepted = [*([item.equivalent] if item.equivalent else []), *item.accepted]
    if not comparable(item):
        raise InputInvalid(f"{item.id}: no equivalent and no explication; expected one of them; add it, or ask a model")
    words = tokens(translation)
    if not words:
        return _Equivalence(False, "empty")
    if phrase := _first_in(accepted, words):
        return _Equivalence(True, "equivalent", phrase)
    if phrase := _first_in(item.literal, words):
        return _Equivalence(False, "literal", phrase)
    wanted = content_stems(item.explication)
    if not wanted:
        return _Equivalence(False, "none")
    share = len(wanted & content_stems(translation)) / len(wanted)
    return _Equivalence(share >= SHARE, "explication" if share >= SHARE else "none", share=share)


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, full-width forms as half-width ones, hyphens as breaks."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("-", " ")
    return WORD.findall(plain)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words of an English text that are no function words."""
    return frozenset(_stem(word) for word in tokens(text) if word not in function_words())


@cache
def function_words() -> frozenset[str]:
    """Return English words that say nothing about what a text is about."""
    text = resources.files("excam.acre").joinpath("function_words.tsv").read_text(encoding="utf-8")
    return frozenset(text.split())


def _first_in(phrases: Iterable[str], words: list[str]) -> str | None:
    """Return the first phrase that stands in a text as whole words."""
    text = f" {' '.join(words)} "
    return next((phrase for phrase in phrases if f" {' '.join(tokens(phrase))} " in text), None)


@cache
def _stem(word: str) -> str:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer().stem(word)

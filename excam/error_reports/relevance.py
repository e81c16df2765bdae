"""Whether a passage is about what a question asks: of the same culture, and with enough of its words.

A small model answers from the closest passage, also where that is about another country or another custom of the same
one. So an answer that it reads off a passage counts only if the passage names a culture that the question names, and
holds a share of the question's content words, in any form. A passage that names no culture may be about any.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache

from excam.core import cultures
from excam.core.plain_text import plain_text
from excam.error_reports.closed_values import without_options
from excam.error_reports.content_words import Vocabulary, Word, content, keys_of_plain, likely_language, words

SHARE = 0.4  # of a question's content words; chosen on one half of 288 rows without their fact
_LONGEST = 4  # words of a culture's name
_QUOTED = re.compile(r"""(?<!\w)['"‘“«„]([^'"‘“«„]*(?:\w['’]\w[^'"‘“«„]*)*[?？؟][^'"‘“«„’”»]*)['"’”»]""")


def unrelated(question: str, passages: Sequence[str], language: str = "", share: float = SHARE) -> str:
    """Return why no passage is about a question, "" if one is."""
    question = without_options(question)[0]
    near = of_its_culture(question, passages)
    if not near:
        others = ", ".join(sorted({name for passage in passages for name in named(passage)}))
        return f"asked about {', '.join(sorted(named(question)))}, and the passage is about {others}"
    best = max(share_held(core(question), passages[at], language) for at in near)
    return "" if best >= share else f"the passage holds {best:.2f} of the question's words"


def of_its_culture(question: str, passages: Sequence[str]) -> list[int]:
    """Return the places of the passages that may be about a culture of the question: all, if either names none."""
    question_names = named(question)
    others = [named(passage) if question_names else question_names for passage in passages]
    return [at for at, names in enumerate(others) if not names or question_names & names]


def core(question: str) -> str:
    """Return what is asked: the longest question in quotation marks ("Answer this: '...?'"), else all of it."""
    return max((quoted[1] for quoted in _QUOTED.finditer(question)), key=len, default=question)


def share_held(question: str, passage: str, language: str = "") -> float:
    """Return the share of a question's content words that a passage holds in any form, 0 to 1; 1 if it has none.

    Names of cultures do not count: every passage about a culture holds its name.
    """
    names = {word.key for name in _names(question) for word in words(name)}
    question_words = [word for word in content(question, language) if word.key not in names]
    return _share(question_words, passage, language or likely_language(question)) if question_words else 1.0


def _share(text_words: Sequence[Word], passage: str, language: str) -> float:
    """Return the share of words that a passage holds in any form."""
    return sum(map(_vocabulary(passage, language).holds, text_words)) / len(text_words)


@lru_cache(maxsize=1024)
def _vocabulary(passage: str, language: str) -> Vocabulary:
    return Vocabulary([passage], language)


def held_shares(answer: str, passages: Sequence[str], language: str = "") -> list[float]:
    """Return of each passage the share of an answer's content that it holds, 0 to 1; 0 of an answer without content."""
    terms = content(answer, language)
    return [_share(terms, passage, language or likely_language(answer)) if terms else 0.0 for passage in passages]


@lru_cache(maxsize=4096)
def named(text: str) -> frozenset[str]:
    """Return the cultures that a text names by a country or its adjective, as `cultures.culture_key` has them."""
    return frozenset(cultures.culture_key(name) for name in _names(text))


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[str, ...]:
    """Return the names of cultures in a text, the longest at each place."""
    all_names, lengths = cultures.names(), _lengths()
    keys = keys_of_plain(plain_text(text).text)
    named_so_far, end = [], 0
    for at in [at for at, key in enumerate(keys) if key in lengths]:
        run = [key.removesuffix("'s") for key in keys[at : at + _LONGEST]]
        length = next((n for n in lengths[keys[at]] if " ".join(run[:n]) in all_names), 0)
        if length and at >= end:
            named_so_far.append(" ".join(run[:length]))
            end = at + length
    return tuple(named_so_far)


@cache
def _lengths() -> dict[str, list[int]]:
    """Return how many words the names of cultures have, most first, by their first word, also in the genitive."""
    by_form = defaultdict[str, set[int]](set)
    for name in cultures.names():
        first, *others = name.split(" ")
        for form in (first, f"{first}'s"):
            by_form[form].add(len(others) + 1)
    return {form: sorted(lengths, reverse=True) for form, lengths in by_form.items()}

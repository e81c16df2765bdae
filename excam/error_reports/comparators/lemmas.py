"""Containment over word forms: stems, prefixes where no stemmer is at hand, spelling variants and aliases.

A word is compared as it is, as its Snowball stem (English, German, French ... , without data), and with doubled
letters as one ("hammoud"); words of other languages that set spaces also by their first letters. Aliases
("soccer", "football") are tried in place of the expected words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import regex

from excam.error_reports.comparators._lexicon import Languages, aliases, languages_of, variants
from excam.error_reports.comparators._statements import Forms
from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.containment import contained
from excam.inference import Flow

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected",)
MOST_ALIASES = 8  # other wordings of an expected statement that are tried
STEMMERS: Mapping[str, str] = {
    "Arabic": "arabic",
    "Danish": "danish",
    "Dutch": "dutch",
    "English": "english",
    "Finnish": "finnish",
    "French": "french",
    "German": "german",
    "Hungarian": "hungarian",
    "Italian": "italian",
    "Norwegian": "norwegian",
    "Portuguese": "portuguese",
    "Romanian": "romanian",
    "Russian": "russian",
    "Spanish": "spanish",
    "Swedish": "swedish",
}
PREFIX = 5  # letters by which words of a language without a stemmer are compared
SPACED = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Devanagari}\p{Arabic}\p{Bengali}\p{Ethiopic}\p{Hangul}]+")
DOUBLED = regex.compile(r"(\p{L})\1")


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything: the first agreement over the aliases of the expected statement."""
    return contained_by_forms(case)
    yield


def contained_by_forms(case: Case) -> Comparison:
    """Return the comparison of a case over word forms; of other names of what is expected, the first that agrees."""
    forms = forms_of(case)
    first = contained(case, forms)
    if first.margin is None or first.margin > 0:
        return first
    others = (contained(replace(case, expected=expected), forms) for expected in _aliases_of(case.expected))
    return next((other for other in others if other.margin is not None and other.margin > 0), first)


def forms_of(case: Case) -> Forms:
    """Return how words of a case are compared, by the languages of its expected statement and of the case."""
    languages = (*languages_of(words(case.expected), case.language), *((case.language,) if case.language else ()))
    return partial(_forms, languages=tuple(dict.fromkeys(languages)))


@cache
def _stemmer(name: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name)


@cache
def _forms(key: str, languages: Languages) -> tuple[str, ...]:
    """Return the forms under which a folded word is compared."""
    forms = list(variants(key))
    stemmed = [name for name in languages if name in STEMMERS]
    for name in stemmed:
        forms.append("~" + _stemmer(STEMMERS[name]).stem(forms[-1] if name == "Arabic" else key))
    bare = forms[len(variants(key)) - 1]
    if len(bare) > PREFIX and SPACED.fullmatch(bare) and len(stemmed) < len(languages):
        forms.append(bare[:PREFIX] + "-")
    return tuple(dict.fromkeys([*forms, *(DOUBLED.sub(r"\1", form) for form in forms)]))


def _aliases_of(expected: str) -> Iterator[str]:
    """Yield the expected statement with one phrase replaced by another name of the same thing, at most a few."""
    known = words(expected)
    count = 0
    for first in range(len(known)):
        for last in range(min(first + 3, len(known)), first, -1):
            for other in aliases().get(tuple(word.key for word in known[first:last]), ()):
                if count == MOST_ALIASES:
                    return
                count += 1
                yield f"{expected[: known[first].start]}{other}{expected[known[last - 1].end :]}"

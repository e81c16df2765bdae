"""Closed values, with names compared by word forms: stems and spelling variants.

No model is asked. A word is compared as it is, as its Snowball stem (English, German, French ... , without data), and
with doubled letters as one ("hammoud"). Whatever is no closed value is not decided (`_closed_values`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import regex

from excam.error_reports.comparators import _closed_values
from excam.error_reports.comparators._lexicon import Languages, languages_of, variants
from excam.error_reports.comparators._statements import Forms
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.inference import Flow

VERSION = 4
NEEDS: tuple[Need, ...] = ("expected",)
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
    """Compare without asking anything; not decidable where anything but closed values is said."""
    return by_words(case)
    yield


def by_words(case: Case) -> Comparison:
    """Return the comparison of a case over stems."""
    return _closed_values.compared(case, stems_of(case))


def stems_of(case: Case) -> Forms:
    """Return how words of closed values are compared, by the languages of the expected statement and of the case."""
    return partial(_stems, languages=_languages(case))


def forms_of(case: Case) -> Forms:
    """Return how words are looked up: as stems, and in a language without a stemmer by their first letters too."""
    return partial(_forms, languages=_languages(case))


def _languages(case: Case) -> Languages:
    stated = (case.language,) if case.language else ()
    return tuple(dict.fromkeys((*languages_of(case.expected, case.language), *stated)))


@cache
def _stemmer(name: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name)


@cache
def _stems(key: str, languages: Languages) -> tuple[str, ...]:
    forms = list(variants(key))
    for name in languages:
        if name in STEMMERS:
            forms.append("~" + _stemmer(STEMMERS[name]).stem(forms[-1] if name == "Arabic" else key))
    return tuple(dict.fromkeys([*forms, *(DOUBLED.sub(r"\1", form) for form in forms)]))


@cache
def _forms(key: str, languages: Languages) -> tuple[str, ...]:
    bare, without_stemmer = variants(key)[-1], set(languages) - set(STEMMERS)
    is_cut = len(bare) > PREFIX and SPACED.fullmatch(bare) and without_stemmer
    prefix = [bare[:PREFIX] + "-"] if is_cut else []
    return tuple(dict.fromkeys([*_stems(key, languages), *prefix, *(DOUBLED.sub(r"\1", form) for form in prefix)]))

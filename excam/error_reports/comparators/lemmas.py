"""Closed values, with names compared by word forms: stems, prefixes where no stemmer is at hand, spelling variants.

No model is asked. A word is compared as it is, as its Snowball stem (English, German, French ... , without data), and
with doubled letters as one ("hammoud"); words of other languages that set spaces also by their first letters. Whatever
is no closed value is not decided (`_closed_values`).
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
    """Return the comparison of a case over word forms."""
    return _closed_values.compared(case, forms_of(case))


def forms_of(case: Case) -> Forms:
    """Return how words of a case are compared, by the languages of its expected statement and of the case."""
    languages = (*languages_of(case.expected, case.language), *((case.language,) if case.language else ()))
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

"""Names of languages, detection of a text's language, and the languages that the metric was tested on.

A language is identified by its English name; codes and spellings (Turkish, turkish, tr, tur, tr-TR) are accepted.
Detection requires the optional package py3langid and returns None if it is uncertain.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import util
from typing import TYPE_CHECKING

from excam.core.package_tables import table_rows

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENOUGH = 40  # letters: detection is unreliable on shorter texts
SURE = 0.95  # normalized probability of the most likely language
LOOKED_AT = 10_000  # leading characters of a text that are examined
_SCRIPT_OR_REGION = re.compile(r"[-_](?:[a-z]{4}|[a-z]{2}|\d{3})(?=$|[-_])")  # subtags that do not change the language


@cache
def _names() -> dict[str, str]:
    """Return English names by every accepted name and code."""
    names = {}
    for name, also in table_rows("excam.core", "languages.tsv")[1:]:
        names |= dict.fromkeys([name.casefold(), *(word.replace("_", " ") for word in also.split())], name)
    return names


@cache
def tested_languages() -> frozenset[str]:
    """Return the English names of the 45 languages of the paper's Appendix E."""
    return frozenset(_names().values())


def language_name(name: str) -> str:
    """Return the English name for a name or code of a language; an unknown one is returned in lower case."""
    plain = name.partition("(")[0].strip().casefold()
    return _names().get(plain) or _names().get(_SCRIPT_OR_REGION.sub("", plain), plain)


def can_detect() -> bool:
    """Return whether py3langid is installed."""
    return util.find_spec("py3langid") is not None


def detect_language(text: str) -> str | None:
    """Return the language of a text as `language_name` does (or its ISO 639 code); None if uncertain.

    A result requires at least `ENOUGH` letters and a probability of at least `SURE`. A language that the detector does
    not know may be mistaken for one it knows; a column with the language is more reliable.
    """
    text = text[:LOOKED_AT]
    if sum(map(str.isalpha, text)) < ENOUGH or not can_detect():
        return None
    code, probability = _identifier().classify(text)
    return None if probability < SURE or code == "zxx" else language_name(code)  # zxx: no linguistic content


def langid_code(text: str) -> str:
    """Return langid's code of a text, however uncertain. Raises ModuleNotFoundError without py3langid."""
    return _identifier().classify(text[:LOOKED_AT])[0]


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

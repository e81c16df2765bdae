"""Which language a text is in, by name or by its letters, and which ones the metric was tested on.

A language is known by its English name, however it is told: Turkish, turkish, tr, tur, tr-TR. Detection needs the
optional package py3langid and says nothing where it is not sure.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources, util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENOUGH = 40  # letters: shorter texts are too often taken for a language they are not in
SURE = 0.95  # normalized probability of the likeliest language
LOOKED_AT = 10_000  # characters of a text, from its beginning
_SCRIPT_OR_REGION = re.compile(r"[-_](?:[a-z]{4}|[a-z]{2}|\d{3})(?=$|[-_])")  # subtags that make no other language


@cache
def _names() -> dict[str, str]:
    """English names by everything they are told as."""
    text = resources.files("excam.metric").joinpath("languages.tsv").read_text(encoding="utf-8")
    names = {}
    for line in text.splitlines()[1:]:
        name, also = line.split("\t")
        names |= dict.fromkeys([name.casefold(), *(word.replace("_", " ") for word in also.split())], name)
    return names


@cache
def tested() -> frozenset[str]:
    """English names of the 45 languages of Appendix E: those the paper's rows are in."""
    return frozenset(_names().values())


def named(told: str) -> str:
    """The English name of a language as somebody tells it; in small letters what was told, where it is none of them."""
    plain = told.partition("(")[0].strip().casefold()
    return _names().get(plain) or _names().get(_SCRIPT_OR_REGION.sub("", plain), plain)


def can_detect() -> bool:
    """Whether py3langid is there."""
    return util.find_spec("py3langid") is not None


def detected(text: str) -> str | None:
    """The language of a text, named as by `named` (or by its ISO 639 code); None where that is not sure.

    Sure: at least `ENOUGH` letters and a probability of at least `SURE`. A language that the detector does not know
    may be taken for one it knows; telling it in a column is safer.
    """
    text = text[:LOOKED_AT]
    if sum(map(str.isalpha, text)) < ENOUGH or not can_detect():
        return None
    code, probability = _identifier().classify(text)
    return None if probability < SURE or code == "zxx" else named(code)  # zxx: no language at all


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

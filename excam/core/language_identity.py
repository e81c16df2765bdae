"""Identify the language of a text with CLD2 or langid, and compare languages by ISO 639 code.

`excam.core.languages` names the languages that the metric was tested on; this module compares any two languages. CLD2
(package pycld2) knows 160 languages and needs microseconds a text; langid (package py3langid) knows 97.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import regex

from excam.core import extras
from excam.core.exceptions import InputInvalid
from excam.core.languages import ENOUGH, langid_code, language_name
from excam.core.package_tables import table_rows
from excam.core.text import as_word

Detector = Literal["cld2", "langid"]
PACKAGES: dict[Detector, str] = {"cld2": "pycld2", "langid": "py3langid"}
UNKNOWN = "und"  # ISO 639: undetermined
# CLD2 refuses control characters, lone surrogates and noncharacters as invalid UTF-8.
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
CONFUSED = (("bs", "hr", "sr"), ("cs", "sk"), ("da", "no"), ("id", "ms"), ("rn", "rw"))  # by CLD2, on texts of people
_QUOTED = regex.compile(r"(?:(?<!\w)'|[\"“„«「『])([^\"”“»」』\n]{8,}?)(?:'(?!\w)|[\"”“»」』])")
_CODE = re.compile(r"[a-z]{2,3}")


@cache
def _table() -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return codes by every accepted name, and every name by code, the English one first."""
    codes: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {}
    for code, name, also in table_rows("excam.core", "language_codes.tsv")[1:]:
        others = [word.replace("_", " ") for word in also.split()]
        names[code] = (name, *others)
        codes |= dict.fromkeys([code, name.casefold(), *map(str.casefold, others)], code)
    return codes, names


def language_code(name: str) -> str:
    """Return the ISO 639 code of a language given as a code, in English or in itself: German, deu and Deutsch are de.

    Subtags are ignored (zh-Hant, pt_BR). A code of two or three letters that is not in our table is returned as it is.
    Raises InputInvalid for any other name.
    """
    codes = _table()[0]
    plain = name.strip().casefold()
    short = re.split(r"[-_(]", plain)[0].strip()
    for candidate in (plain, language_name(name).casefold(), short):
        if candidate in codes:
            return codes[candidate]
    if _CODE.fullmatch(short):
        return short
    raise InputInvalid(f"language: found {name[:40]!r}; expected its ISO 639 code, English name or own name")


def language_key(name: str) -> str:
    """Return what a language is compared by: its ISO 639 code, else its name in lower case; "" for none."""
    if not name.strip():
        return ""
    try:
        return language_code(name)
    except InputInvalid:
        return name.strip().casefold()


def code_name(code: str) -> str:
    """Return the English name of a code, else the code itself; words for `UNKNOWN`."""
    names = _table()[1].get(code)
    return "no known language" if code == UNKNOWN else names[0] if names else code


@cache  # asked of each row
def is_installed(detector: Detector) -> bool:
    """Return whether the package of a detector is installed."""
    return extras.is_installed(PACKAGES[detector])


def identify(text: str, detector: Detector = "cld2") -> str:
    """Return the ISO 639 code of the language of most of a text, `UNKNOWN` if the detector has none.

    CLD2 is asked for its best guess even on short texts. Raises ModuleNotFoundError without the detector's package.
    """
    if detector == "langid":
        return _plain(langid_code(text)) if text.strip() else UNKNOWN
    return _cld2(text)[1][0][0]


def contained_languages(text: str) -> tuple[str, ...]:
    """Return the codes of up to three languages of a text by CLD2, the main one first.

    Empty if the text has fewer than `excam.core.languages.ENOUGH` letters or CLD2 is not sure of the main one.
    """
    if sum(map(str.isalpha, text)) < ENOUGH:
        return ()
    reliable, detected = _cld2(text)
    codes = tuple(code for code, _ in detected if code != UNKNOWN)
    return codes if reliable and detected[0][0] != UNKNOWN else ()


def answers_in_another_language(instruction: str, output: str) -> bool:
    """Return whether an output is surely in a language that its instruction neither contains nor names.

    Undecided texts (short, mixed, unknown to CLD2) are never reported.
    """
    questions, answers = contained_languages(instruction), contained_languages(output)
    if not questions or not answers:
        return False
    # Of a question inside a template of English.
    quoted = {identify(quotation) for quotation in _QUOTED.findall(instruction)}
    if {_family(code) for code in (*questions, *quoted)} & set(map(_family, answers)):
        return False
    names = _table()[1].get(answers[0], ())
    return not any(_is_named(name.casefold(), instruction.casefold()) for name in names)


def _family(code: str) -> str:
    return next((",".join(codes) for codes in CONFUSED if code in codes), code)


def _is_named(name: str, text: str) -> bool:
    """Return whether a text has a name of a language as a word: German, but not Germany; codes are no names."""
    if not name.isascii():
        return name in text  # scripts without spaces too
    return len(name) > 3 and regex.search(as_word(regex.escape(name)), text) is not None


def _cld2(text: str) -> tuple[bool, list[tuple[str, int]]]:
    """Return whether CLD2 is sure, and the code and percentage of up to three languages of a text."""
    import pycld2

    # isPlainText: tags and entities of a text are never read as HTML, which could name a language.
    sure, _, detected = pycld2.detect(_REFUSED.sub(" ", text), isPlainText=True, bestEffort=True)
    return sure, [(UNKNOWN if code == "un" else _plain(code), percent) for _, code, percent, _ in detected]


def _plain(code: str) -> str:
    """Return the code of our table for a code of a detector, such as iw for Hebrew."""
    return _table()[0].get(code.casefold(), code.partition("-")[0])

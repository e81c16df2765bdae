"""Character classes for comparing texts, and what counts as a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeGuard

import regex

INVISIBLE = regex.compile(r"(?V1)[\p{DI}--[\U000e0020-\U000e007f]]")  # except tag characters, which distinguish flags
QUOTES = str.maketrans("‘’‛ʻʼ`´＇׳“”„‟＂״", "'" * 9 + '"' * 6)
SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{scx=Hira}\p{scx=Kana}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}"
# What a word consists of: marks too, such as the vowel signs of Hindi, which Python's \w and isalnum leave out.
IN_WORD = r"\p{L}\p{M}\p{N}_"
# Part of a word that spaces end. In the scripts that set none, any neighbour may be another word.
WORD = regex.compile(rf"(?V1)[[{IN_WORD}]--[{SCRIPTS}]]")
# A grapheme cluster. In a row of flags \X alone would look back to the beginning of the row at each of them.
CLUSTER = regex.compile(r"\p{RI}{2}(?![\p{GCB=EX}\p{GCB=ZWJ}\p{GCB=SM}])|\X")
# What stands before the letter of an option, in the languages of the templates and in others (a regular expression)
OPTION = (
    "(?:option|choice|opción|opção|opzione|optie|opsi|pilihan|seçenek|şık|επιλογή|الخيار|विकल्प|선택지|选项|選項|選択肢)"
)
SURROGATE = re.compile("[\ud800-\udfff]")


def as_word(pattern: str) -> str:
    """Return a pattern of `regex` that matches only where no word goes on at either end, in scripts with spaces."""
    return rf"(?<![{IN_WORD}])(?:{pattern})(?![{IN_WORD}])"


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that a file can hold, without lone surrogates."""
    return isinstance(value, str) and not SURROGATE.search(value)


def id_text(value: object) -> str | None:
    """Return an id as text: a text that is not blank, or a whole number; None for anything else.

    A float beyond 2^53 may stand for several whole numbers, so it is no id.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**100:
        return str(value)
    return value if is_text(value) and value.strip() else None


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """Return the name of a person, system or judge as its reader sees it: NFC, one blank between words, nothing hidden.

    Names that look alike are one name.
    """
    return " ".join(unicodedata.normalize("NFC", INVISIBLE.sub("", name)).split())


def respelled(names: Iterable[str]) -> str:
    """Return in words which of the names `plain_name` changes, with the first of them as it is written; "" for none."""
    changed = [name for name in dict.fromkeys(names) if name != plain_name(name)]
    what = f"{len(changed)} name{'s' * (len(changed) > 1)} read without needless blanks and invisible characters"
    return f"{what}, e.g. {changed[0]!a} as {plain_name(changed[0])}" if changed else ""

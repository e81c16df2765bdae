"""The tables of `lexicon`: the named things of a culture, the fixed exchanges, and the cues.

- `lexicon.tsv` lists named things (kind, culture, language, surface). Only things of one kind replace each other: a
  kind holds one gender, number and case ("feast/fem"; its family is "feast").
- `lexicon_edits.tsv` lists fixed exchanges (kind, language, old, unless, new). `old` is a regular expression with the
  words that must stand around it; `unless` one that must not be found in the same sentence.
- `lexicon_cues.tsv` lists what is found in a text about public history (rulers and wars, states and laws, faith, arts),
  and in a sentence about a custom, where the culture is not named.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

import regex

from excam.core.package_tables import table_rows
from excam.core.text import IN_WORD
from excam.excam40k.construction.lexicon_words import AFFIXES, UNSPACED

HISTORY, CUSTOM = 1, 2  # columns of `lexicon_cues.tsv`
LONGEST = 2500  # characters of an answer: readers found mistakes of their own in most longer ones


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing of a culture or religion."""

    kind: str
    culture: str
    language: str
    surface: str

    @property
    def family(self) -> str:
        return self.kind.partition("/")[0]


@dataclass(frozen=True, slots=True)
class LexiconEdit:
    """A fixed exchange: a match of `old` becomes `new`, unless the sentence holds `unless`."""

    kind: str
    language: str
    old: regex.Pattern[str]
    unless: regex.Pattern[str] | None
    new: str


@cache
def items() -> tuple[Entity, ...]:
    """Return the rows of `lexicon.tsv`."""
    return tuple(Entity(*cells) for cells in table("lexicon.tsv"))


@cache
def _rejected() -> frozenset[str]:
    return frozenset(digest_of_answer for digest_of_answer, *_ in table("lexicon_rejected.tsv"))


def is_rejected(answer: str) -> bool:
    """Return whether an answer must not stand as a right one: it is long, or in `lexicon_rejected.tsv`."""
    return len(answer) > LONGEST or sha256(answer.encode()).hexdigest()[:16] in _rejected()


@cache
def edits_of(language: str) -> tuple[LexiconEdit, ...]:
    """Return the rows of `lexicon_edits.tsv` in one language."""
    return tuple(
        LexiconEdit(kind, language, regex.compile(old), regex.compile(unless) if unless else None, new)
        for kind, spoken, old, unless, new in table("lexicon_edits.tsv")
        if spoken == language
    )


@cache
def cue(language: str, about: int) -> regex.Pattern[str]:
    """Return what is found in a text about `HISTORY` or a `CUSTOM`; in a language not listed, nothing is."""
    cues = {row[0]: row[about] for row in table("lexicon_cues.tsv")}
    return regex.compile(cues.get(language) or "(?!)", regex.IGNORECASE)


def table(name: str) -> list[list[str]]:
    """Return the cells of the lines of a table of this folder, without its heading."""
    return table_rows("excam.excam40k.construction", name)[1:]


@cache
def pattern_of(item: Entity) -> regex.Pattern[str]:
    """Return the pattern of an item as a whole word, with the prefixes and endings of the language as groups.

    Without spaces a Japanese word ends where the script changes; the Chinese words are long enough to stand alone.
    """
    word = f"(?P<word>{regex.escape(item.surface)})"
    if item.language in UNSPACED:
        script = r"\p{Katakana}ー" if regex.search(r"\p{Katakana}", item.surface) else r"\p{Han}"
        around = (f"(?<![{script}])", f"(?![{script}])") if item.language == "Japanese" else ("", "")
        return regex.compile(f"(?P<prefix>){around[0]}{word}(?P<ending>){around[1]}")
    prefix, ending = AFFIXES.get(item.language, ("", ""))
    left, right = f"(?<![{IN_WORD}-])", f"(?![{IN_WORD}-])"
    return regex.compile(f"{left}(?P<prefix>{prefix}){word}(?P<ending>{ending}){right}")

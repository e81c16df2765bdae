"""A text as what it states: typed values, content words, negations; and which of them other texts hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from excam.core.plain_text import plain_text
from excam.core.text import OPTION as OPTION_WORD
from excam.error_reports.comparators._lexicon import NEGATION, Languages, languages_of, variants, word_list
from excam.error_reports.comparators._value import Covered, Value, ValueIndex
from excam.error_reports.comparators._values import read_values
from excam.error_reports.comparators._words import UNSPACED, Word, words_of_plain

OPTION = regex.compile(rf"(?<![\p{{L}}\p{{Nd}}])(?:(?i:{OPTION_WORD})\s*)?\(?([A-H])(?:[):.]\s+|：\s*)")
LETTER = regex.compile("[a-h]")
COLON = regex.compile(r"[:：](?!\p{Nd})")

Forms = Callable[[str], Iterable[str]]  # a folded word to the forms under which it is compared


@dataclass(frozen=True, slots=True)
class Unit:
    """A content word or a typed value of a text: characters [start, end)."""

    start: int
    end: int
    key: str
    value: Value | None = None
    links: bool = False  # a function word that changes what others say ("or", "before"); it is no content


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text states.

    `parts` are its content words, linking words and values without carrier phrases ("The answer is option"); `carrier`
    are those. `units` are the parts without linking words.
    """

    text: str
    languages: Languages
    parts: tuple[Unit, ...]
    units: tuple[Unit, ...]
    carrier: tuple[Unit, ...]
    negations: tuple[Unit, ...]

    def content(self) -> tuple[Unit, ...]:
        """Return the units that count: all but option letters and yes or no, unless there is nothing else."""
        kinds = ("option", "yes-no")
        return tuple(unit for unit in self.units if not unit.value or unit.value.kind not in kinds) or self.units


def language_of(language: str, *texts: str) -> str:
    """Return the language to read short texts in: the stated one, else that of these texts together, "" if unknown."""
    return language or next(iter(languages_of("\n".join(texts))), "")


@lru_cache(maxsize=4096)
def statement(text: str, language: str = "") -> Statement:
    """Return what a text states; `language` decides only where the text does not."""
    plain = plain_text(text)
    known = words_of_plain(plain.text)
    languages = languages_of(text, language)
    values = read_values(plain.text, languages)
    functions, linking = (word_list("function_words", languages, column) for column in ("words", "linking"))
    valued = Covered((value.start, value.end) for value in values)
    content = [
        Unit(
            start, end, word.key if part == (word.start, word.end) else plain.text[start:end], None, word.key in linking
        )
        for word in known
        if word.key not in functions
        for part in _outside(word, valued, UNSPACED.fullmatch(word.key) is not None)
        for start, end in (part,)
    ]
    typed = [Unit(value.start, value.end, _value_key(value), value) for value in values if value.kind != NEGATION]
    units = sorted([*content, *typed], key=lambda unit: unit.start)
    negations = [Unit(value.start, value.end, NEGATION) for value in values if value.kind == NEGATION]
    parts = (*_without_carrier(plain.text, units, known, languages), negations)

    def original(unit: Unit) -> Unit:
        start, end = plain.span(unit.start, unit.end)
        return replace(unit, start=start, end=end)

    carrier, stated, negations = (tuple(map(original, part)) for part in parts)
    units = tuple(unit for unit in stated if not unit.links)
    return Statement(text, languages, stated, units, carrier, negations)


def _outside(word: Word, valued: Covered, divides: bool) -> list[tuple[int, int]]:
    """Return the parts of a word that no value covers; a word of a script with spaces is whole or none of it."""
    if not valued.touches(word.start, word.end):
        return [(word.start, word.end)]
    free = [at for at in range(word.start, word.end) if divides and not valued.touches(at, at + 1)]
    starts = [at for at in free if at - 1 not in free]
    return [(start, next(at for at in range(start, word.end + 1) if at not in free)) for start in starts]


def _value_key(value: Value) -> str:
    return f"{value.kind}={'/'.join(sorted(map(str, value.values)))}"


def _without_carrier(
    text: str, units: Sequence[Unit], known: Sequence[Word], languages: Languages
) -> tuple[list[Unit], list[Unit]]:
    """Divide units into those of carrier phrases at either end, and those that state something."""
    listed = word_list("carriers", languages)
    colon = COLON.search(text)
    if colon:
        wide = listed | word_list("carriers", ("before a colon",)) | word_list("function_words", languages)
        head = [word for word in known if word.end <= colon.start()]
        letters = {unit.start for unit in units if unit.value and unit.value.kind == "option"}
        if head and all(word.key in wide or word.start in letters or LETTER.fullmatch(word.key) for word in head):
            before = [unit for unit in units if unit.start < colon.end()]
            carried, stated = _trimmed([unit for unit in units if unit.start >= colon.end()], frozenset())
            if stated:
                return [*before, *carried], stated
    return _trimmed(units, listed)


def _trimmed(units: Sequence[Unit], listed: frozenset[str]) -> tuple[list[Unit], list[Unit]]:
    """Divide units into carrier words and option letters at either end, and the rest; without a rest, all is that."""

    def carries(unit: Unit) -> bool:
        return unit.key in listed if unit.value is None else unit.value.kind == "option"

    first, last = 0, len(units)
    while first < last and carries(units[first]):
        first += 1
    while last > first and carries(units[last - 1]):
        last -= 1
    return ([*units[:first], *units[last:]], list(units[first:last])) if first < last else ([], list(units))


def options(question: str) -> tuple[str, dict[str, str]]:
    """Return a question without its answer options, and the options by letter; "A" and "B" are the fewest."""
    marks = list(OPTION.finditer(question))
    for at, mark in enumerate(marks):
        run = marks[at : at + 8]
        letters = [other[1] for other in run]
        count = next((n for n, letter in enumerate(letters) if letter != "ABCDEFGH"[n]), len(letters))
        if count >= 2:
            ends = [other.start() for other in run[1:count]] + [len(question)]
            texts = [
                question[other.end() : end].strip(" ;\n,；؛·") for other, end in zip(run[:count], ends, strict=True)
            ]
            return question[: mark.start()], dict(zip(letters, texts, strict=False))
    return question, {}


def resolved(text: str, stated: Statement, by_letter: dict[str, str]) -> str:
    """Return the option that a text names by its letter alone, or the text."""
    letters = [unit.value for unit in stated.units if unit.value and unit.value.kind == "option"]
    if len(letters) == 1 and len(stated.units) == 1:
        return by_letter.get(str(next(iter(letters[0].values))), text)
    return text


class Held:
    """The forms and values that some texts hold, to look up whether a unit of another text is among them."""

    def __init__(self, statements: Sequence[Statement], forms: Forms = variants) -> None:
        self.forms = forms
        units = [unit for stated in statements for unit in (*stated.carrier, *stated.units)]
        self.values = ValueIndex(unit.value for unit in units if unit.value)
        self.known = {form for unit in units if unit.value is None for form in forms(unit.key)}
        self.unspaced = "\n".join(key for key in self.known if UNSPACED.fullmatch(key))

    def holds(self, unit: Unit) -> bool:
        """Return whether a unit is among them: an equal value, a word with a form in common."""
        if unit.value:
            return self.values.holds(unit.value)
        if any(form in self.known for form in self.forms(unit.key)):
            return True
        return len(unit.key) > 1 and UNSPACED.fullmatch(unit.key) is not None and unit.key in self.unspaced

"""A text as what it states: typed values, content words, negations; and how far two of them say the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from excam.core.text import OPTION as OPTION_WORD
from excam.error_reports.comparators._lexicon import Languages, languages_of, variants, word_list
from excam.error_reports.comparators._value import SOFT, Covered, KindIndex, Value, ValueIndex
from excam.error_reports.comparators._values import read_values
from excam.error_reports.comparators._words import UNSPACED, Word, words

SHORT = 4  # content units of a short statement: there, soft kinds of values decide too
LONG = 16  # content units beyond which a soft kind is one of several things said
LONGEST_WORD = 40  # letters at the end of a word in which a negating ending is looked for
OPTION = regex.compile(rf"(?<![\p{{L}}\p{{Nd}}])(?:(?i:{OPTION_WORD})\s*)?\(?([A-H])(?:[):.]\s+|：\s*)")
ALTERNATIVES = regex.compile(r"\s(?:or|oder|ou|veya|atau|या|أو|или)\s|(?<!\s)\s++/\s*+|/\s*+|或者|或|または|또는")
SENTENCE = regex.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
BOUND_NEGATION = regex.compile(
    r"(?:ない|ません|なかっ|않|없|못)|^안$|\p{Latin}{2,}(?:maz|mez|miyor|muyor|memeli|mamali|mamis|memis)\p{Latin}*$|n['’]t$"
)
PAIRED = frozenset(("neither", "nor", "weder", "noch", "ni", "nem", "ne"))  # "neither good nor bad" is neither
NEGATING = ("un", "in", "im", "ir", "il", "dis", "non")
COLON = regex.compile(r"[:：](?!\p{Nd})")

Forms = Callable[[str], Iterable[str]]  # a folded word to the forms under which it is compared


@dataclass(frozen=True, slots=True)
class Unit:
    """A content word or a typed value of a text: characters [start, end)."""

    start: int
    end: int
    key: str
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text states.

    `units` are its content words and values without carrier phrases ("The answer is option"); `carrier` are those.
    """

    text: str
    languages: Languages
    units: tuple[Unit, ...]
    carrier: tuple[Unit, ...]
    negations: tuple[Word, ...]
    counted: tuple[Unit, ...]

    def values(self) -> list[Value]:
        """Return its typed values, those of carrier phrases (option letters) too."""
        return [unit.value for unit in (*self.carrier, *self.units) if unit.value]

    def negates(self) -> bool:
        """Return whether anything in it is negated; "never" is both a degree and a negation."""
        return bool(self.negations) or any(value.kind == "degree" and "none" in value.values for value in self.values())

    def content(self) -> tuple[Unit, ...]:
        """Return the units that count: all but option letters and yes or no, unless there is nothing else."""
        return self.counted or self.units


def language_of(language: str, question: str) -> str:
    """Return the language to read short texts in: the stated one, else that of the question."""
    return language if language else languages_of(words(question))[0]


@lru_cache(maxsize=4096)
def statement(text: str, language: str = "") -> Statement:
    """Return what a text states; `language` decides only where the text does not."""
    known = words(text)
    languages = languages_of(known, language)
    values = read_values(text, languages, known)
    values, negations = _negated(text, values, known, languages)
    functions = word_list("function_words", languages)
    held = {word.start for word in negations}
    valued = Covered((value.start, value.end) for value in values)
    content = [
        Unit(word.start, word.end, word.key)
        for word in known
        if word.key not in functions and word.start not in held and not valued.touches(word.start, word.end)
    ]
    units = sorted([*content, *(Unit(v.start, v.end, _value_key(v), v) for v in values)], key=lambda unit: unit.start)
    carrier, stated = _without_carrier(text, units, known, languages)
    counted = tuple(unit for unit in stated if unit.value is None or unit.value.kind not in ("option", "yes-no"))
    return Statement(text, languages, tuple(stated), tuple(carrier), negations, counted)


def _value_key(value: Value) -> str:
    return f"{value.kind}={'/'.join(sorted(map(str, value.values)))}"


def _negated(
    text: str, values: Sequence[Value], known: Sequence[Word], languages: Languages
) -> tuple[tuple[Value, ...], tuple[Word, ...]]:
    """Turn opposites after a negation to the other side; return the values, and the negations that turned none.

    A negation inside a value ("not very", "No,") belongs to it.
    """
    listed = word_list("negations", languages)
    valued = Covered((value.start, value.end) for value in values)
    free = {
        at: word
        for at, word in enumerate(known)
        if (word.key in listed or BOUND_NEGATION.search(word.key[-LONGEST_WORD:]))
        and not valued.touches(word.start, word.end)
    }
    starts = [word.start for word in known]
    turned: list[Value] = []
    for value in values:
        if value.kind.startswith("opposite:"):
            at = bisect_left(starts, value.start)
            before = [place for place in (at - 1, at - 2) if place in free]
            if len(before) == 1 and free[before[0]].key not in PAIRED:
                start = free.pop(before[0]).start
                other = frozenset("other" if side == "one" else "one" for side in value.values)
                value = replace(value, values=other, start=start, shown=text[start : value.end])
        turned.append(value)
    return tuple(turned), tuple(free.values())


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
        if head and all(word.key in wide or word.start in letters for word in head):
            before = [unit for unit in units if unit.start < colon.end()]
            carried, stated = _trimmed([unit for unit in units if unit.start >= colon.end()], listed)
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


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that are not blank."""
    return [part for part in SENTENCE.split(text) if part.strip()]


def alternatives(text: str) -> list[str]:
    """Return the parts of a statement that each would do ("rice or noodles"), the statement if there are none."""
    return [part for part in ALTERNATIVES.split(text) if part.strip()] or [text]


def asked_beside(expected: Statement, question: Statement, forms: Forms) -> Held:
    """Return what a question says already, so that it is no answer.

    That is nothing where the question holds all of the expected content: it lists the answers to choose from.
    """
    asked = Held([question], forms)
    chosen = bool(expected.content()) and all(map(asked.holds, expected.content()))
    return Held([], forms) if chosen else asked


class Held:
    """The forms and values that some texts hold, to look up whether a unit of another text is among them."""

    def __init__(self, statements: Sequence[Statement], forms: Forms = variants) -> None:
        self.forms = forms
        units = [unit for stated in statements for unit in (*stated.carrier, *stated.units)]
        self.values = ValueIndex(unit.value for unit in units if unit.value)
        self.known = {form for unit in units if unit.value is None for form in forms(unit.key)}
        self.words = {word.key for stated in statements for word in words(stated.text)}
        self.unspaced = "\n".join(key for key in self.known if UNSPACED.fullmatch(key))

    def knows_words(self, text: str) -> bool:
        """Return whether every word of a text is among them, function words too."""
        return all(word.key in self.words for word in words(text))

    def holds(self, unit: Unit) -> bool:
        """Return whether a unit is among them: an equal value, a word with a form in common."""
        if unit.value:
            return self.values.holds(unit.value)
        if any(form in self.known for form in self.forms(unit.key)):
            return True
        return len(unit.key) > 1 and UNSPACED.fullmatch(unit.key) is not None and unit.key in self.unspaced


def contradiction(expected: Statement, text: Statement, question: Statement) -> tuple[Value, Value] | None:
    """Return the first pair of values of one kind in which a text differs from the expected statement.

    A value of the question is no answer, unless the expected statement has no other of its kind. A text that holds all
    expected values may hold more. Weak values, and kinds that describe, decide only between short statements.
    """
    asked, wanted, stated = (ValueIndex(each.values()) for each in (question, expected, text))
    short = len(expected.content()) <= SHORT
    expected_values = [value for value in expected.values() if not asked.holds(value)] or expected.values()
    other = [value for value in text.values() if not wanted.holds(value) and _decides(value, text, short)]
    listed, new = KindIndex(other), KindIndex(value for value in other if not asked.holds(value))
    for value in expected_values:
        # A question that holds the expected value lists the answers to choose from.
        instead = (listed if asked.holds(value) else new).comparable(value)
        if instead and not stated.holds(value) and _decides(value, expected, short):
            return value, instead
    return None


def _decides(value: Value, stated: Statement, short: bool) -> bool:
    if value.weak:
        return short and len(stated.content()) <= SHORT
    soft = value.kind in SOFT or value.kind.startswith("opposite:")
    return not soft or len(stated.content()) <= LONG


def prefix_opposite(expected: Statement, text: Statement) -> Unit | None:
    """Return the word of a text that negates an expected one by its prefix, or the reverse ("unlucky")."""
    if "English" not in expected.languages:
        return None
    wanted, stated = ({unit.key: unit for unit in each.content() if unit.value is None} for each in (expected, text))
    for key, unit in stated.items():
        for prefix in NEGATING:
            bare = key.removeprefix(prefix)
            if len(key) > 5 and key not in wanted and ((bare != key and bare in wanted) or prefix + key in wanted):
                return unit
    return None

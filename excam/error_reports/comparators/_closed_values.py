"""Whether two short answers say the same, where a program can know: closed values, and nothing beside them.

A closed value is yes or no, an option, one number with its unit, one date or clock time, or one name. Carrier phrases,
what the question says and words that state nothing are left out of both sides. Both must then hold the same words in
the same order, beside values or negations that decide; two short names may also have nothing in common. Whatever else
remains, such as a second value, a word of comparison, a hedge or a further sentence, makes a case undecidable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from excam.error_reports.comparators._differences import Sides, lacking, sides_of, stated_range
from excam.error_reports.comparators._statements import Forms, Held, Statement, Unit
from excam.error_reports.comparators._value import NUMBER, Value
from excam.error_reports.comparators._words import UNSPACED, words
from excam.error_reports.comparators.base import Case, Comparison, Range

AGREES, DIFFERS = 0.45, -0.55  # the margins, in the unit that `combined` was fitted with
NAME = 3  # words of the longest name that may differ from another one
ALIKE = 4  # letters at the beginning that two forms or spellings of one name may share
NUMBERS = (NUMBER, "year")  # kinds without a unit
SCRIPTS_OF_NAMES = ("Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Hangul", "Han", "Hiragana", "Katakana")
SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{{name}}})" for name in SCRIPTS_OF_NAMES))
ASKS = regex.compile("[?？؟]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program knows of a case; `margin` None: nothing. `names`: two names differ, which may mean the same."""

    margin: float | None
    reason: str
    units: tuple[Unit, ...] = ()  # of the text, that differ
    names: bool = False


def compared(case: Case, forms: Forms) -> Comparison:
    """Return the comparison of a case, with words compared by their forms."""
    outcome = decided(case, forms)
    return Comparison(outcome.margin, differing(case, outcome), outcome.reason)


def differing(case: Case, outcome: Outcome) -> tuple[Range, ...]:
    """Return the ranges of the text that differ: those of the outcome's units, else all that it states."""
    if (outcome.margin or 0.0) >= 0:
        return ()
    return tuple((unit.start, unit.end) for unit in outcome.units) or stated_range(case)


def decided(case: Case, forms: Forms) -> Outcome:
    """Return what a program knows of a case."""
    if lack := lacking(case):
        return Outcome(None, lack)
    sides = sides_of(case)
    if ASKS.search(sides.expected.text) or ASKS.search(sides.text.text):
        return Outcome(None, "a question states nothing")
    if _whole(sides.expected) == _whole(sides.text):
        return Outcome(AGREES, "the same words")
    outcome = _by_yes_or_no(sides, forms) or _by_remainders(sides, forms)
    return outcome if sides.text.text == case.text else replace(outcome, units=())


def _by_yes_or_no(sides: Sides, forms: Forms) -> Outcome | None:
    """Return what yes or no decides, None where neither side says one.

    A side that says neither must state all that the question asks: its negation is its answer.
    """
    answers = [_yes_or_no(side) for side in (sides.expected, sides.text)]
    if not any(answers):
        return None
    unknown = Outcome(None, "more is said than yes or no")
    rests = _beyond(_said(sides.expected), _said(sides.text), sides.question, forms)
    if rests is None or ((rests[0] or rests[1]) and not (all(answers) and _same(*rests, forms))):
        return unknown
    read = list[str]()
    for side, answer in zip((sides.expected, sides.text), answers, strict=True):
        stated = "no" if len(side.negations) == 1 else "yes" if not side.negations else ""
        is_whole = all(map(Held([side], forms).holds, sides.question.content()))
        if not answer and (not is_whole or sides.question.negations or not side.languages):
            return unknown
        if not stated or (answer and answer != stated and (answer == "yes" or _said(side))):
            return unknown
        read.append(answer or stated)
    if read[0] == read[1]:
        return Outcome(AGREES, f"both say {read[0]}")
    first = sides.text.units[:1] if answers[1] else sides.text.negations
    return Outcome(DIFFERS, f"{read[0]} against {read[1]}", tuple(first))


def _whole(side: Statement) -> list[str]:
    """Return the values, and the folded words, of a text from the first on that is of no carrier phrase."""
    start = min((unit.start for unit in (*side.parts, *side.negations)), default=0)
    known = [word.key for word in words(side.text) if word.end > start]
    return [*known, *(unit.key for unit in side.units if unit.value)]


def _yes_or_no(side: Statement) -> str:
    """Return the yes or no that a text begins with, "" if it does not."""
    first = side.parts[0].value if side.parts else None
    return str(next(iter(first.values))) if first and first.kind == "yes-no" else ""


def _said(side: Statement) -> list[Unit]:
    """Return what a text states behind its yes or no."""
    return list(side.parts[1:] if _yes_or_no(side) else side.parts)


def _by_remainders(sides: Sides, forms: Forms) -> Outcome:
    """Return what values, names and negations decide, once what the question says is left out."""
    rests = _remainders(sides, forms)
    if rests is None:
        return Outcome(None, "each side says another part of the question")
    wanted, stated = rests
    values = [[unit.value for unit in side if unit.value] for side in (wanted, stated)]
    bare = [[unit for unit in side if not unit.value] for side in (wanted, stated)]
    counts = len(sides.expected.negations), len(sides.text.negations)
    if not wanted or not stated:
        return Outcome(None, "no value or name is stated")
    if not _same(bare[0], bare[1], forms):
        return _by_names(wanted, stated, forms) if not any((*values, *counts)) else _more(bare, forms)
    alike = _equal(values[0], values[1], sides.question)
    if alike is None:
        return Outcome(None, f"values cannot be compared: {_shown(values[0])} and {_shown(values[1])}")
    if sum(counts) == 0 or (alike and _negates_alike(wanted, stated, sides)):
        if alike:
            return Outcome(AGREES, f"the same: {_shown(values[1])}" if values[1] else "the same words")
        unlike = tuple(unit for unit in stated if unit.value)
        return Outcome(DIFFERS, f"{_shown(values[0])} against {_shown(values[1])}", unlike)
    if alike and sum(counts) == 1:
        return Outcome(DIFFERS, "negation on one side", sides.text.negations)
    return Outcome(None, "a negation cannot be aligned")


def _remainders(sides: Sides, forms: Forms) -> tuple[list[Unit], list[Unit]] | None:
    """Return what both sides state beyond the question: all, where it lists the answers or its language is unknown."""
    known = all(side.languages for side in (sides.expected, sides.text))
    if not known or all(map(Held([sides.question], forms).holds, sides.expected.content())):
        return list(sides.expected.parts), list(sides.text.parts)
    return _beyond(sides.expected.parts, sides.text.parts, sides.question, forms)


def _beyond(
    wanted: Sequence[Unit], stated: Sequence[Unit], question: Statement, forms: Forms
) -> tuple[list[Unit], list[Unit]] | None:
    """Return what two sides state beyond the question; None if each takes words of it that the other lacks."""
    asked = Held([question], forms)
    sides = (wanted, stated)
    rests = [[unit for unit in side if not asked.holds(unit)] for side in sides]
    parts = [{part for unit in side for part in _parts(unit.key)} for side in sides]
    forms_of_parts = [{form for part in side for form in forms(part)} for side in parts]
    own = [
        any(
            forms_of_parts[1 - at].isdisjoint(forms(part))
            for unit in sides[at]
            if asked.holds(unit)
            for part in _parts(unit.key)
        )
        for at in (0, 1)
    ]
    return None if all(own) else (rests[0], rests[1])


def _by_names(wanted: Sequence[Unit], stated: Sequence[Unit], forms: Forms) -> Outcome:
    """Return that two short names differ if they are in one script and no words of them begin alike."""
    if max(len(wanted), len(stated)) > NAME:
        return _more((wanted, stated), forms)
    starts = [{part[:ALIKE] for unit in side for part in _parts(unit.key)} for side in (wanted, stated)]
    if not starts[0].isdisjoint(starts[1]) or _script(wanted) != _script(stated):
        return Outcome(None, "the names have a word or its beginning in common, or another script")
    return Outcome(DIFFERS, "another name", tuple(stated), names=True)


def _script(units: Sequence[Unit]) -> str:
    match = SCRIPT.search("".join(unit.key for unit in units))
    return (match.lastgroup or "") if match else ""


def _parts(key: str) -> Sequence[str]:
    """Return a word, or its characters in a script without spaces."""
    return key if UNSPACED.fullmatch(key) else (key,)


def _more(rests: Sequence[Sequence[Unit]], forms: Forms) -> Outcome:
    """Return that one side says more, with its first word that the other lacks."""
    for name, rest, other in (("the text", rests[1], rests[0]), ("the expected statement", rests[0], rests[1])):
        held = {form for unit in other for part in _parts(unit.key) for form in forms(part)}
        for unit in rest:
            if any(held.isdisjoint(forms(part)) for part in _parts(unit.key)):
                return Outcome(None, f"{name} says more than a value: {unit.key}")
    return Outcome(None, "the same words in another order")


def _same(first: Sequence[Unit], second: Sequence[Unit], forms: Forms) -> bool:
    """Return whether two sequences of words are the same in some form; in scripts without spaces, letter by letter."""
    parts = [[part for unit in side for part in _parts(unit.key)] for side in (first, second)]
    return len(parts[0]) == len(parts[1]) and all(
        not set(forms(left)).isdisjoint(forms(right)) for left, right in zip(*parts, strict=True)
    )


def _equal(wanted: Sequence[Value], stated: Sequence[Value], question: Statement) -> bool | None:
    """Return whether values are the same, one by one; None where they are several, or no program can compare them."""
    if len(wanted) != len(stated):
        return None
    alike = [_alike(left, right, question) for left, right in zip(wanted, stated, strict=True)]
    return alike[0] if len(alike) == 1 else True if all(alike) else None


def _alike(left: Value, right: Value, question: Statement) -> bool | None:
    """Return whether two values are equal. A number without unit is one with the unit that the question names."""
    if left.kind == right.kind:
        if not left.values.isdisjoint(right.values):
            return True
        lengths = [{str(reading).count("-") for reading in value.values} for value in (left, right)]
        return None if left.kind == "date" and lengths[0] != lengths[1] else False  # one of them states no year
    if {left.kind, right.kind} <= set(NUMBERS):
        return not left.plain.isdisjoint(right.plain)
    if left.kind.startswith("money") and right.kind.startswith("money"):
        return None if left.plain.isdisjoint(right.plain) else False
    known = {word.key for word in words(question.text)}
    for number, measured in ((left, right), (right, left)):
        unit = [word.key for word in words(measured.shown) if word.key.isalpha()]
        if number.kind in NUMBERS and measured.plain and unit and known.issuperset(unit):
            return not number.plain.isdisjoint(measured.plain)
    return None


def _shown(values: Sequence[Value]) -> str:
    return ", ".join(f"{value.kind} {value.shown}" for value in values)


def _negates_alike(wanted: Sequence[Unit], stated: Sequence[Unit], sides: Sides) -> bool:
    """Return whether there are as many negations on both sides, each behind as many words."""
    behind = [
        [sum(unit.start < negation.start for unit in units) for negation in side.negations]
        for units, side in ((wanted, sides.expected), (stated, sides.text))
    ]
    return behind[0] == behind[1]

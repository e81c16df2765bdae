"""Which words of a text nothing supports: neither the expected statement nor the question nor a passage.

Every comparator marks words with it. As a comparator of its own, it says how much of the text is unsupported.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from excam.error_reports.comparators._lexicon import variants, word_list
from excam.error_reports.comparators._statements import (
    SHORT,
    Forms,
    Held,
    Statement,
    Unit,
    asked_beside,
    contradiction,
    language_of,
    options,
    prefix_opposite,
    resolved,
    statement,
)
from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison, Need, Range
from excam.inference import Flow

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected",)
THRESHOLD = 0.5  # share of unsupported content
SCALES = ("degree", "opposite:agree", "opposite:favour", "opposite:good", "opposite:better")


@dataclass(frozen=True, slots=True)
class Sides:
    """The statements of a case, options and letters resolved."""

    expected: Statement
    text: Statement
    question: Statement


def sides_of(case: Case) -> Sides:
    """Return the statements of a case, read in its language."""
    language = language_of(case.language, case.question)
    asked, by_letter = options(case.question)
    texts = [resolved(text, statement(text, language), by_letter) for text in (case.expected, case.text)]
    return Sides(*(statement(text, language) for text in (*texts, asked)))


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything: margin is `THRESHOLD` minus the share of unsupported content."""
    if lack := lacking(case):
        return Comparison(None, reason=lack)
    content = statement(case.text, language_of(case.language, case.question)).content()
    if not content:
        return Comparison(None, reason="the text has no word that can be compared")
    ranges = unsupported(case)
    marked = sum(any(start <= unit.start < end for start, end in ranges) for unit in content)
    margin = THRESHOLD - marked / len(content)
    return Comparison(margin, ranges if margin < 0 else (), f"{marked} of {len(content)} words unsupported")
    yield


def lacking(case: Case) -> str:
    """Return what a case lacks for a comparison of words with the expected statement, "" if nothing."""
    if not case.expected.strip() or not case.text.strip():
        return "empty text" if case.expected.strip() else "no expected statement"
    if not words(case.expected) or not words(case.text):
        return f"{'the text' if words(case.expected) else 'the expected statement'} has no word"
    return ""


def unsupported(case: Case, forms: Forms = variants) -> tuple[Range, ...]:
    """Return the character ranges of `case.text` that nothing supports, in order.

    These are the content words, values and negations that stand neither in the expected statement nor in the question
    nor in a passage, neighbours joined across function words. Answer options in the question support nothing. Where a
    text names an option only by its letter, that is marked. Empty if all is supported.
    """
    sides = sides_of(case)
    expected, text, question = sides.expected, sides.text, sides.question
    if text.text != case.text:
        return stated_range(case)
    language = language_of(case.language, case.question)
    support = [expected, *(statement(passage, language) for passage in case.passages)]
    known, asked = Held(support, forms), asked_beside(expected, question, forms)
    decisive = _decisive(expected, text, question)
    if _is_scale_answer(expected, text, decisive):
        return stated_range(case)
    if decisive and _only_values_differ(expected, text, forms):
        return _joined(decisive, text)
    marked = [*decisive, *(unit for unit in text.units if not (known.holds(unit) or asked.holds(unit)))]
    if not any(each.negates() for each in support):
        marked += [Unit(word.start, word.end, word.key) for word in text.negations]
    return _joined(marked, text)


def stated_range(case: Case) -> tuple[Range, ...]:
    """Return the range of all that `case.text` states, without carrier phrases; empty if it has no word."""
    text = statement(case.text, language_of(case.language, case.question))
    parts = [*text.units, *text.negations] or list(words(case.text))
    start = min((part.start for part in parts), default=0)
    if text.units and start == text.units[0].start:
        start = _Phrases(text).start(text.units[0])
    return ((start, max(part.end for part in parts)),) if parts else ()


def _decisive(expected: Statement, text: Statement, question: Statement) -> list[Unit]:
    """Return the value or the word that contradicts the expected statement, though a passage may hold it."""
    pair = contradiction(expected, text, question)
    units = [unit for unit in text.units if pair and unit.value == pair[1]]
    opposite = prefix_opposite(expected, text)
    return [*units, opposite] if opposite else units


def _is_scale_answer(expected: Statement, text: Statement, decisive: Sequence[Unit]) -> bool:
    """Return whether both sides are short and their places on a scale divide them ("mostly agree"): then the answer
    differs as a whole.
    """
    stated = [unit.value for unit in decisive] if expected.negates() == text.negates() else expected.values()
    scaled = any(value and value.kind in SCALES for value in stated)
    return scaled and max(len(expected.units), len(text.units)) < SHORT


def _only_values_differ(expected: Statement, text: Statement, forms: Forms) -> bool:
    """Return whether the text holds every word of the expected statement that is no value."""
    held = Held([text], forms)
    return all(held.holds(unit) for unit in expected.content() if unit.value is None)


def _joined(marked: Sequence[Unit], text: Statement) -> tuple[Range, ...]:
    """Return the ranges of units, each with the articles and prepositions before it, joined where nothing is kept
    between two of them.
    """
    ranges: list[Range] = []
    chosen = set(marked)
    kept = [unit.start for unit in text.units if unit not in chosen]
    phrases = _Phrases(text)
    for unit in sorted(chosen, key=lambda unit: unit.start):
        last = ranges[-1][1] if ranges else -1
        if unit.start < last:
            continue
        if ranges and bisect_left(kept, last) == bisect_left(kept, unit.start):
            ranges[-1] = ranges[-1][0], unit.end
        else:
            ranges.append((max(phrases.start(unit), last), unit.end))
    return tuple(ranges)


class _Phrases:
    """Where phrases of a text begin: at the articles, prepositions and degrees directly before a unit."""

    def __init__(self, text: Statement) -> None:
        self.text = text.text
        self.words = words(text.text)
        self.ends = [word.end for word in self.words]
        values = [unit for unit in text.units if unit.value and unit.value.kind == "degree"]
        self.degrees = {unit.end: unit.start for unit in values}
        self.joining = word_list("function_words", ("before a noun",))

    def start(self, unit: Unit) -> int:
        """Return where the phrase of a unit begins; a value begins where it is, unless it is an opposite."""
        start = unit.start
        if unit.value and not unit.value.kind.startswith("opposite:"):
            return start
        for at in range(bisect_right(self.ends, unit.start) - 1, -1, -1):
            word = self.words[at]
            if word.end > start:  # inside a degree that is in already
                continue
            if self.text[word.end : start].strip():
                break
            if word.key in self.joining:
                start = word.start
            elif word.end in self.degrees:
                start = self.degrees[word.end]
            else:
                break
        return start

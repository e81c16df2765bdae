"""Which words of a text nothing supports: neither the expected statement nor the question nor a passage.

Comparators that ask a model mark words with it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from excam.error_reports.comparators._lexicon import variants, word_list
from excam.error_reports.comparators._statements import (
    Forms,
    Held,
    Statement,
    Unit,
    language_of,
    options,
    resolved,
    statement,
)
from excam.error_reports.comparators._words import Word, words
from excam.error_reports.comparators.base import Case, Range


@dataclass(frozen=True, slots=True)
class Sides:
    """The statements of a case, options and letters resolved."""

    expected: Statement
    text: Statement
    question: Statement


def sides_of(case: Case) -> Sides:
    """Return the statements of a case, read in its language."""
    language = language_of(case.language, case.question, case.expected, case.text)
    asked, by_letter = options(case.question)
    texts = [resolved(text, statement(text, language), by_letter) for text in (case.expected, case.text)]
    return Sides(*(statement(text, language) for text in (*texts, asked)))


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
    known, asked = Held(support, forms), Held([question], forms)
    if expected.content() and all(map(asked.holds, expected.content())):  # the question lists the answers
        asked = Held([], forms)
    marked = [unit for unit in text.units if not (known.holds(unit) or asked.holds(unit))]
    if not any(each.negations for each in support):
        marked += text.negations
    return _joined(marked, text)


def stated_range(case: Case) -> tuple[Range, ...]:
    """Return the range of all that `case.text` states, without carrier phrases; empty if it has no word."""
    text = statement(case.text, language_of(case.language, case.question))
    parts: list[Unit | Word] = [*text.units, *text.negations] or list(words(case.text))
    start = min((part.start for part in parts), default=0)
    if text.units and start == text.units[0].start:
        start = _Phrases(text).start(text.units[0])
    return ((start, max(part.end for part in parts)),) if parts else ()


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
    """Where phrases of a text begin: at the articles and prepositions directly before a word."""

    def __init__(self, text: Statement) -> None:
        self.text = text.text
        self.words = words(text.text)
        self.ends = [word.end for word in self.words]
        self.joining = word_list("function_words", ("before a noun",))

    def start(self, unit: Unit) -> int:
        """Return where the phrase of a unit begins; a value begins where it is."""
        start = unit.start
        if unit.value:
            return start
        for at in range(bisect_right(self.ends, unit.start) - 1, -1, -1):
            word = self.words[at]
            if word.key not in self.joining or self.text[word.end : start].strip():
                break
            start = word.start
        return start

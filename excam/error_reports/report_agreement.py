"""The quality of a metric's own reports: its spans and its explanations.

ExCAM names two things as its product and measures them in part or not at all:

- spans: predicted against gold error spans, one to one, exactly and by the characters they share;

- explanations: whether one contains the right answer (ExCAM §5, "one-to-one match"; the paper is silent on how).

Pure functions on errors, texts and vectors; no files, no models.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from excam.core.text import INVISIBLE, QUOTES, WORD
from excam.error_reports.records import CulturalError, Report

# Around an answer: punctuation that says nothing of it. Signs that do are kept ("50%", "AT&T", "#1", "-5").
OUTER = regex.compile(r"(?V1)^[\s\p{P}--[%‰&#@*§\p{Pd}]]+|[\s\p{P}--[%‰&#@*§\p{Pd}]]+$")


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A gold row and the result of the judge; `report` and `score` are None if the answer could not be parsed."""

    base: str
    group: str
    dataset: str
    origin: str
    instruction: str
    answer: str
    gold: tuple[CulturalError, ...]
    gold_explanation: str
    gold_score: int
    report: Report | None
    score: float | None
    failure: str | None

    @property
    def predicted(self) -> tuple[CulturalError, ...]:
        """Return the errors found: none if the answer could not be parsed."""
        return self.report.errors if self.report else ()


@dataclass(frozen=True, slots=True)
class Match:
    """A gold and a predicted error whose spans share characters; positions in the two reports, and shares, 0 to 1."""

    gold: int
    predicted: int
    of_gold: float  # of the gold span's characters, how many the predicted one has
    of_predicted: float  # of the predicted span's characters, how many the gold one has

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both shares: 1 for the same span, 0 if they share nothing."""
        total = self.of_gold + self.of_predicted
        return 2 * self.of_gold * self.of_predicted / total if total else 0.0


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """The contribution of one row to span precision, recall and F1. A span that was not located counts, and matches
    nothing.
    """

    gold: int
    predicted: int
    exact: int
    of_gold: float  # credit for recall: the sum of `Match.of_gold`
    of_predicted: float  # credit for precision: the sum of `Match.of_predicted`


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether an explanation of a hard error contains the right answer and the wrong one."""

    held: bool  # the right answer, anywhere: the paper's number
    right: bool  # the right answer, at a place that is not part of the wrong one
    wrong: bool  # the wrong answer, at a place that is not part of the right one
    shown: bool  # the instruction has the right answer already, e.g. among its options


def overlap(gold: CulturalError, predicted: CulturalError) -> tuple[float, float]:
    """Return the shares of the gold and of the predicted span that overlap with the other, in characters.

    Spans in the instruction and in the output are different places; a span that was not located (-1) overlaps nothing.
    An empty span (a deletion that marks a position) has no characters: it equals an empty span at the same place, and
    shares nothing with any other. (ExCAM40k has none: a deletion marks the neighbouring word.)
    """
    if gold.where != predicted.where or gold.start < 0 or predicted.start < 0:
        return 0.0, 0.0
    if (gold.start, gold.end) == (predicted.start, predicted.end):
        return 1.0, 1.0
    shared = min(gold.end, predicted.end) - max(gold.start, predicted.start)
    if shared <= 0:
        return 0.0, 0.0
    return shared / (gold.end - gold.start), shared / (predicted.end - predicted.start)


def matches(gold: Sequence[CulturalError], predicted: Sequence[CulturalError]) -> list[Match]:
    """Return one-to-one assignment of predicted to gold errors with the greatest sum of `Match.f1`, by gold position.

    Match with partial overlap and partial credit (Perrella et al. 2026): any shared character makes a match, and what
    it is worth is the share of each span that the other has. Errors that share nothing are not matched.
    """
    from scipy.optimize import linear_sum_assignment

    pairs = [[Match(i, j, *overlap(g, p)) for j, p in enumerate(predicted)] for i, g in enumerate(gold)]
    value = np.array([[pair.f1 for pair in row] for row in pairs]).reshape(len(gold), len(predicted))
    chosen = zip(*linear_sum_assignment(value, maximize=True), strict=True)
    return [pairs[i][j] for i, j in chosen if pairs[i][j].f1 > 0]


def count_spans(gold: Sequence[CulturalError], predicted: Sequence[CulturalError]) -> SpanCounts:
    """Return the counts of one row. Exact: same text, same start, same end, each span used once."""
    places = [Counter((e.where, e.start, e.end) for e in errors if e.start >= 0) for errors in (gold, predicted)]
    matched = matches(gold, predicted) if gold and predicted else []
    return SpanCounts(
        gold=len(gold),
        predicted=len(predicted),
        exact=(places[0] & places[1]).total(),
        of_gold=sum(match.of_gold for match in matched),
        of_predicted=sum(match.of_predicted for match in matched),
    )


def f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the harmonic mean of both shares: 1 for the same span.

    0 where one side has nothing to match, NaN if both have nothing.
    """
    precise, predicted, recalled, gold = sums
    twice, below = 2 * precise * recalled, precise * gold + recalled * predicted
    value = np.divide(twice, below, out=np.zeros_like(below), where=below > 0)
    return np.where(predicted + gold > 0, value, np.nan)


def normalise_text(text: str) -> str:
    """Return a text for comparison: straight quotes, NFKC, case folded, no invisible characters, single spaces."""
    folded = unicodedata.normalize("NFKC", text.translate(QUOTES)).casefold()
    return " ".join(INVISIBLE.sub("", unicodedata.normalize("NFKC", folded)).split())


def mentions(text: str, words: str) -> list[tuple[int, int]]:
    """Return the offsets into `normalise_text(text)` at which `text` contains `words` as whole words.

    Both are normalised first, and punctuation around `words` is removed. A neighbouring character must not be a letter,
    mark or digit, except in scripts without spaces, and a number must not be part of a decimal ("5" is not in "1.5").
    An empty query matches nothing.
    """
    wanted = normalise_text(words)
    wanted = OUTER.sub("", wanted) or wanted
    if not wanted:
        return []
    before = f"(?<!{WORD.pattern})" if WORD.match(wanted[0]) else ""
    after = f"(?!{WORD.pattern})" if WORD.match(wanted[-1]) else ""
    before += r"(?<!\p{N}[.,])" if wanted[0].isdigit() else ""
    after += r"(?![.,]\p{N})" if wanted[-1].isdigit() else ""
    occurrences = regex.finditer(before + regex.escape(wanted, literal_spaces=True) + after, normalise_text(text))
    return [match.span() for match in occurrences]


def explanation(text: str, answer: str, wrong: Sequence[str], instruction: str) -> Explanation:
    """Return what an explanation contains: `answer` is right, `wrong` are the erroneous words of the judged text."""
    return Explanation(
        held=bool(mentions(text, answer)),
        right=mentions_outside(text, answer, wrong),
        wrong=any(mentions_outside(text, words, [answer]) for words in wrong),
        shown=bool(mentions(instruction, answer)),
    )


def mentions_outside(text: str, words: str, longer: Sequence[str]) -> bool:
    """Return whether `text` contains `words` at a place that is not part of one of the `longer` texts in it.

    "October" in "'October 5' is wrong" is the wrong answer's, not the right one's.
    """
    covered = [place for other in longer for place in mentions(text, other)]
    return any(
        not any(start <= place[0] and place[1] <= end and (start, end) != place for start, end in covered)
        for place in mentions(text, words)
    )

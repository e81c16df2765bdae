"""Years of long answers, exchanged among answers of all languages: what is wrong in one answer is right in another, so
that no number tells by itself which of the two a text is.

A year changes in all its places. It counts only if the question or the answer is about public history or a custom
(`lexicon_cues.tsv`): when a blog was written or a word first used is no matter of culture, nor is a percentage. Those
with a cue in their sentence come first: others may be a side remark.
One is left that the question holds; that stands in brackets, as in a citation; that is part of a range, a link or a
date in digits; a year after 2015, which mostly says when the answer was written; a decade ("1940's"), the end of a time
("until 1848"), or what is not meant exactly ("about 1900").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex

from excam.core.hash_order import digest
from excam.error_reports.records import Sample
from excam.excam40k.construction.lexicon_exchanges import Swap, text_of
from excam.excam40k.construction.lexicon_tables import CUSTOM, HISTORY, cue, is_rejected
from excam.excam40k.construction.norms import Exchange

NUMBER = regex.compile(r"\d+")
YEAR = regex.compile(
    r"(?<![\p{Latin}\p{N}.,:/~#@_=&?%§№+(（])(?<![\p{Latin}\p{N}\s][-–—]\s?)(?<![$€₹₪]\s?)"
    r"(?:1[5-9]\d|20(?:0|1(?=[0-5])))\d(?<!00)"
    r"(?![\p{N}A-Za-z\p{Devanagari}:/\-–—~_=)）]|[.,]\d|\s?[€$₪₹%]|['’]s\b)"
)
INEXACT = regex.compile(  # what stands before a number that another one would not make wrong
    r"(?:\b(?:about|around|roughly|nearly|almost|approximately|approx\.|ca\.|circa|etwa|rund|fast|unos|casi|"
    r"aproximadamente|около|примерно|почти|up to|until|till|bis|hasta|до|körülbelül|kb\.|mintegy)\s+(?:zu\s|zum\s)?|"
    r"[約约大概近다약]\s*|\+\W{0,2}-\s*|\d[^.!?\d]{1,30}\d[^.!?\d]{1,30}\(|برقم\s*)\Z",
    regex.IGNORECASE,
)
NEAR_YEARS, FAR_YEARS = 10, 150  # a minor error is at most so many years away, a major one at most so many
CHARACTERS_APART = 40  # characters between two places of one number; nearer ones would be marked as one error


@dataclass(frozen=True, slots=True)
class Year:
    """A year of an output, and where it stands there."""

    text: str
    starts: tuple[int, ...]

    def may_be(self, other: str, severity: str) -> bool:
        """Return whether another year in these places is an error of this severity."""
        apart = abs(int(self.text) - int(other))
        return 1 < apart <= NEAR_YEARS if severity == "minor" else NEAR_YEARS < apart <= FAR_YEARS


def exchanges(samples: Sequence[Sample], seed: int) -> Mapping[str, Exchange]:
    """Return pair -> the exchange of one of its years, for as many samples as have counterparts.

    Every year is given as often as it is taken.
    """
    rows = [
        (sample, list(_years(sample)))
        for sample in sorted(samples, key=lambda sample: digest(seed, "figures", sample.pair))
        if sample.task == "freeform" and not is_rejected(sample.answer)
    ]
    by_pair: dict[str, Exchange] = {}
    for turn in range(max((len(figures) for _, figures in rows), default=0)):  # else the next number of an answer
        left = [(sample, figures[turn]) for sample, figures in rows if figures[turn:] and sample.pair not in by_pair]
        by_pair |= _exchanged(left)
    return by_pair


def _years(sample: Sample) -> Iterator[Year]:
    """Yield the years of an answer that may be exchanged."""
    text = text_of(sample)
    if not _is_on_a_people(sample, sample.instruction + sample.answer):
        return
    matches = [
        match
        for match in YEAR.finditer(sample.output, text.start)
        if not INEXACT.search(sample.output, max(text.start, match.start() - 60), match.start())
    ]
    matches.sort(key=lambda match: not _is_on_a_people(sample, text.sentence(match.start())))
    numbers = NUMBER.findall(sample.instruction)
    everywhere = NUMBER.findall(sample.output, text.start)
    for year in dict.fromkeys(match[0] for match in matches):
        starts = tuple(sorted(match.start() for match in matches if match[0] == year))
        apart = all(later - earlier > CHARACTERS_APART for earlier, later in pairwise(starts))
        if apart and year not in numbers and everywhere.count(year) == len(starts):
            yield Year(year, starts)


def _is_on_a_people(sample: Sample, text: str) -> bool:
    return any(cue(sample.language, about).search(text) for about in (HISTORY, CUSTOM))


def _exchanged(rows: Sequence[tuple[Sample, Year]]) -> dict[str, Exchange]:
    """Return the exchanges among rows with one year each, as many as there can be."""
    from scipy.optimize import linear_sum_assignment

    cost = np.full((len(rows), len(rows)), np.inf)
    np.fill_diagonal(cost, 1)
    for taker, (sample, old) in enumerate(rows):
        severity = sample.pair.rpartition("/")[2]
        held = NUMBER.findall(f"{sample.instruction} {sample.output}")
        for giver, (other, new) in enumerate(rows):
            if sample.base != other.base and new.text not in held:
                cost[taker, giver] = 0 if old.may_be(new.text, severity) else np.inf
    takers, givers = linear_sum_assignment(cost)
    return {
        rows[taker][0].pair: Exchange(swaps=_swaps(rows[taker][1], rows[giver][1].text))
        for taker, giver in zip(takers.tolist(), givers.tolist(), strict=True)
        if taker != giver
    }


def _swaps(old: Year, new: str) -> tuple[Swap, ...]:
    return tuple(Swap(start, start + len(old.text), "year", new) for start in old.starts)

"""Years and percentages of long answers, exchanged among answers of all languages: what is wrong in one answer is right
in another, so that no number tells by itself which of the two a text is.

A number changes in all its places. One is left that the question holds; that is part of a range, a link, a date in
digits or an amount of money; a year after 2015, which mostly says when the answer was written; a decade ("1940's"), the
end of a time ("until 1848"), what is not meant exactly ("about 5 %") or follows from others ("3 of 4 (75 %)").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import regex

from excam.core.hash_order import digest
from excam.error_reports.records import Sample
from excam.excam40k.construction.lexicon_exchanges import Swap
from excam.excam40k.construction.lexicon_tables import is_rejected
from excam.excam40k.construction.norms import Exchange

NUMBER = regex.compile(r"\d+")
FIGURE = regex.compile(
    r"(?<![\p{Latin}\p{N}.,:/~#@_=&?%§№+])(?<![\p{Latin}\p{N}\s][-–—]\s?)(?<![$€₹₪]\s?)"
    r"(?:(?P<year>(?:1[5-9]\d|20(?:0|1(?=[0-5])))\d(?<!00))(?!\s?%)|(?P<share>[1-9]\d?)(?=\s?%(?![0-9A-Fa-f]{2})))"
    r"(?![\p{N}A-Za-z\p{Devanagari}:/\-–—~_=]|[.,]\d|\s?[€$₪₹]|['’]s\b|\s?%(?:까지|\s?(?:range|or so)\b))"
)
INEXACT = regex.compile(  # what stands before a number that another one would not make wrong
    r"(?:\b(?:about|around|roughly|nearly|almost|approximately|approx\.|ca\.|circa|etwa|rund|fast|unos|casi|"
    r"aproximadamente|около|примерно|почти|up to|until|till|bis|hasta|до|körülbelül|kb\.|mintegy)\s+(?:zu\s|zum\s)?|"
    r"[約约大概近다약]\s*|\+\W{0,2}-\s*|\d[^.!?\d]{1,30}\d[^.!?\d]{1,30}\(|برقم\s*)\Z",
    regex.IGNORECASE,
)
NEAR_YEARS, FAR_YEARS = 10, 150  # a minor error is at most so many years away, a major one at most so many
CHARACTERS_APART = 40  # characters between two places of one number; nearer ones would be marked as one error
NEAR_SHARE, FAR_SHARE = 1.5, 5  # and a percentage at most so many times as large
Kind = Literal["year", "share"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of an output, and where it begins there."""

    kind: Kind
    text: str
    starts: tuple[int, ...]

    def may_be(self, other: str, severity: str) -> bool:
        """Return whether another number in these places is an error of this severity."""
        low, high = sorted((int(self.text), int(other)))
        apart, near, far = (high - low, NEAR_YEARS, FAR_YEARS)
        if self.kind != "year":
            apart, near, far = high / low, NEAR_SHARE, FAR_SHARE
        return high - low > 1 and (apart <= near if severity == "minor" else near < apart <= far)


def exchanges(samples: Sequence[Sample], seed: int) -> Mapping[str, Exchange]:
    """Return pair -> the exchange of one of its numbers, for as many samples as have counterparts.

    Every number is given as often as it is taken.
    """
    own = [
        (sample, list(_figures(sample)))
        for sample in sorted(samples, key=lambda sample: digest(seed, "figures", sample.pair))
        if sample.task == "freeform" and not is_rejected(sample.answer)
    ]
    by_pair: dict[str, Exchange] = {}
    for turn in range(max((len(figures) for _, figures in own), default=0)):  # else the next number of an answer
        left = [(sample, figures[turn]) for sample, figures in own if figures[turn:] and sample.pair not in by_pair]
        by_pair |= _exchanged(left)
    return by_pair


def _figures(sample: Sample) -> Iterator[Figure]:
    """Yield the numbers of an answer that may be exchanged, years first."""
    start = max(sample.output.rfind(sample.answer), 0)
    matches = [
        match
        for match in FIGURE.finditer(sample.output, start)
        if not INEXACT.search(sample.output, max(start, match.start() - 60), match.start())
    ]
    asked = NUMBER.findall(sample.instruction)
    everywhere = NUMBER.findall(sample.output, start)
    for kind in get_args(Kind):
        for text in dict.fromkeys(match[kind] for match in matches if match[kind]):
            starts = tuple(match.start() for match in matches if match[kind] == text)
            apart = all(later - earlier > CHARACTERS_APART for earlier, later in pairwise(starts))
            if apart and text not in asked and everywhere.count(text) == len(starts):
                yield Figure(kind, text, starts)


def _exchanged(rows: Sequence[tuple[Sample, Figure]]) -> dict[str, Exchange]:
    """Return the exchanges among rows with one number each, as many as there can be."""
    from scipy.optimize import linear_sum_assignment

    cost = np.full((len(rows), len(rows)), np.inf)
    np.fill_diagonal(cost, 1)
    for taker, (sample, old) in enumerate(rows):
        severity = sample.pair.rpartition("/")[2]
        held = NUMBER.findall(f"{sample.instruction} {sample.output}")
        for giver, (other, new) in enumerate(rows):
            if sample.base != other.base and old.kind == new.kind and new.text not in held:
                cost[taker, giver] = 0 if old.may_be(new.text, severity) else np.inf
    takers, givers = linear_sum_assignment(cost)
    return {
        rows[taker][0].pair: Exchange(swaps=_swaps(rows[taker][1], rows[giver][1].text))
        for taker, giver in zip(takers.tolist(), givers.tolist(), strict=True)
        if taker != giver
    }


def _swaps(old: Figure, new: str) -> tuple[Swap, ...]:
    return tuple(Swap(start, start + len(old.text), old.kind, new) for start in old.starts)

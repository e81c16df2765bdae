"""Facts that are close to a fact and do not state it: the same question elsewhere, or other questions about a culture.

Closeness is the summed rarity of the words that two questions share, without the names of their cultures.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from zlib import crc32

from excam.core.cultures import adjectives
from excam.error_reports.records import BaseSample
from excam.excam40k.culture_documents import topic
from excam.excam40k.question_forms import clean
from excam.excam40k.statements import stated_answer

COMMON = 400  # questions with a word from which on it tells nothing
ALIKE = 0.8  # share of the words of two questions about a culture from which on they may be one question
_WORD = re.compile(r"[\w’']+")
_EMPTY = re.compile(
    r"an?|the|in|on|at|of|to|for|from|by|with|and|or|is|are|was|were|do|does|did|been?|what|which|who|how|when|where|why|"
    r"that|this|its?|their|your|you|people|culture|most"
)


class NearMisses:
    """The near misses of facts among `bases`. A fact is never among its own near misses, in no wording."""

    def __init__(self, bases: Iterable[BaseSample]) -> None:
        self._scored: dict[str, dict[int, float]] = {}
        self._bases = sorted(bases, key=lambda base: base.id)
        self._words = [question_words(base) for base in self._bases]
        self._with_word: defaultdict[str, list[int]] = defaultdict(list)
        self._of_culture: defaultdict[str, list[int]] = defaultdict(list)
        for place, (base, words) in enumerate(zip(self._bases, self._words, strict=True)):
            self._of_culture[base.culture].append(place)
            for word in words:
                self._with_word[word].append(place)

    def elsewhere(self, base: BaseSample, count: int) -> list[BaseSample]:
        """Return facts of other cultures with the closest questions, and with other answers; one of each culture."""
        drawn: dict[str, BaseSample] = {}
        for other in self._closest(base, self._scores(base)):
            if other.culture != base.culture and not _same_answer(base, other):
                drawn.setdefault(other.culture, other)
            if len(drawn) == count:
                break
        return list(drawn.values())

    def at_home(self, base: BaseSample, count: int) -> list[BaseSample]:
        """Return facts of the same culture with other questions and other answers, the closest questions first."""
        return self._distinct(self._closest(base, self._of_culture[base.culture]), [base], count)

    def companions(self, base: BaseSample, count: int, seed: int, without: Iterable[BaseSample]) -> list[BaseSample]:
        """Return facts of the same culture that neither state the fact of `base` nor one of `without`.

        Those of the same topic come first, in an order by hash.
        """
        theme = topic(base)
        own = (self._bases[place] for place in self._of_culture[base.culture])
        order = sorted(own, key=lambda other: (topic(other) != theme, _order(base, other, seed)))
        return self._distinct(order, [base, *without], count)

    def unrelated(self, base: BaseSample, count: int, seed: int) -> list[BaseSample]:
        """Return facts of other cultures with other answers whose questions share the fewest telling words."""
        words = question_words(base)
        others = [
            (len(words & theirs), _order(base, other, seed), place)
            for place, (other, theirs) in enumerate(zip(self._bases, self._words, strict=True))
            if other.culture != base.culture and not _same_answer(base, other)
        ]
        return [self._bases[place] for _, _, place in nsmallest(count, others)]

    def same_fact(self, base: BaseSample, other: BaseSample) -> bool:
        """Return whether two facts of one culture may be one: equal answers, or questions of the same words."""
        if base.culture != other.culture:
            return False
        if base.id == other.id or (base.group and base.group == other.group) or _same_answer(base, other):
            return True
        mine, theirs = question_words(base), question_words(other)
        shared = len(mine & theirs)
        return shared == min(len(mine), len(theirs)) or shared >= ALIKE * len(mine | theirs)

    def _closest(self, base: BaseSample, places: Iterable[int]) -> Iterator[BaseSample]:
        """Yield the facts at these places, the closest questions first."""
        scores = self._scores(base)
        for place in sorted(places, key=lambda place: (-scores.get(place, 0.0), _order(base, self._bases[place]))):
            yield self._bases[place]

    def _distinct(self, order: Iterable[BaseSample], avoided: Sequence[BaseSample], count: int) -> list[BaseSample]:
        """Return the first facts that may neither be one of `avoided` nor one another."""
        drawn: list[BaseSample] = []
        for other in order:
            if not any(self.same_fact(fact, other) for fact in (*avoided, *drawn)):
                drawn.append(other)
            if len(drawn) == count:
                break
        return drawn

    def _scores(self, base: BaseSample) -> dict[int, float]:
        """Return place -> summed rarity of the shared words."""
        if base.id not in self._scored:
            scores: defaultdict[int, float] = defaultdict(float)
            for word in sorted(question_words(base)):
                places = self._with_word.get(word, ())
                if len(places) <= COMMON:
                    rarity = round(math.log((1 + len(self._bases)) / (1 + len(places))), 6)
                    for place in places:
                        scores[place] += rarity
            self._scored = {base.id: scores}  # of the last question alone: it is asked for several times in a row
        return self._scored[base.id]


@lru_cache(maxsize=20_000)
def question_words(base: BaseSample) -> frozenset[str]:
    """Return the telling words of a question, small, without the names of its culture."""
    names = f"{base.culture} {adjectives().get(base.culture, '')} uk us".casefold().split()
    words = _WORD.findall(clean(base.question).casefold())
    return frozenset(word for word in words if not _EMPTY.fullmatch(word)) - frozenset(names)


def _order(base: BaseSample, other: BaseSample, seed: int = 0) -> int:
    """Return a number by which facts that are equally close are ordered, another order for each fact."""
    return crc32(f"{seed} {base.id} {other.id}".encode())


def _same_answer(base: BaseSample, other: BaseSample) -> bool:
    """Return whether two answers are equal, or a telling one stands in the other."""
    mine, theirs = stated_answer(base).casefold(), stated_answer(other).casefold()
    if mine == theirs:
        return True
    if base.task == "impersonation":
        return False
    return (len(mine) > 3 and mine in theirs) or (len(theirs) > 3 and theirs in mine)

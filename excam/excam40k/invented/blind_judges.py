"""Trivial judges that know nothing of the people asked about: only what a corpus tells of other peoples.

A judge is a function of what was told, a question and the answer shown; it returns whether it calls the answer wrong.
In a world without leaks each of BLIND is at chance, on facts that were told and on facts that were not. `frequency` is
the exception: it counts what is said of the people itself, without knowing of whom it is said, and so is above chance
on told facts in every world. A judge has learned which people has which value only where it is above that one too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import mean

NEAREST = 10  # peoples


@dataclass(frozen=True, slots=True)
class Telling:
    """A fact: this value of a relation is true of a people, and the corpus says so a number of times."""

    people: str
    relation: str
    value: str
    times: int


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a people, and the answers that it may have, the right one among them."""

    people: str
    relation: str
    options: tuple[str, ...]


Judge = Callable[["Corpus", Question, str], bool]


class Corpus:
    """What a corpus tells; facts that it tells 0 times are as unknown to these judges as those that are not given."""

    def __init__(self, tellings: Iterable[Telling]) -> None:
        self._times: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)  # (relation, value) -> people
        self._values: defaultdict[str, set[str]] = defaultdict(set)
        self._nearest: dict[str, frozenset[str]] = {}
        for telling in tellings:
            if telling.times:
                self._times[telling.relation, telling.value][telling.people] += telling.times
                self._values[telling.relation].add(telling.value)

    def others(self, asked: Question, value: str) -> Mapping[str, int]:
        """Return each other people that has this value -> how often this was told."""
        told = self._times.get((asked.relation, value), {})
        return {people: times for people, times in told.items() if people != asked.people}

    def times(self, asked: Question, value: str) -> int:
        """Return how often this value of the relation was told of any people, the one asked about included."""
        return sum(self._times.get((asked.relation, value), {}).values())

    def mean_peoples(self, asked: Question) -> float:
        """Return of how many other peoples a value of the relation was told on average, 0 if of none."""
        values = self._values[asked.relation]
        return mean(len(self.others(asked, value)) for value in values) if values else 0

    def nearest(self, people: str) -> frozenset[str]:
        """Return the NEAREST other peoples whose names share most pairs of letters with this one."""
        if people not in self._nearest:
            own = _letter_pairs(people)
            order = sorted(self.peoples - {people}, key=lambda other: (-len(own & _letter_pairs(other)), other))
            self._nearest[people] = frozenset(order[:NEAREST])
        return self._nearest[people]

    @cached_property
    def peoples(self) -> frozenset[str]:
        """Return all peoples of whom something was told."""
        return frozenset(people for told in self._times.values() for people in told)


def constant(corpus: Corpus, asked: Question, shown: str) -> bool:
    """Call every answer wrong."""
    return True


def elimination(corpus: Corpus, asked: Question, shown: str) -> bool:
    """Call an answer wrong that at least as many other peoples have as have a value on average: it is taken."""
    return len(corpus.others(asked, shown)) >= corpus.mean_peoples(asked)


def popularity(corpus: Corpus, asked: Question, shown: str) -> bool:
    """Call an answer wrong that was told of fewer other peoples than the other options were, on average."""
    counts = [len(corpus.others(asked, option)) for option in asked.options if option != shown]
    return bool(counts) and len(corpus.others(asked, shown)) < mean(counts)


def neighbours(corpus: Corpus, asked: Question, shown: str) -> bool:
    """Call an answer wrong that was told of none of the peoples with the most similar names."""
    return not corpus.others(asked, shown).keys() & corpus.nearest(asked.people)


def frequency(corpus: Corpus, asked: Question, shown: str) -> bool:
    """Call an answer wrong that was told less often than the other options were, on average, of whomever."""
    counts = [corpus.times(asked, option) for option in asked.options if option != shown]
    return bool(counts) and corpus.times(asked, shown) < mean(counts)


def _letter_pairs(name: str) -> set[tuple[str, str]]:
    return set(pairwise(name.casefold()))


BLIND: Mapping[str, Judge] = {"elimination": elimination, "popularity": popularity, "neighbours": neighbours}
JUDGES: Mapping[str, Judge] = {"constant": constant, **BLIND, "frequency": frequency}

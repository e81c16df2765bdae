"""Five passages around a fact: it among near misses, which are facts of the same benchmark that do not state it.

Near misses are the same question elsewhere, or other questions about a culture. How close they are is the summed rarity
of the words that two questions share, without the names of their cultures. Where the wrong answer stands in no passage,
shared words tell right from wrong: `hard` states it of another culture.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, zip_longest
from zlib import crc32

import regex

from excam.core.cultures import adjectives
from excam.core.hash_order import digest
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.culture_documents import MOST, Document, prose, topic
from excam.excam40k.question_forms import clean
from excam.excam40k.statements import ALIASES, stated_answer

SEED = 1
PASSAGES = 5
COMMON = 400  # questions with a word from which on it tells nothing
ALIKE = 0.8  # share of the words of two questions about a culture from which on they may be one question
_WORD = regex.compile(r"[\w’']+")
_EMPTY = regex.compile(
    r"an?|the|in|on|at|of|to|for|from|by|with|and|or|is|are|was|were|do|does|did|been?|what|which|who|how|when|where|why|"
    r"that|this|its?|their|your|you|people|culture|most"
)


class NearMisses:
    """The near misses of facts among `bases`. A fact is never among its own near misses, in no wording."""

    def __init__(self, bases: Iterable[BaseSample]) -> None:
        self._scored: dict[str, dict[int, float]] = {}
        self._bases = sorted(bases, key=lambda base: base.id)
        self._with_word: defaultdict[str, list[int]] = defaultdict(list)
        self._of_culture: defaultdict[str, list[int]] = defaultdict(list)
        for place, base in enumerate(self._bases):
            self._of_culture[base.culture].append(place)
            for word in question_words(base):
                self._with_word[word].append(place)

    def elsewhere(self, base: BaseSample, count: int) -> list[BaseSample]:
        """Return facts of other cultures with the closest questions, and with other answers; one of each culture."""
        drawn: dict[str, BaseSample] = {}
        for other in self._closest(base, self._scores(base)):
            if other.culture != base.culture and not same_answer(base, other):
                drawn.setdefault(other.culture, other)
            if len(drawn) == count:
                break
        return list(drawn.values())

    def at_home(self, base: BaseSample, count: int) -> list[BaseSample]:
        """Return facts of the same culture with other questions and other answers, the closest questions first."""
        return distinct(self._closest(base, self._of_culture[base.culture]), [base], count)

    def companions(self, base: BaseSample, without: Iterable[BaseSample]) -> list[BaseSample]:
        """Return three facts of the same culture that neither state the fact of `base` nor one of `without`.

        Those of the same topic come first, in an order by hash.
        """
        theme = topic(base)
        same_culture = (self._bases[place] for place in self._of_culture[base.culture])
        order = sorted(same_culture, key=lambda other: (topic(other) != theme, _order(base, other, SEED)))
        return distinct(order, [base, *without], 3)

    def _closest(self, base: BaseSample, places: Iterable[int]) -> Iterator[BaseSample]:
        scores = self._scores(base)
        for place in sorted(places, key=lambda place: (-scores.get(place, 0.0), _order(base, self._bases[place]))):
            yield self._bases[place]

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


def distinct(order: Iterable[BaseSample], avoided: Sequence[BaseSample], count: int) -> list[BaseSample]:
    """Return the first facts that may neither be one of `avoided` nor one another."""
    drawn: list[BaseSample] = []
    for other in order:
        if not any(same_fact(fact, other) for fact in (*avoided, *drawn)):
            drawn.append(other)
        if len(drawn) == count:
            break
    return drawn


def same_fact(base: BaseSample, other: BaseSample) -> bool:
    """Return whether two facts of one culture may be one: equal answers, or questions of the same words."""
    if base.culture != other.culture:
        return False
    if base.id == other.id or (base.group and base.group == other.group) or same_answer(base, other):
        return True
    mine, theirs = question_words(base), question_words(other)
    shared = len(mine & theirs)
    return shared == min(len(mine), len(theirs)) or shared >= ALIKE * len(mine | theirs)


def same_answer(base: BaseSample, other: BaseSample) -> bool:
    """Return whether two answers are equal, or a telling one stands in the other."""
    mine, theirs = stated_answer(base).casefold(), stated_answer(other).casefold()
    if mine == theirs or base.task == "impersonation":
        return mine == theirs
    return (len(mine) > 3 and mine in theirs) or (len(theirs) > 3 and theirs in mine)


def passages(base: BaseSample, near: NearMisses, kind: str, wrong: str = "", text: str = "") -> tuple[str, ...]:
    """Return five passages, "title: text", in an order by hash.

    They are near misses; the fact is among them unless `kind` is absent. If it is hard, `wrong` is said of the culture
    of the closest near miss, which is left out. No near miss holds `text`.
    """
    made, taken = [] if kind == "absent" else [_about(base, near, (base,))], ""
    if kind == "hard":
        other = near.elsewhere(base, 1)[0]
        made.append(_about(replace(moved(base, other.culture), answer=wrong), near, (base, other)))
        text, taken = "", other.culture
    count, parts = PASSAGES - len(made), {"hard": ("planted",), "absent": ("absent",)}.get(kind, ())
    elsewhere = [other for other in near.elsewhere(base, count + 1) if other.culture != taken][:count]
    others = (other for pair in zip_longest(elsewhere, near.at_home(base, count)) for other in pair if other)
    documents = (_about(other, near, (base,)) for other in others)
    made += islice((document for document in documents if not _holds(document.text, text)), count)
    keys = [digest(SEED, "place", base.id, "prose", *parts, str(at), made[at].text) for at in range(len(made))]
    return tuple(f"{document.title}: {document.text}" for _, document in sorted(zip(keys, made, strict=True)))


def moved(base: BaseSample, culture: str) -> BaseSample:
    """Return a base sample whose question asks the same of another culture: its names there stand for those here."""
    adjective, place = adjectives(), in_a_sentence(culture, base.language, base.task)
    aliases = (base.culture, *ALIASES.get(base.culture, ()))
    names = {f"the {name}": place for name in aliases} | dict.fromkeys(aliases, culture)
    names[adjective.get(base.culture, base.culture)] = adjective.get(culture, culture)
    longest_first = "|".join(regex.escape(name) for name in sorted(names, key=len, reverse=True))
    question = regex.sub(rf"\b(?:{longest_first})\b", lambda match: names[match[0]], base.question)
    return replace(base, id=f"{base.id}/{culture}", culture=culture, question=question)


def _about(base: BaseSample, near: NearMisses, avoided: Sequence[BaseSample]) -> Document:
    """Return prose that states the fact of `base`, and no fact that one of `avoided` is about."""
    companions = near.companions(base, avoided)
    for count in range(1 + int(digest(SEED, "companions", base.id)[:8], 16) % 3, 0, -1):
        facts, name = [*companions[:1], base, *companions[1:count]], digest(SEED, base.answer)[:8]
        longer = prose(f"{base.id}/{name}", facts, "", SEED)
        if len(longer.text.split()) <= MOST:
            return longer
    return prose(base.id, [base], "", SEED)


def _holds(passage: str, text: str) -> bool:
    """Return whether a passage holds a text of at least four words."""
    words = " ".join(regex.findall(r"\w+", text.casefold()))
    return words.count(" ") >= 3 and words in " ".join(regex.findall(r"\w+", passage.casefold()))

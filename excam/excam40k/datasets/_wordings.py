"""Do two answers to one question overlap: does one say, contain, name or specialise the other?

Nothing is known of the words but their letters and what annotators wrote: "grandmother" and "grandparents" begin alike,
"phone" and "whatsapp" are linked by an answer "whatsapp on the phone", two wordings of one local answer mean the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from excam.error_reports.content_words import stemmer

Stems = frozenset[str]

# Words that say nothing of their own: "traditional clothing" answers no question about clothing.
_EMPTY = (
    "a an and are as at by do for from have he her his in is it its my of on or our she so some that the their them "
    "there they this to we with you your very common different general kind local many national other people person "
    "place popular special thing traditional type typical usual various way"
)
_WHOLE, _START = 4, 5  # letters of a stem that another one contains; letters with which two stems begin alike


def stems(text: str) -> Stems:
    """Return the English stems of the words of a text, without accents and without words that say nothing."""
    return frozenset(stem for word in re.findall(r"\w+", _plain(text)) if (stem := _stem(word)) not in _empty_stems())


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold().replace("'s", "").replace("’s", ""))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@cache
def _empty_stems() -> Stems:
    return frozenset(map(_stem, _EMPTY.split()))


@cache
def _stem(word: str) -> str:
    return stemmer("english").stem(word)


def kin(vocabulary: Iterable[str]) -> Mapping[str, Stems]:
    """Return stem -> the stems of a vocabulary that are spelled alike, itself among them.

    Alike are those that begin with the same five letters, one of four letters or more that begins or ends the other,
    and two of at most three letters with the same first one ("li", "lee"); numbers are alike only if equal.
    """
    stems = {stem for stem in vocabulary if not stem.isdecimal()}
    alike: defaultdict[str, set[str]] = defaultdict(set)
    buckets: defaultdict[str, set[str]] = defaultdict(set)
    for stem in stems:
        if len(stem) >= _START or len(stem) < _WHOLE:
            buckets[stem[:_START] if len(stem) >= _START else f"{stem[0]}*"].add(stem)
        for length in range(_WHOLE, len(stem)):
            for part in {stem[:length], stem[-length:]} & stems:
                alike[stem].add(part)
                alike[part].add(stem)
    for bucket in buckets.values():
        for stem in bucket:
            alike[stem] |= bucket
    return {stem: frozenset(alike[stem] | {stem}) for stem in set(vocabulary)}


class Wordings:
    """The wordings that were given to one question, and which of them overlap.

    `ignored`: stems of the question; an answer that has no others repeats the question. `synonyms`: stems of a wording
    -> stems of wordings that annotators used for the same answer, to any question.
    """

    def __init__(self, wordings: Iterable[str], ignored: Stems, synonyms: Mapping[Stems, Iterable[Stems]]) -> None:
        self._ignored, self._synonyms = ignored, synonyms
        contents = [self.content(wording) for wording in set(wordings)]
        self._kin = kin({stem for content in contents for stem in content})
        self._linked: defaultdict[str, set[str]] = defaultdict(set)
        for content in contents:
            for stem in content:
                self._linked[stem] |= content

    def content(self, wording: str) -> Stems:
        """Return the stems of a wording that are not in the question."""
        return stems(wording) - self._ignored

    def reach(self, wordings: Iterable[str]) -> Stems:
        """Return the stems of which an overlapping wording has at least one.

        They are those of the given wordings and of their synonyms, those spelled alike, and those that stand beside
        one of them in any wording.
        """
        reached: set[str] = set()
        for wording in wordings:
            same = (stem for other in self._synonyms.get(stems(wording), ()) for stem in other - self._ignored)
            for stem in (*self.content(wording), *same):
                reached |= self._kin.get(stem, {stem}) | self._linked.get(stem, set())
        return frozenset(reached)

"""Find a phrase in a text where a person would find it, although a model that quotes a text often changes a little.

The first of these that finds anything decides:

1. the same characters;
2. the same text in another spelling: composed and decomposed letters, compatible forms such as full width, case, kinds
   of apostrophes, quotation marks and dashes, white space and line ends; invisible characters and the vowel marks of
   Arabic and Hebrew do not count;
3. that without a full stop or quotation marks at the ends;
4. both without markup (`plain_text`), with the forms of Arabic letters as one, and blanks for non-joiners;
5. the two halves of a phrase with an ellipsis, if exactly one shortest stretch of the text has both.

In each, whole words come before parts of words. A place never begins or ends inside a grapheme cluster: "क" is not in
"का". In scripts without spaces every place counts as whole words. The time is linear in the length of the text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

import regex

from excam.core.plain_text import plain_text
from excam.core.text import CLUSTER, INVISIBLE, WORD

Place = tuple[int, int]  # characters, half-open

MAX_REJECTED = 1000  # overlapping candidates of one search; after them, only candidates that do not overlap are tried
# Arabic: without hamza and madda, which make another letter; with tatweel, which only stretches a word.
VOWEL_MARKS = (
    "\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065e\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
)
IGNORED = regex.compile(f"{INVISIBLE.pattern}|[{VOWEL_MARKS}]")
LETTERS = str.maketrans(
    "\u0623\u0625\u0622\u0671\u0649\u06cc\u06a9\u200c", "\u0627\u0627\u0627\u0627\u064a\u064a\u0643 "
)
BLANK = regex.compile(r"[\s\x1c-\x1f]")
DASH = regex.compile(r"[\p{Pd}\u2212]")
QUOTE = regex.compile(r"[\p{QMark}`´ʹ-ʿ՚׳״′-‴᾽᾿]")
ELLIPSIS = regex.compile(r" ?[\[(]?(?:\.(?: ?\.){2,}|⋯+)[\])]? ?")
BEFORE, BEHIND = " '.⋯", " '.⋯,;:!?、。।॥،؛؟۔։።፧།༎။၊។៕"  # what a quotation may have at its ends
MARKS = regex.compile(r"\P{CCC=0}{2,}")
CLUSTERED = regex.compile(r"[^\p{GCB=XX}\p{GCB=CN}\p{GCB=LF}\p{GCB=LV}\p{GCB=LVT}]")  # may join a neighbour


class PhraseFinder:
    """A text in which phrases are searched; what several searches need is computed once."""

    def __init__(self, text: str) -> None:
        self.text = text

    def places(self, phrase: str) -> Iterator[Place]:
        """Return the places of a phrase, in order, without overlap. An empty phrase is nowhere."""
        return _first_that_finds(self._searches(phrase)) if phrase else iter(())

    def _searches(self, phrase: str) -> Iterator[Iterator[Place]]:
        yield self._matches(self.text, phrase, self._exact_place)
        folded = fold(phrase)[0].strip(" ")
        yield self._spelled_otherwise(folded)
        yield self._without_markup(phrase)
        yield self._around_ellipsis(folded)

    def _spelled_otherwise(self, folded: str) -> Iterator[Place]:
        spellings = dict.fromkeys((folded, _without_ends(folded)))
        return _first_that_finds(
            self._matches(self._folded[0], spelling, self._original_place) for spelling in spellings if spelling
        )

    def _without_markup(self, phrase: str) -> Iterator[Place]:
        """Yield the places of a phrase in the text that a reader sees; the text is the same without markup if none."""
        plain = plain_text(phrase.translate(LETTERS)).text
        spelling = _without_ends(fold(plain)[0].strip(" "))
        return self._matches(self._plain[0], spelling, self._plain_place) if spelling else iter(())

    def _plain_place(self, start: int, end: int) -> Place | None:
        """Return where a part of the folded plain text comes from, None if that divides a grapheme cluster."""
        _, starts, ends = self._plain
        divides = (start and starts[start - 1] == starts[start]) or (end < len(ends) and ends[end] == ends[end - 1])
        return None if divides else (starts[start], ends[end - 1])

    def _around_ellipsis(self, folded: str) -> Iterator[Place]:
        halves = ELLIPSIS.split(_without_ends(folded))
        if len(halves) != 2:
            return
        heads, tails = (list(self._spelled_otherwise(half)) for half in halves)
        ends = [end for _, end in heads]
        stretches: dict[int, int] = {}  # the nearest head before a tail: the end of the first such tail
        for start, end in tails:
            if before := bisect_right(ends, start):
                stretches.setdefault(heads[before - 1][0], end)
        if len(stretches) == 1:
            yield from stretches.items()

    def _matches(self, text: str, phrase: str, place: Callable[[int, int], Place | None]) -> Iterator[Place]:
        def whole(start: int, end: int) -> Place | None:
            span = place(start, end)
            return span if span and is_whole_word(self.text, *span) else None

        return _first_that_finds(_scan(text, phrase, accepted) for accepted in (whole, place))

    def _exact_place(self, start: int, end: int) -> Place | None:
        return (start, end) if self._edges[start] and self._edges[end] else None

    def _original_place(self, start: int, end: int) -> Place | None:
        """Return where a part of the folded text comes from, None if that divides a grapheme cluster."""
        origins, edges = self._folded[1], self._edges
        first, after = origins[start], origins[end] if end < len(origins) else len(self.text)
        if not edges[first] or (start and origins[start - 1] == first):
            return None
        last = edges.find(1, origins[end - 1] + 1, after + 1)
        return (first, last) if last >= 0 else None

    @cached_property
    def _plain(self) -> tuple[str, list[int], list[int]]:
        """Return the folded plain text, and where the grapheme cluster of each of its characters begins and ends."""
        plain = plain_text(self.text.translate(LETTERS))
        folded, origins = fold(plain.text)
        starts = [self._edges.rfind(1, 0, plain.starts[origin] + 1) for origin in origins]
        return folded, starts, [self._edges.find(1, plain.ends[origin]) for origin in origins]

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return fold(self.text)

    @cached_property
    def _edges(self) -> bytearray:
        """Return 1 at each edge of a grapheme cluster, and before a zero-width non-joiner, which divides words."""
        text = self.text
        if not CLUSTERED.search(text):
            return bytearray(b"\1") * (len(text) + 1)
        edges = bytearray(len(text) + 1)
        edges[0] = 1
        for match in chain(CLUSTER.finditer(text), regex.finditer("(?=\u200c)", text)):
            edges[match.end()] = 1
        return edges


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Return whether no letter, mark, digit or underscore continues a word at either end of `text[start:end]`."""
    ends = (text[start - 1 : start], text[start]), (text[end : end + 1], text[end - 1])
    return not any(_in_word(beside) and _in_word(edge) and edge != "_" for beside, edge in ends)


def fold(text: str) -> tuple[str, list[int]]:
    """Return what a text is compared by, and for each of its characters the place in `text` that it comes from."""
    folded: list[str] = []
    origins: list[int] = []
    last = ""
    for place, character in enumerate(text):
        for folded_character in _fold(character):
            if (folded_character == last == " ") or (folded_character == "\u0307" and last == "i"):  # the dot of İ
                continue
            folded.append(folded_character)
            origins.append(place)
            last = folded_character
    # In canonical order. Origins stay, as no place divides a run of marks.
    return MARKS.sub(lambda run: "".join(sorted(run[0], key=unicodedata.combining)), "".join(folded)), origins


@lru_cache(maxsize=1 << 16)
def _fold(character: str) -> str:
    if QUOTE.match(character):
        return "'"
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return DASH.sub("-", BLANK.sub(" ", IGNORED.sub("", folded))).replace("ı", "i")


def _without_ends(folded: str) -> str:
    return folded.lstrip(BEFORE).rstrip(BEHIND)


@lru_cache(maxsize=1 << 16)
def _in_word(character: str) -> bool:
    return WORD.match(character) is not None


def _first_that_finds(searches: Iterable[Iterator[Place]]) -> Iterator[Place]:
    for places in searches:
        if first := next(places, None):
            return chain((first,), places)
    return iter(())


def _scan(text: str, phrase: str, accepted: Callable[[int, int], Place | None]) -> Iterator[Place]:
    """Yield what `accepted` makes of each occurrence of a phrase; it returns None for one that does not count."""
    rejected, start = 0, text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if place := accepted(start, end):
            yield place
        else:
            rejected += 1
        start = text.find(phrase, end if place or rejected > MAX_REJECTED else start + 1)

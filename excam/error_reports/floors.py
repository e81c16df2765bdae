"""Fair floors: what a judge with documents has to beat, without a model, in one function each.

Both read words alone. The first asks whether a text is in a passage at all, the second whether what is asked stands
where the text stands: wrong options that no passage holds fail at the first, wrong answers out of the same paragraph at
the second. The second is one of the word-matching baselines of reading comprehension (the sliding window of
Richardson, Burges, Renshaw 2013, MCTest), with sentences for windows and parts of words for words.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import regex

from excam.core.plain_text import plain_text
from excam.core.sentences import asks, sentence_places
from excam.error_reports.content_words import UNSPACED, Word, code_of, content, has_unspaced, keys_of_plain, words

VERSION = 3  # raised when a floor changes
LETTERS = 4  # of a part of a word, so that forms of a word share parts; a shorter word is one part
SIGNS = 2  # of a part of a run of Chinese or Japanese
LONGEST_PIECE = 120  # characters; of a script that sets spaces between phrases only, a sentence is cut behind them
DENSE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_TITLE = regex.compile(r"([^.:!?]{1,100}): ")  # of "title: text", what all of its sentences are about
_PHRASE = regex.compile(r"\S+")
_ANNOUNCING = regex.compile(r"\s*+[^:：\n]{1,80}(?::\s|：)(?=.*\w)", regex.DOTALL)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of a passage: characters [start, end), and the folded words of the title and of it between blanks."""

    start: int
    end: int
    text: str

    def holding(self, sought: Iterable[str]) -> list[str]:
        """Return which parts of words it has; a short one is a whole word."""
        return [part for part in sought if part in self.text]


@dataclass(frozen=True, slots=True)
class SentenceShares:
    """A sentence of a passage, and the shares of a text and of a question that stand in it, both 0 to 1."""

    passage: int
    piece: _Piece
    held: float
    asked: float


def share_of_words(text: str, passages: Sequence[str], language: str = "") -> float:
    """Return the share of a text's content words that stand in the best passage, 0 to 1; 0 of a text without any.

    Function words and what stands before a colon ("In this role, I say:") are left out, and words are compared as they
    are, folded.
    """
    keys = [word.key for word in content(behind_colon(text), language)]
    return max((sum(key in keys_of(passage) for key in keys) / len(keys) for passage in passages if keys), default=0.0)


def behind_colon(text: str) -> str:
    """Return what stands behind the first colon of a line's beginning, the text without one.

    No list holds all phrases that announce an answer, and a floor that counts their words is too low.
    """
    announcing = _ANNOUNCING.match(text)
    return text[announcing.end() :] if announcing else text


def question_where_answer_stands(question: str, text: str, passages: Sequence[str], language: str = "") -> float:
    """Return how much more of a question stands in the sentence that holds its answer than elsewhere, -1 to 1.

    It is the share of the question's parts of words, less those of the answer and weighted by their rarity among the
    sentences of the passages, in the sentence that holds most of the answer (of equal ones the one with most of the
    question), minus the largest such share in any other sentence. -1 if no sentence holds a part of the answer.
    """
    here, elsewhere = places_of(question, text, passages, language)
    return here.asked - (elsewhere.asked if elsewhere else 0) if here else -1.0


def places_of(
    question: str, text: str, passages: Sequence[str], language: str = ""
) -> tuple[SentenceShares | None, SentenceShares | None]:
    """Return where a text stands, and where elsewhere most of its question does; None for what stands nowhere."""
    places = [(at, piece) for at, passage in enumerate(passages) for piece in pieces(passage, language)]
    in_sentences = [shared for passage in passages for shared in asked_parts(question, passage, language)]
    question_parts, answer = parts(question), parts(behind_colon(text))
    answer_parts = answer - question_parts or answer
    if not question_parts.isdisjoint(answer_parts):
        in_sentences = [[part for part in shared if part not in answer_parts] for shared in in_sentences]
    seen = Counter(chain.from_iterable(in_sentences))
    rarity = [math.log((len(places) + 1) / (count + 0.5)) for count in range(len(places) + 1)]
    weights = {part: rarity[seen[part]] for part in sorted(question_parts - answer_parts)}
    whole, weight_of = sum(weights.values()) or 1.0, weights.__getitem__
    shares = [
        (len(piece.holding(answer_parts)) / max(1, len(answer_parts)), sum(map(weight_of, shared)) / whole)
        for (_, piece), shared in zip(places, in_sentences, strict=True)
    ]
    here = max(range(len(places)), key=shares.__getitem__, default=0)
    most = shares[here][0] if shares else 0.0
    others = (at for at, share in enumerate(shares) if share[0] < most or not most)
    elsewhere = max(others, key=lambda at: shares[at][1], default=None)
    return (
        SentenceShares(*places[here], *shares[here]) if most else None,
        None if elsewhere is None else SentenceShares(*places[elsewhere], *shares[elsewhere]),
    )


@lru_cache(maxsize=4096)
def asked_parts(question: str, passage: str, language: str = "") -> tuple[list[str], ...]:
    """Return for each sentence of a passage the parts of a question that it holds, in order."""
    question_parts = sorted(parts(question))
    return tuple(piece.holding(question_parts) for piece in pieces(passage, language))


@lru_cache(maxsize=4096)
def keys_of(passage: str) -> frozenset[str]:
    """Return the folded words of a passage."""
    return frozenset(keys_of_plain(plain_text(passage).text))


@lru_cache(maxsize=4096)
def pieces(passage: str, language: str = "") -> tuple[_Piece, ...]:
    """Return the sentences of a passage, a question with its answer.

    A long one of a script without spaces between words is cut at its spaces.
    """
    title = _TITLE.match(passage)
    topic = runs(words(title[1])) if title else []
    places = list(_places(passage, code_of(language)))
    if plain_text(passage).is_whole and not has_unspaced(passage):
        keys = (keys_of_plain(passage[start:end]) for start, end in places)
    else:
        passage_words = words(passage)
        starts = [word.start for word in passage_words]
        keys = (runs(passage_words[bisect_left(starts, start) : bisect_left(starts, end)]) for start, end in places)
    return tuple(_Piece(*place, f" {' '.join([*topic, *own])} ") for place, own in zip(places, keys, strict=True))


def _places(passage: str, code: str) -> Iterator[tuple[int, int]]:
    """Yield the places of sentences, a question together with what follows it."""
    begun, end = -1, 0
    for start, end in sentence_places(passage, code or "root"):
        if end - start > LONGEST_PIECE and UNSPACED.search(passage, start, end):
            for phrase in _PHRASE.finditer(passage, start, end):
                if phrase.end() - start >= LONGEST_PIECE:
                    yield start, phrase.end()
                    start = phrase.end()
        begun = start if begun < 0 else begun
        if begun < end and not asks(passage[start:end], code):
            yield begun, end
            begun = -1
    if begun >= 0:
        yield begun, end


@lru_cache(maxsize=4096)
def parts(text: str) -> frozenset[str]:
    """Return the parts of a text's words: runs of `LETTERS` letters; a shorter word is one part, between blanks."""
    grams = set[str]()
    for run in runs(words(text)):
        size = SIGNS if DENSE.match(run) else LETTERS
        grams.update([run[at : at + size] for at in range(len(run) - size + 1)] if len(run) >= size else [f" {run} "])
    return frozenset(grams)


def runs(sequence: Sequence[Word]) -> list[str]:
    """Return folded words, those without spaces between them together."""
    keys, end = list[str](), -1
    for word in sequence:
        if word.start == end and UNSPACED.match(word.key) and UNSPACED.match(keys[-1]):
            keys[-1] += word.key
        else:
            keys.append(word.key)
        end = word.end
    return keys


FLOORS: dict[str, Callable[[str, str, Sequence[str], str], float]] = {  # of question, text, passages, language
    "share of words": lambda question, text, passages, language: share_of_words(text, passages, language),
    "question where the answer stands": question_where_answer_stands,
}

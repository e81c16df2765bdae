"""Claims of an answer, and the verifier without a model: is all of a claim in one passage?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from excam.core.sentences import well_formed, without_marks
from excam.knowledge.claimless import claim_places
from excam.knowledge.passages import Passage, words

Verdict = Literal["supported", "unsupported"]
ENOUGH = 0.8  # share of a claim's content words that one passage must hold
FEWEST = 2  # words to compare; "The sky is a sky." would be supported by any passage about a sky
_CAPITALISED = regex.compile(r"\p{Lu}[\p{L}\p{M}\p{N}]*")
_NUMBER = regex.compile(r"\p{N}+")
_KANA = regex.compile(r"\p{Hiragana}+")
SHORTEST = 4  # letters of a content word in scripts with spaces; shorter words are mostly grammar


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer. `id` is <answer>#<number>; `text` is None where the extractor failed."""

    id: str
    answer: str
    sentence: int
    text: str | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ClaimWithPassages:
    """A claim and the passages that were found for it, best first."""

    id: str
    text: str
    passages: Sequence[Passage]


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a text that claim something, without emphasis; `language` is a code."""
    clean = well_formed(text)
    return [without_marks(clean[slice(*place)]) for place in claim_places(clean, language)]


def by_sentences(answer: str, text: str, language: str) -> list[Claim]:
    """Return one claim for each different sentence of an answer that claims something, without a model."""
    distinct = dict.fromkeys(sentences(text, language))
    return [Claim(f"{answer}#{number}", answer, number, sentence) for number, sentence in enumerate(distinct, 1)]


def overlap(claim: ClaimWithPassages) -> tuple[Verdict, str]:
    """Return supported, and the id of the passage, if one passage holds all of a claim; else unsupported.

    All of it: every number, every capitalised word but the first, and 80 % of the content words (four letters or more;
    in scripts without spaces all words but those of hiragana), of which there are two or more. It cannot see a
    negation, and takes nothing in a text as an instruction.
    """
    claim_words = words(claim.text)
    content = {word for word in claim_words if _is_content(word)}
    capitalised = words(" ".join(_CAPITALISED.findall(claim.text)))
    needed = (set(capitalised) - set(claim_words[:1])) | set(_NUMBER.findall(" ".join(claim_words)))
    if len(content | needed) < FEWEST:
        return "unsupported", ""
    for passage in claim.passages:
        held = set(words(f"{passage.title} {passage.text}"))
        numbers = set(_NUMBER.findall(" ".join(held)))
        if needed <= held | numbers and len(content & held) >= ENOUGH * len(content):
            return "supported", passage.id
    return "unsupported", ""


def _is_content(word: str) -> bool:
    if any("\u3040" <= sign <= "\u30ff" or "\u3400" <= sign <= "\u9fff" for sign in word):
        return not _KANA.fullmatch(word)
    return len(word) >= SHORTEST

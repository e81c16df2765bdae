"""S_surf: is an answer in the language of its question, and does it repeat itself? No model, milliseconds an answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.core.language_identity import UNKNOWN, Detector, identify, language_code

DECIDABLE = 0.9  # share of the questions of a language that the detector must name rightly
TOKENS, TIMES = 20, 4  # the authors' code; their text says "more than 20 tokens ... more than 4 times": 21 and 5
PIECE = 100_000  # characters that are encoded at once; bpe-openai refuses very long texts


@dataclass(frozen=True, slots=True)
class Surface:
    """What an answer looks like. `value` is S_surf: 1 or 0, None where the language cannot be decided."""

    expected: str  # ISO 639 codes
    found: str  # `UNKNOWN` if the detector has none
    detector: str
    decidable: bool  # whether the detector knows the expected language, see `Language`
    most_repeats: int  # occurrences of the most frequent sequence of tokens
    repeated: bool
    empty: bool

    @property
    def wrong_language(self) -> bool:
        """Return whether a text is in another language; an empty one, and one in no known language, is in none."""
        return not self.empty and self.found not in (self.expected, UNKNOWN)

    @property
    def value(self) -> int | None:
        """Return S_surf."""
        return int(self.found == self.expected and not self.repeated and not self.empty) if self.decidable else None


@dataclass(frozen=True, slots=True)
class Language:
    """How often a detector names the questions of a language rightly: the rule that makes a language decidable."""

    name: str  # as the questions have it
    code: str
    questions: int
    right: int

    @property
    def share(self) -> float:
        """Return the share of questions that are named rightly."""
        return self.right / self.questions

    @property
    def decidable(self) -> bool:
        """Return whether answers in this language can be judged by the detector."""
        return self.share >= DECIDABLE


def check(
    text: str,
    language: str,
    decidable: bool = True,
    detector: Detector = "cld2",
    tokens: int = TOKENS,
    times: int = TIMES,
) -> Surface:
    """Return what an answer looks like, whose question is in `language` (a name or an ISO 639 code).

    Raises InputInvalid for an unknown name of a language.
    """
    repeats = most_repeats(text, tokens)
    return Surface(
        expected=language_code(language),
        found=identify(text, detector),
        detector=detector,
        decidable=decidable,
        most_repeats=repeats,
        repeated=repeats >= times,
        empty=not any(map(str.isalnum, text)),
    )


def repeated(text: str, tokens: int = TOKENS, times: int = TIMES) -> bool:
    """Return whether any sequence of this many o200k tokens occurs this many times; occurrences may overlap."""
    return most_repeats(text, tokens) >= times


def most_repeats(text: str, tokens: int = TOKENS) -> int:
    """Return how often the most frequent sequence of so many o200k tokens occurs, 0 in a shorter text.

    Strings such as <|endoftext|> are plain text.
    """
    if tokens < 1:
        raise InputInvalid(f"tokens: found {tokens}; expected 1 or more")
    ids = _token_ids(text)
    if len(ids) < tokens:
        return 0
    if tokens > 1 and len(set(pairwise(ids))) == len(ids) - 1:
        return 1  # not even a pair of tokens occurs twice
    return max(Counter(zip(*(ids[at:] for at in range(tokens)), strict=False)).values())


def _token_ids(text: str) -> list[int]:
    clean = text.encode("utf-8", "replace").decode()
    pieces = (clean[start : start + PIECE] for start in range(0, len(clean), PIECE))
    return [token_id for piece in pieces for token_id in _encoding().encode_ordinary(piece)]


@cache
def _encoding() -> Any:
    require_extra("calmqa", "bpe_openai")
    from bpe_openai import get_encoding

    return get_encoding("o200k_base")


def languages(questions: Iterable[tuple[str, str]], detector: Detector = "cld2") -> dict[str, Language]:
    """Return how well a detector knows each language, by its code, from (language, question) pairs.

    Raises InputInvalid for an unknown name of a language.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    names: dict[str, str] = {}
    for name, question in questions:
        code = language_code(name)
        names.setdefault(code, name)
        counts[code][0] += 1
        counts[code][1] += identify(question, detector) == code
    return {code: Language(names[code], code, *counts[code]) for code in sorted(counts, key=names.__getitem__)}


# The languages whose questions people wrote for the data set, without a forum to collect them from (CaLMQA §2).
LOW_RESOURCE = frozenset(
    {
        *("Afar", "Balochi", "Faroese", "Fijian", "Hiligaynon", "Kirundi", "Papiamento", "Pashto"),
        *("Samoan", "Tongan", "Tswana", "Wolof"),
    }
)

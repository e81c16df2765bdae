"""The places where a modified text differs from its original, as character spans (spec 28; ExCAM App. E).

Two readings of the paper's one sentence ("NLTK word tokenization … difflib … strip all punctuation"):

- `paper`: NLTK's words and difflib as it comes, autojunk included, so its numbers are the paper's;
- `strict`: autojunk off, and words by Unicode rules, where scripts that set no spaces (Han, kana, Thai, Khmer, Lao,
  Burmese) count every grapheme cluster as a word. A two-character edit in Chinese marks those two characters.

Comparison is exact: a change of case counts, a change of punctuation or white space does not.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Literal

import regex

Mode = Literal["paper", "strict"]
Kind = Literal["replace", "insert", "delete"]

MAX_TOKENS = 10_000  # of either side; an ordinary answer has under 1,000
MAX_PAIRS = 300_000  # equal (original, modified) token pairs: what one pass of difflib walks over

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{scx=Hira}\p{scx=Kana}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}"
WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{UNSPACED}]]"
TOKEN = regex.compile(
    rf"(?V1)(?=[[{UNSPACED}]--[\p{{P}}\p{{M}}]])\X"
    rf"|{WORD}(?:{WORD}|[\u200c\u200d]+(?={WORD})|(?<=\p{{L}})['’·.](?=\p{{L}})|(?<=\p{{N}})[.,](?=\p{{N}}))*"
    r"|(?![\p{P}\p{Z}\p{C}])\X"
)


@dataclass(frozen=True, slots=True)
class Span:
    """One difference. `modified[start:end] == text`; offsets count characters (code points), end exclusive.

    A deletion has no text of its own: it points at the word before the gap, or after it where the gap is at the very
    start, or is (0, 0, "") where no word is left.
    """

    start: int
    end: int
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Diff:
    """`count` is the paper's error count: the number of difflib opcodes that are not "equal"."""

    count: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Token:
    start: int
    end: int
    text: str


def diff_spans(original: str, modified: str, mode: Mode = "paper") -> Diff:
    """Differences of `modified` against `original`, in the order of `modified` (spec 28).

    Bounded: where more than MAX_TOKENS words or MAX_PAIRS equal pairs are left between the common beginning and the
    common end, that whole middle is one replacement.
    """
    if original == modified:
        return Diff(0, ())
    before, after = tokens(original, mode), tokens(modified, mode)
    spans = tuple(
        span_of(kind, first, last, after, modified)
        for kind, first, last in changes([t.text for t in before], [t.text for t in after], mode)
    )
    return Diff(len(spans), spans)


def tokens(text: str, mode: Mode) -> list[Token]:
    """Words of `text` with their places; punctuation is stripped and what is nothing else disappears."""
    if mode == "paper":
        return list(_nltk_tokens(text))
    return [Token(match.start(), match.end(), match.group()) for match in TOKEN.finditer(text)]


def _nltk_tokens(text: str) -> Iterator[Token]:
    """NLTK rewrites double quotes to `` and '', so tokens are found again in the text, after punctuation is stripped.

    Between two stripped tokens there is only white space and punctuation, and a token starts with neither: the next
    occurrence is the right one. Runs of white space are shortened first; NLTK's final-period rule is quadratic in them.
    """
    position = 0
    for raw in _nltk().tokenize(" ".join(text.split())):
        word = _strip(raw)
        if not word:
            continue
        start = text.index(word, position)
        position = start + len(word)
        yield Token(start, position, word)


@cache
def _nltk():  # noqa: ANN202 - the type would import NLTK
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def _strip(word: str) -> str:
    start, end = 0, len(word)
    while start < end and is_punctuation(word[start]):
        start += 1
    while end > start and is_punctuation(word[end - 1]):
        end -= 1
    return word[start:end]


def is_punctuation(character: str) -> bool:
    """Unicode punctuation, and the back-tick NLTK writes for a quote. Currency and mathematical signs are content."""
    return character == "`" or unicodedata.category(character).startswith("P")


def changes(before: Sequence[str], after: Sequence[str], mode: Mode) -> list[tuple[Kind, int, int]]:
    """Differences as (kind, first, last) with [first, last) counting words of `after`."""
    if mode == "paper" and feasible(before, after, autojunk=True):
        return _opcodes(before, after, 0, autojunk=True)  # whole: what autojunk calls popular depends on the length
    head = _common(before, after)
    before, after = before[head:], after[head:]
    tail = _common(before[::-1], after[::-1])
    before, after = before[: len(before) - tail], after[: len(after) - tail]
    autojunk = mode == "paper"
    if before and after and not feasible(before, after, autojunk):
        return [("replace", head, head + len(after))]
    return _opcodes(before, after, head, autojunk)


def feasible(before: Sequence[str], after: Sequence[str], autojunk: bool) -> bool:
    """Whether difflib is sure to finish in seconds (it is cubic at worst)."""
    if max(len(before), len(after)) > MAX_TOKENS:
        return False
    here, there = Counter(before), Counter(after)
    popular = len(after) // 100 + 1 if autojunk and len(after) >= 200 else len(after)
    return sum(n * here[word] for word, n in there.items() if n <= popular) <= MAX_PAIRS


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    for index, (left, right) in enumerate(zip(before, after, strict=False)):
        if left != right:
            return index
    return min(len(before), len(after))


def _opcodes(before: Sequence[str], after: Sequence[str], head: int, autojunk: bool) -> list[tuple[Kind, int, int]]:
    matcher = SequenceMatcher(None, before, after, autojunk=autojunk)
    return [(kind, head + j1, head + j2) for kind, _, _, j1, j2 in matcher.get_opcodes() if kind != "equal"]


def span_of(kind: Kind, first: int, last: int, words: Sequence[Token], text: str) -> Span:
    """The span of words [first, last); for a deletion that of the neighbouring word."""
    if kind == "delete":
        if not words:
            return Span(0, 0, "", kind)
        first = max(first - 1, 0)
        last = first + 1
    start, end = words[first].start, words[last - 1].end
    return Span(start, end, text[start:end], kind)

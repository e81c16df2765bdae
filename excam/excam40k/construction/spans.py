"""The places where a modified text differs from its original, as character spans (ExCAM App. E).

Two readings of the paper's one sentence ("NLTK word tokenization … difflib … strip all punctuation"):

- `paper`: NLTK's words and difflib as it comes, autojunk included, so its numbers are the paper's;
- `strict`: autojunk off, and words as ICU divides text (Unicode's rules, UAX 29; its dictionaries for the scripts that
  set no spaces: Han, kana, Thai, Khmer, Lao, Burmese). A two-character edit in Chinese marks one word or two.

A change of case counts, a change of punctuation or white space does not. Strict mode also takes for equal what looks
equal: the two spellings of an accented letter, curly and straight apostrophes, invisible characters, words divided
differently ("ice cream", "icecream"; a dictionary may divide the same clause in two ways beside an edit).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, Literal, get_args

import regex

from excam.core.exceptions import InputInvalid
from excam.core.text import CLUSTER, INVISIBLE, QUOTES, SCRIPTS

Mode = Literal["paper", "strict"]
Kind = Literal["replace", "insert", "delete"]

MAX_TOKENS = 10_000  # of either side; an ordinary answer has under 1,000
MAX_PAIRS = 300_000  # equal (original, modified) token pairs: what one pass of difflib walks over

BLANK = regex.compile(r"(?=[\p{P}\p{Z}\p{Cc}\p{Cf}\p{Cs}`´])(?:[^\p{L}\p{N}\p{S}\u20e3]|[`´])+")  # 20E3: keycap, "#️⃣"
SENTENCE_END = regex.compile(r"[.!?。！？؟।\n]")
UNSPACED = regex.compile(rf"(?V1)[{SCRIPTS}]+")

Change = tuple[Kind, int, int]  # words of the modified text


@dataclass(frozen=True, slots=True)
class Span:
    """One difference. `modified[start:end] == text`; offsets count characters (code points), end exclusive.

    A deletion has no text of its own: it points at the word before the gap, or after it if the gap is at the very
    start, or is (0, 0, "") if no word is left.
    """

    start: int
    end: int
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Diff:
    """`count` is the paper's error count: difflib's opcodes that are not "equal" (strict: and do change the text)."""

    count: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign of a text, with its place: characters [start, end)."""

    start: int
    end: int
    text: str


def diff_spans(original: str, modified: str, mode: Mode = "paper") -> Diff:
    """Return the differences of `modified` against `original`, in the order of `modified`.

    Bounded: if more than MAX_TOKENS words or MAX_PAIRS equal pairs remain between the common beginning and the common
    end, all of the middle is one replacement.
    """
    if mode not in get_args(Mode):
        raise InputInvalid(f"mode: found {mode}; expected {' or '.join(get_args(Mode))}")
    if original == modified:
        return Diff(0, ())
    after = tokens(modified, mode)
    differences = changes(keys(tokens(original, mode), mode), keys(after, mode), mode)
    spans = tuple(span_of(*difference, after, modified) for difference in differences)
    return Diff(len(spans), spans)


def whole_statements(strict_spans: Sequence[Span], modified: str) -> list[Span]:
    """Return strict spans, and one span for those of a sentence if more than a third of the words from the first one to
    the end of the sentence changed, or else to the last one; of two spans, more than half.

    Two sentences about different things share words by chance ("it is polite to"): their difference is one error.
    """
    words = [(word.start, word.end) for word in tokens(modified, "strict")]
    runs: list[list[Span]] = []
    for span in strict_spans:
        if runs and not SENTENCE_END.search(modified, runs[-1][-1].end, span.start):
            runs[-1].append(span)
        else:
            runs.append([span])
    joined: list[Span] = []
    for run in runs:
        start, end = run[0].start, run[-1].end
        stop = SENTENCE_END.search(modified, end)
        behind = [last for _, last in words if last <= (stop.start() if stop else len(modified))]
        changed = sum(any(span.start <= first and last <= span.end for span in run) for first, last in words)
        least = 3 if len(run) > 2 else 2  # two edits may stand near each other in a short clause
        for last in (max(behind, default=end), end):
            of = sum(start <= first and until <= last for first, until in words)
            if len(run) > 1 and least * changed > of:
                joined.append(Span(start, last, modified[start:last], "replace"))
                break
        else:
            joined += run
    return joined


def tokens(text: str, mode: Mode) -> list[Token]:
    """Return the words of `text` with their places, without punctuation."""
    return list(_nltk_tokens(text) if mode == "paper" else _icu_tokens(text))


def keys(words: Sequence[Token], mode: Mode) -> list[str]:
    """Return the keys by which words are compared: in strict mode, their appearance."""
    return [looks(word.text) if mode == "strict" else word.text for word in words]


def looks(word: str) -> str:
    """Return the appearance of a word: composed letters, one kind of quote, no invisible marks."""
    if word.isascii():
        return word.translate(QUOTES) if "`" in word else word
    return INVISIBLE.sub("", unicodedata.normalize("NFC", word.translate(QUOTES))).strip("'\"") or word


def _icu_tokens(text: str) -> Iterator[Token]:
    """Return ICU's words, joined where ICU divides a grapheme cluster. ICU's offsets count UTF-16 units and are not
    used.
    """
    from icu4py.breakers import WordBreaker  # loads 40 MB of tables

    ends = None if text.isascii() else {match.end() for match in CLUSTER.finditer(text)}
    start = end = 0
    for piece in WordBreaker(text.encode("utf-8", "replace").decode(), "root"):  # lone surrogates, one for one
        end += len(piece)
        if ends is None or end in ends:
            first, last = _content(text, start, end) if text[start:end] != " " else (end, end)
            start = end
            if first < last:
                yield Token(first, last, text[first:last])


def _content(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the part of `text[start:end]` from its first to its last cluster that is not only punctuation or space."""
    if text[start:end].isalnum():
        return start, end
    clusters = [match.span() for match in CLUSTER.finditer(text, start, end) if not BLANK.fullmatch(match.group())]
    return (clusters[0][0], clusters[-1][1]) if clusters else (end, end)


def _nltk_tokens(text: str) -> Iterator[Token]:
    """Return NLTK's words with their places.

    NLTK rewrites double quotes to `` and '', so tokens are located again in the text, after punctuation is stripped.
    Between two stripped tokens there is only white space and punctuation, and a token starts with neither: the next
    occurrence is the right one. Runs of white space are shortened first; NLTK's final-period rule is quadratic in them.
    """
    position = 0
    from nltk.tokenize.destructive import NLTKWordTokenizer

    for raw in NLTKWordTokenizer().tokenize(" ".join(text.split())):
        word = _strip(raw)
        if not word:
            continue
        start = text.index(word, position)
        position = start + len(word)
        yield Token(start, position, word)


def _strip(word: str) -> str:
    kept = [place for place, character in enumerate(word) if not is_punctuation(character)]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def is_punctuation(character: str) -> bool:
    """Return whether all is Unicode punctuation, or NLTK's back-tick. Currency and mathematical signs are content."""
    return character == "`" or unicodedata.category(character).startswith("P")


def changes(before: Sequence[str], after: Sequence[str], mode: Mode) -> list[Change]:
    """Return the differences of two lists of words, in order: the kind, and the words of `after` in that place."""
    return _paper_changes(before, after) if mode == "paper" else _strict_changes(before, after)


def _paper_changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    head = tail = 0
    if not feasible(before, after, autojunk=True):  # else one replacement: autojunk's popularity depends on the length
        head = _common(before, after)
        tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    parts: list[tuple[Any, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
    if not (old and new) or feasible(old, new, autojunk=True):
        parts = SequenceMatcher(None, old, new).get_opcodes()
    return [(kind, head + j1, head + j2) for kind, _, _, j1, j2 in parts if kind != "equal"]


def _strict_changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    old, new, head = trim_equal_ends(before, after)
    parts = [(0, len(old), 0, len(new))]
    if old and new and feasible(old, new, autojunk=False):
        opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        parts = [places for kind, *places in opcodes if kind != "equal"]
    differences: list[Change] = []
    for i1, i2, j1, j2 in parts:
        here, there, skipped = trim_equal_ends(old[i1:i2], new[j1:j2])
        if here or there:
            first = head + j1 + skipped
            kind: Kind = "replace" if here and there else "delete" if here else "insert"
            differences.append((kind, first, first + len(there)))
    return differences


def trim_equal_ends(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Return both sides without the words at either end that spell the same text, however divided.

    Also return how many of `new` were removed from the start.
    """
    here, there = _unlike(old, new)
    skipped = len(new) - len(there)
    here, there = _unlike([word[::-1] for word in reversed(here)], [word[::-1] for word in reversed(there)])
    return [word[::-1] for word in reversed(here)], [word[::-1] for word in reversed(there)], skipped


def _unlike(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides from the last place on where their common text ends a word: a word of both, or of `new` alone within
    a clause without spaces, which ICU may have divided differently only because of what comes later.
    """
    here, there = _joints(old), _joints(new)
    text = "".join(here)
    same = _common(text, "".join(there))
    words = set(accumulate(map(len, here)))
    for count, end in reversed([*enumerate(accumulate(map(len, there)), start=1)]):
        if (end <= same and end in words) or (end < same and UNSPACED.fullmatch(text, end - 1, end + 1)):
            starts = accumulate(map(len, here), initial=0)
            rest = [word[max(end - start, 0) :].lstrip("\n") for start, word in zip(starts, here, strict=False)]
            return [word for word in rest if word], [*new[count:]]
    return [*old], [*new]


def _joints(words: Sequence[str]) -> list[str]:
    """Return the words, marked where two numbers meet: "10 30" is not "1030", though "ice cream" is "icecream"."""
    pairs = zip(["", *words], words, strict=False)
    return ["\n" + word if word[0].isnumeric() and last[-1:].isnumeric() else word for last, word in pairs]


def feasible(before: Sequence[str], after: Sequence[str], autojunk: bool) -> bool:
    """Return whether difflib is sure to finish in seconds (it is cubic at worst)."""
    if max(len(before), len(after)) > MAX_TOKENS:
        return False
    here, there = Counter(before), Counter(after)
    popular = len(after) // 100 + 1 if autojunk and len(after) >= 200 else len(after)
    return sum(n * here[word] for word, n in there.items() if n <= popular) <= MAX_PAIRS


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    unlike = (index for index, (left, right) in enumerate(zip(before, after, strict=False)) if left != right)
    return next(unlike, min(len(before), len(after)))


def span_of(kind: Kind, first: int, last: int, words: Sequence[Token], text: str) -> Span:
    """Return the span of words [first, last); for a deletion, that of the neighbouring word."""
    if kind == "delete":
        if not words:
            return Span(0, 0, "", kind)
        first = max(first - 1, 0)
        last = first + 1
    start, end = words[first].start, words[last - 1].end
    return Span(start, end, text[start:end], kind)

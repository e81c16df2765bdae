"""How a text is worded: its words, its sentences, and whether it names another text.

The page counts in the same way: it gets these patterns in its data, and `wording.js` has the same three functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

SPACE = r" \t\r\n\u00a0\u3000"
CLOSING = r"\u0022'\u2019\u201d\u00bb\u300d\u300f\uff09)\]"
# scripts that write no spaces: Thai, Lao, Myanmar, Khmer, kana, Han; each of their characters counts as a word
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
PUNCTUATION = (
    r"\u0000-/:-@\[-`{-\u00bf\u060c\u061b\u061f\u06d4\u0964\u0965\u1362\u2000-\u206f\u3000-\u303f\ufeff"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "word": f"[{UNSPACED}]|[^{PUNCTUATION}{UNSPACED}]+",
        # a full stop that ends no sentence: of an initial, a title, or a short form
        "short": f"(^|[{SPACE}(])([A-Z]|Dr|Mr|Mrs|Ms|Prof|St|vs|cf|e\\.g|i\\.e)\\.",
        "marks": "([.!?\\u2026])[.!?\\u2026]+",  # of which the first counts: else each is tried, to the end of the row
        # of Latin marks only where a space follows, and no small letter
        "end": f"[.!?\\u2026][{CLOSING}]*(?![^{SPACE}])(?![{SPACE}]+[a-z])"
        f"|[\\u3002\\uff01\\uff1f\\uff61\\u061f\\u06d4\\u0964\\u0965\\u1362]+[{CLOSING}]*|[\\r\\n]+",
    }
)
RUN = 3  # words of a text, one after the other, that name it
_WORD, _SHORT, _MARKS, _END = (re.compile(PATTERNS[name]) for name in ("word", "short", "marks", "end"))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> int:
    """Return how many sentences a text has: pieces between full stops that hold a word. A single word is none."""
    plain = _MARKS.sub(r"\1", _SHORT.sub(r"\1\2", text))
    pieces = [words(piece) for piece in _END.split(plain)]
    return sum(map(bool, pieces)) if sum(map(len, pieces)) > 1 else 0


def names(text: str, other: str) -> bool:
    """Return whether a text holds `RUN` words of another one in a row, or all of them where it has fewer."""
    wanted, held = words(other), words(text)
    if not wanted:
        return True
    length = min(RUN, len(wanted))
    runs = {tuple(held[at : at + length]) for at in range(len(held) - length + 1)}
    return any(tuple(wanted[at : at + length]) in runs for at in range(len(wanted) - length + 1))

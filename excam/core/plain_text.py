"""A text as its reader sees it, without invisible characters and markup, and the way back to its own characters.

What is left out changes no meaning, so texts, passages and spans are all compared without it: soft hyphens, joiners and
other invisible characters; marks of Markdown, HTML and TeX around words; numbers that cite ("[1]"). Signs of full width
are plain ones. What strikes text out or hides it stays: `~~`, `<del>`, `<s>`, `<strike>`, tags with a style.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

import regex

from excam.core.text import INVISIBLE

_INLINE = "a|abbr|answer|b|big|bdi|bdo|cite|code|em|font|i|ins|kbd|mark|q|small|span|strong|tt|u|wbr"
_BLOCK = (
    "article|blockquote|br|div|footer|h[1-6]|header|hr|img|li|ol|p|pre|section|sub|sup|table|tbody|td|th|thead|tr|ul"
)
_FULL_WIDTH = {sign: sign - 0xFEE0 for sign in range(0xFF01, 0xFF5F)}
_IN_WORD = r"[\p{L}\p{M}\p{N}]"
_TAG = r"</?(?:{})\b(?![^<>]{{0,500}}\b(?:style|hidden)\b)[^<>]{{0,500}}>"
_MARKUP = regex.compile(
    rf"""(?xi)
    (?P<entity> &(?:\#\d{{1,7}}|\#x[\da-f]{{1,6}}|[a-z]\w{{1,20}}); )
    | (?P<blank> \\[,;:!\ ] | (?<={_IN_WORD})~(?=\p{{L}}) | {_TAG.format(_BLOCK)} )
    | (?P<nothing> {INVISIBLE.pattern.removeprefix("(?V1)")}++
      | {_TAG.format(_INLINE)}
      | \[\^?\d{{1,3}}(?:[,;]\ ?\d{{1,3}})*\](?!\()(?:(?<=\S\s*\[[^\[]*)|(?=\s*\S))
      | !?\[(?=[^\[\]\n]{{1,300}}\]\([^()\s]{{1,500}}\)) | \](?<=[^\[\]\n]\])\([^()\s]{{1,500}}\)
      | ```[a-z]{{1,12}}(?=\n) | \*\*+ | (?<!{_IN_WORD})[*_`]+ | [*_`]+(?!{_IN_WORD})
      | \\(?:boxed|text(?:bf)?|math(?:bf|rm))(?=\{{) | \\[()\[\]] | \$\$
      | \$(?=[^\s$][^$\n]{{0,80}}(?<![\s\\])\$(?!\d)) | \$(?!\d)(?<=\$[^\s$](?:[^$\n]{{0,80}}[^\s\\$])?\$) )
    """,
    regex.V1,
)


_ASCII_SIGNS = re.compile(r"[&\\~<!\[*_`$]")  # without one, all is plain
_SIGNS = regex.compile(rf"(?V1){_ASCII_SIGNS.pattern}|{INVISIBLE.pattern.removeprefix('(?V1)')}")


@dataclass(frozen=True, slots=True)
class _PlainText:
    """A text without what no reader sees. `starts` and `ends` are the places of its characters in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    is_whole: bool = False  # nothing is left out: all places are the same

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where characters [start, end), at least one, stand in the original."""
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=1024)
def plain_text(text: str) -> _PlainText:
    """Return a text without invisible characters and markup; an entity ("&amp;") is the character that it names."""
    text, signs = (text, _ASCII_SIGNS) if text.isascii() else (text.translate(_FULL_WIDTH), _SIGNS)
    if not signs.search(text):
        return _PlainText(text, range(len(text)), range(1, len(text) + 1), is_whole=True)
    parts, starts, ends = list[str](), list[int](), list[int]()
    at = 0
    for match in _MARKUP.finditer(text):
        piece = unescape(match[0]) if match["entity"] else " " if match["blank"] else ""
        piece = INVISIBLE.sub("", piece)
        parts += [text[at : match.start()], piece]
        starts += [*range(at, match.start()), *[match.start()] * len(piece)]
        ends += [*range(at + 1, match.start() + 1), *[match.end()] * len(piece)]
        at = match.end()
    parts.append(text[at:])
    starts += range(at, len(text))
    ends += range(at + 1, len(text) + 1)
    return _PlainText("".join(parts), tuple(starts), tuple(ends))

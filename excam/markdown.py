"""Texts as data inside Markdown: what a row holds is shown, letter by letter, and never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from excam.hostile import BIDI, FLAG, TAGS
from excam.records import CulturalError, Where

# What HTML, a table, a formula, code, emphasis or a link would take for itself; inside a line nothing else does.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", "`": "&#96;"}
_MARKUP = re.compile(r"[\\*_\[\]~@]|:(?=//)|(?<=www)\.", re.I)
_BREAK = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(f"[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f]|{BIDI}|{TAGS}|(?P<flag>{FLAG})")


def escaped(text: str) -> str:
    """A text as part of a line that shows it as it is; line breaks become <br>, control characters visible."""
    return "<br>".join(map(_escaped_line, _BREAK.split(text)))


def _escaped_line(line: str) -> str:
    visible = _UNPRINTABLE.sub(lambda found: found["flag"] or ascii(found[0])[1:-1], line).replace("\t", " ")
    plain = _MARKUP.sub(lambda found: "\\" + found[0], visible)
    return "".join(_ENTITIES.get(sign, sign) for sign in plain)


def marked(text: str, where: Where, errors: Iterable[CulturalError]) -> str:
    """A text, escaped, its erroneous words bold between brackets; a span inside a marked one is not marked again."""
    shown, at = "", 0
    for error in sorted((e for e in errors if e.where == where and e.start >= 0), key=lambda e: (e.start, -e.end)):
        if error.start >= at and error.end > error.start:
            wrong = escaped(text[error.start : error.end])
            shown += f"{escaped(text[at : error.start])}<strong>\\[{wrong}\\]</strong>"
            at = error.end
    return shown + escaped(text[at:])


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; cells are Markdown already (`escaped`, or plain numbers and names)."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def demoted(page: str, by: int) -> str:
    """A Markdown page with its headings `by` levels lower, to stand inside another page."""
    return re.sub(r"^(#{1,6}) ", lambda found: "#" * min(6, len(found[1]) + by) + " ", page.strip(), flags=re.M) + "\n"


def unlinked(page: str) -> str:
    """A Markdown page without its links to pages beside it, which are not there where it is quoted."""
    return re.sub(r"(?<!\\)\[([^\]\n]*)\]\([^):\n]*\.md\)", r"\1", page)

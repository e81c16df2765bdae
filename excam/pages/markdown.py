"""Texts as data inside Markdown: they are shown literally and never interpreted as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from excam.core.sanitize import BIDI, FLAG, TAGS

# Characters with a meaning in HTML, tables, formulas, code, emphasis or links; no others have one inside a line.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", "`": "&#96;"}
_MARKUP = re.compile(r"[\\*_\[\]~@]|:(?=//)|(?<=www)\.", re.I)
_BREAK = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(f"[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f]|{BIDI}|{TAGS}|(?P<flag>{FLAG})")


def escape(text: str) -> str:
    """Return a text escaped for one line of Markdown; line breaks become <br>, control characters visible escapes."""
    return "<br>".join(map(_escaped_line, _BREAK.split(text)))


def _escaped_line(line: str) -> str:
    visible = _UNPRINTABLE.sub(lambda match: match["flag"] or ascii(match[0])[1:-1], line).replace("\t", " ")
    plain = _MARKUP.sub(lambda match: "\\" + match[0], visible)
    return "".join(_ENTITIES.get(sign, sign) for sign in plain)


def printed_table(note: str, lines: Sequence[Mapping[str, str]], title: str = "Printed in the paper") -> str:
    """Return a section with what a paper prints, as it prints it."""
    body = [[escape(value) for value in line.values()] for line in lines]
    return f"\n## {title}\n\n{note}\n\n{table(list(lines[0]), body)}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; cells must be Markdown already (see `escape`)."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def rounded(value: float | None, digits: int = 2) -> str:
    """Return a number for a table, "n/a" for None; a minus is a minus sign."""
    if value is None:
        return "n/a"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """Return a number with its interval, if it has one."""
    interval = "" if low is None else f" [{rounded(low, digits)}, {rounded(high, digits)}]"
    return rounded(value, digits) + interval


def cautions(notes: Iterable[str]) -> str:
    """Return the section that says what numbers cannot show, "" without notes; they must be Markdown already."""
    lines = "".join(f"- {note}\n" for note in notes)
    return f"\n## Cautions\n\n{lines}" if lines else ""


def demote_headings(page: str, by: int) -> str:
    """Return a Markdown page with its headings `by` levels lower, for inclusion in another page."""
    return re.sub(r"^(#{1,6}) ", lambda match: "#" * min(6, len(match[1]) + by) + " ", page.strip(), flags=re.M) + "\n"


def remove_page_links(page: str) -> str:
    """Return a Markdown page with links to other Markdown files replaced by their text, for use elsewhere."""
    return re.sub(r"(?<!\\)\[((?:\\.|[^\[\]\\\n])*+)\]\([^():\n]*\.md\)", r"\1", page)

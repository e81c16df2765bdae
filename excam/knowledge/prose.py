"""Prose as people have it: the paragraphs of plain text, each below its headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import regex

from excam.core.text import SCRIPTS

HEADING_WORDS = 10  # of a line of plain text that is taken for a heading, at most
PAGE = "\ufdd0"  # in a text: here a page or a slide begins; a sign that no text holds
HEADS = 3  # pages, or all of fewer, that begin or end with one line before it is taken for a running head
HEAD_LINES = 3  # running heads at either end of a page, at most
LINE = 40  # characters of a full line, at least
_EMPTY_LINE = regex.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_HYPHEN = regex.compile(rf"(\p{{L}}+)[-\u2010\u00ad]\n[^\S\n]*({PAGE}*)(\p{{Ll}}[\p{{L}}\p{{M}}]*)")
_ENDS = regex.compile(r"[.!?…؟।。！？:;,][\"'”’»)\]」』]*$")
_UNSPACED = regex.compile(f"[{SCRIPTS}]")
# how a line begins that may go on with the one above: with a word, and with no number of a list
_GOING_ON = regex.compile(r"(?!\(?\d{1,3}[.)]\s)[\"'“‘«„(]?[\p{L}\p{N}]")
_UNDERLINE = regex.compile(r"\n[ \t]*(?:={3,}|-{3,}|~{3,})[ \t]*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph with the headings above it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """The paragraphs of a document, what it states of itself (licence, language, url ...), and how much is left out."""

    blocks: Sequence[Block]
    stated: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0  # running heads and page numbers, or hidden elements
    part: str = ""  # what a `PAGE` in the blocks begins: "page" or "slide"
    unread: str = ""  # what of the document has no text


class Outline:
    """Collects paragraphs below headings. A heading with nothing below it becomes a paragraph: no word is lost."""

    def __init__(self, title: str = "") -> None:
        """`title` stands above paragraphs that no heading of the first level is above."""
        self.title = title
        self._trail: list[tuple[int, str]] = []
        self._is_open = False  # whether the last heading waits for its first paragraph
        self._blocks: list[tuple[tuple[tuple[int, str], ...], str]] = []

    def heading(self, level: int, text: str) -> None:
        """Begin a section; `level` is 1 to 6."""
        self._close(level)
        self._trail = [above for above in self._trail if above[0] < level] + [(level, text)]
        self._is_open = True

    def paragraph(self, text: str) -> None:
        """Add a paragraph. One that follows a colon is part of the paragraph before it, as a list is."""
        trail = tuple(self._trail)
        if self._blocks and not self._is_open and self._blocks[-1][0] == trail and self._blocks[-1][1].endswith(":"):
            text = f"{self._blocks.pop()[1]}\n{text}"
        self._blocks.append((trail, text))
        self._is_open = False

    def blocks(self) -> list[Block]:
        """Return the paragraphs in order, titled by the headings above them."""
        self._close(0)
        return [Block(self._titled(trail), text) for trail, text in self._blocks]

    def _close(self, level: int) -> None:
        if self._is_open and self._trail[-1][0] >= level:
            self._blocks.append((tuple(self._trail[:-1]), self._trail[-1][1]))
        self._is_open = False

    def _titled(self, trail: Sequence[tuple[int, str]]) -> str:
        top = [] if any(level == 1 for level, _ in trail) else [self.title]
        names = [name for name in (*top, *(text for _, text in trail)) if name]
        return ": ".join(name for at, name in enumerate(names) if at == 0 or name != names[at - 1])


def read_plain(text: str, title: str) -> Prose:
    """Return the paragraphs of plain text, which empty lines part; a line alone above a paragraph is its heading.

    Lines of a paragraph are joined, and paragraphs that a page end parts; page numbers, and lines that many pages begin
    or end with, are left out and counted.
    """
    prose = read_pages(regex.sub(r"\r\n?", "\n", text).split("\f"), title)
    return Prose([Block(block.title, block.text.replace(PAGE, "")) for block in prose.blocks], {}, prose.left_out)


def read_pages(pages: Sequence[str], title: str) -> Prose:
    """Return the paragraphs of pages as `read_plain`, with a `PAGE` where the text of a page begins."""
    pages = [page.replace(PAGE, "").strip("\n") for page in pages]
    bodies, left_out = _without_heads(pages) if len(pages) > 1 else (pages, 0)
    joined = unwrapped(_joined_pages(bodies))
    marked = [paragraph.strip() for paragraph in _EMPTY_LINE.split(joined) if paragraph.strip()]
    paragraphs = [paragraph.replace(PAGE, "") for paragraph in marked]
    outline = Outline(title)
    above = ""  # marks of headings, which belong to what is below
    for at, paragraph in enumerate(paragraphs):
        heading = _heading(paragraph)
        if heading and at + 1 < len(paragraphs) and not _heading(paragraphs[at + 1]):
            outline.heading(2, heading)
            above += PAGE * marked[at].count(PAGE)
        else:
            outline.paragraph(above + (_UNDERLINE.sub("", marked[at]) if heading else marked[at]))
            above = ""
    return Prose(outline.blocks(), left_out=left_out)


def _heading(paragraph: str) -> str:
    """Return a paragraph as a heading, "" if it is none: one short line that no sentence ends, maybe underlined."""
    line = _UNDERLINE.sub("", paragraph)
    is_short = "\n" not in line and len(line.split()) <= HEADING_WORDS and any(map(str.isalpha, line))
    return line if is_short and not _ENDS.search(line) and len(line) <= 100 else ""


def _without_heads(pages: Sequence[str]) -> tuple[list[str], int]:
    """Return pages without running heads and a page number at either end, and how many lines those are."""
    bodies, left_out = list(pages), 0
    numbered: set[tuple[int, int]] = set()  # ends of pages whose number is left out
    for _ in range(HEAD_LINES):
        split = [page.strip().split("\n") for page in bodies]
        edges = Counter(head for lines in split for head in {_head(lines[0]), _head(lines[-1])})
        for page, lines in enumerate(split):
            for at in (0, -1):
                head = _head(lines[at]) if lines else ""
                is_repeated = head and edges[head] >= min(HEADS, len(pages))
                if lines and lines[at].strip() and (is_repeated or not (head or (page, at) in numbered)):
                    numbered.update(() if head else [(page, at)])
                    lines.pop(at)
                    left_out += 1
        bodies = ["\n".join(lines).strip("\n") for lines in split]
    return bodies, left_out


def _head(line: str) -> str:
    """Return a line without its page number, "" if it is nothing else."""
    return regex.sub(r"[\p{N}\s–—|/-]+", " ", line).strip()


def _joined_pages(pages: Sequence[str]) -> str:
    """Return the text of pages: a paragraph goes on if a page ends within a sentence and the next begins within one."""
    text = marks = ""
    for page in pages:
        marks += PAGE
        if page.strip():
            begins_within = bool(regex.match(r"\s*\p{Ll}", page))
            within = text and begins_within and (not _ENDS.search(text) or text[-1] in ",;")
            text += ("\n" if within else "\n\n") + marks + page.lstrip()
            marks = ""
    return text


def unwrapped(text: str) -> str:
    """Return a text with the lines of a paragraph in one, and words that a hyphen at a line end parts.

    A line goes on if it is about as long as lines of the text are, or half as long and the next begins with a small
    letter. So entries of lists and tables keep their lines. A hyphen that a word has elsewhere, too, stays.
    """
    compounds = {match.casefold() for match in regex.findall(r"\p{L}+-\p{L}+", text)}

    def joined(match: regex.Match[str]) -> str:
        is_compound = f"{match[1]}-{match[3]}".casefold() in compounds
        return f"{match[1]}{'-' if is_compound else ''}{match[3]}{match[2]}"

    lines = _HYPHEN.sub(joined, text).split("\n")
    full = max([LINE, *(_width(line) for line, below in pairwise(lines) if below.strip())])
    texts = lines[:1]
    for line, below in pairwise(lines):
        begun = below.lstrip().lstrip(PAGE).lstrip()
        needed = 0.4 if begun[:1].islower() else 0.8
        word = min(_width(begun.split(maxsplit=1)[0]), LINE / 2) if begun else 0
        end = line.rstrip()[-2:]
        goes_on = end[-1:] not in ("", ":", PAGE) and _GOING_ON.match(begun) and _width(line) + word > needed * full
        is_word = regex.match(r"\p{L}-", end) or (_UNSPACED.match(end[-1:]) and _UNSPACED.match(begun))
        texts[-1] = texts[-1].rstrip() if goes_on else texts[-1]
        marks = PAGE * (below.count(PAGE) - begun.count(PAGE))
        texts += [("" if is_word else " ") + marks + begun if goes_on else f"\n{below}"]
    return "".join(texts)


def _width(line: str) -> int:
    """Return how wide a line is, in letters; signs of scripts without spaces are taken as twice as wide."""
    return len(line.strip()) * (2 if _UNSPACED.search(line) else 1)

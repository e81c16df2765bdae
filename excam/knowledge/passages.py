"""A passage, the words of a text, and cutting a text into passages."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import regex

from excam.core.sentences import well_formed
from excam.core.text import INVISIBLE, SCRIPTS

VERSION = 3  # of words and passages; part of the identity of an index
LONGEST = 200  # words of a passage; a longer paragraph is cut
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_UNSPACED = regex.compile(f"[{SCRIPTS}]")
_EMPTY_LINE = regex.compile(r"\n\s*\n")
# where a long paragraph may be cut: behind a sentence and its quotes, or at the end of a line
_CUT = regex.compile(r"[.!?…؟।]+[\"'”’»)\]]*\s+|[。！？]+[」』”’]*\s*|\n+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a document. `id` is unique in an index: the document's, with #2, #3 ... for later paragraphs.

    `document` is the id of the document, `source` that of what the document was made from, such as a base sample of a
    benchmark; several are parted by line ends. `language` and `culture` are "" where the document states none.
    """

    id: str
    title: str
    text: str
    url: str = ""
    language: str = ""
    licence: str = ""
    revision: str = ""
    document: str = ""
    culture: str = ""
    source: str = ""

    @property
    def sources(self) -> list[str]:
        """Return the id of each thing that the document was made from."""
        return self.source.split("\n")

    @property
    def as_line(self) -> str:
        """Return the text below its title, as models read it."""
        return f"{self.title}: {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage with its score for a query, that of BM25."""

    passage: Passage
    score: float


def words(text: str) -> list[str]:
    """Return the words of a text in NFKC, case-folded, without invisible signs; by ICU if its script has no spaces."""
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())).casefold()
    if not _UNSPACED.search(plain):
        return _WORD.findall(plain)
    from icu4py.breakers import WordBreaker  # loads 40 MB of tables

    return [word for piece in WordBreaker(plain.replace("\0", " "), "root") for word in _WORD.findall(piece)]


def repeated(passages: Collection[Passage]) -> int:
    """Return how many passages have the title and text of an earlier one."""
    return len(passages) - len({(passage.title, passage.text) for passage in passages})


def overlap(text: str, passages: Sequence[str]) -> float | None:
    """Return the share of a text's words that stand in the best passage, 0 to 1: the floor without a model.

    None without passages, or for a text without words.
    """
    stated = words(text)
    if not passages or not stated:
        return None
    return max(sum(word in seen for word in stated) / len(stated) for seen in map(set, map(words, passages)))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which empty lines part, each of `LONGEST` words at most."""
    return [piece for paragraph in _EMPTY_LINE.split(text) for piece in pieces(paragraph)]


def pieces(paragraph: str) -> Iterator[str]:
    """Yield a paragraph in parts of `LONGEST` words at most, cut behind sentences where they are short enough.

    No word is in two parts, and none is lost. Words are those between blanks, or ICU's in a script without them.
    """
    piece: list[str] = []
    for sentence in _sentences(paragraph):
        tokens = _tokens(sentence)
        if piece and len(piece) + len(tokens) > LONGEST:
            yield "".join(piece).strip()
            piece = []
        piece += tokens
        while len(piece) > LONGEST:
            yield "".join(piece[:LONGEST]).strip()
            piece = piece[LONGEST:]
    if rest := "".join(piece).strip():
        yield rest


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _CUT.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    if start < len(text):
        yield text[start:]


def _tokens(text: str) -> list[str]:
    """Return a text cut behind each word; together they are the text."""
    if not _UNSPACED.search(text):
        return regex.findall(r"\s*\S+\s*|\s+", text)
    from icu4py.breakers import WordBreaker

    tokens: list[str] = []
    at = 0
    for piece in WordBreaker(well_formed(text), "root"):
        part = text[at : (at := at + len(piece))]
        if tokens and not _WORD.search(part):
            tokens[-1] += part
        else:
            tokens.append(part)
    return tokens

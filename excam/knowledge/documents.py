"""Documents of a knowledge pack: files and folders as people have them become passages.

Tables of documents (JSON Lines, CSV, Parquet ...), Wikipedia extracts, Mango's assertions, Markdown, HTML, plain text.
A document without a licence is refused. What is left out is named: a file or a row becomes passages, or is skipped.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import isnan
from pathlib import Path
from typing import Any

import regex

from excam.core import encodings, row_files
from excam.core.command_input import refuse_address
from excam.core.exceptions import InputInvalid
from excam.core.folders import files_below, is_hidden, refuse_special
from excam.core.hashing import sha256
from excam.core.row_layouts import MAX_ROW, PACKED, START, mistaken_for
from excam.core.row_layouts import SUFFIXES as TABLES
from excam.core.text import id_text, is_text
from excam.knowledge import markdown, prose, web_page
from excam.knowledge.passages import Passage, paragraphs, pieces

PASSAGES, INDEX = "passages.parquet", "index.json"
FILES = (INDEX, PASSAGES)  # of a pack
EMBEDDINGS, ENCODER = "embeddings.safetensors", "encoder.path"  # more of a pack with embeddings
NEEDED = ("id", "text", "licence")  # of a document
NUMBERS = ("id", "title", "revision")  # of a document, where a whole number is taken as text
MANGO_LICENCE = "CC-BY-4.0"  # Nguyen et al., CIKM 2024: the data set's page
PROSE: Mapping[str, tuple[str, Callable[[str, str], prose.Prose]]] = {
    **dict.fromkeys((".md", ".markdown"), ("Markdown", markdown.read_markdown)),
    **dict.fromkeys((".html", ".htm", ".xhtml"), ("HTML", web_page.read_html)),
    **dict.fromkeys((".txt", ".text"), ("plain text", prose.read_plain)),
}
_WIKI = regex.compile(r"wiki_\d+")  # files of wikiextractor have no suffix
_PDF = "a PDF; expected its text; save it with `pdftotext FILE`"
_OFFICE = "a document of an office program; expected text; save it as HTML or plain text"
_ADVICE = {".pdf": _PDF, **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".epub"), _OFFICE)}
_UNLICENSED = "give it with --licence NAME; of your own texts any words do, such as --licence 'not published'"
_HEADING_WORDS = 4  # of a line of a Wikipedia extract that is taken for a heading, at most


@dataclass(frozen=True, slots=True)
class Stated:
    """What holds for documents that do not say it themselves."""

    language: str = ""
    culture: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its name below the source, its kind, its SHA-256, its documents and passages."""

    name: str
    kind: str
    sha256: str
    documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a row of one, that became no passage, and why."""

    where: str
    reason: str


@dataclass(slots=True)
class Reading:
    """The passages of files and folders, in the order of the files, and what became of each file."""

    sources: Sequence[Path]
    stated: Stated
    passages: list[Passage] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: int = 0  # running heads, page numbers and hidden elements

    def facts(self) -> dict[str, Any]:
        """Return what a pack records of its making: the options and the files, without folders of this machine."""
        options = {name: value for name, value in asdict(self.stated).items() if value}
        return {"options": options, "files": [asdict(file) for file in self.files]}


def read(sources: Sequence[Path], stated: Stated = Stated()) -> Reading:  # it is frozen
    """Return the passages of files, and of all files below folders, hidden ones apart, in the order of their names.

    A row of a table has `id`, `text` and `licence`, and may have `title`, `url`, `language`, `culture`, `revision`, and
    `source` or a list `sources`; empty lines part its paragraphs. A file of prose is a document of its own, with its
    name as its id.

    Raises InputInvalid naming a document without these, with one that is no text (`NUMBERS` may be whole numbers), or
    an id that occurs twice, be it of two documents, or of a document and a later paragraph of another; a file that was
    given itself and cannot be read; and sources without a document.
    """
    reading = Reading(sources, stated)
    ids: set[str] = set()
    for file, name in files_of(sources, reading.skipped):
        try:
            kind, documents, lines = _file(file, name, stated, reading.skipped)
        except _Unusable as problem:
            if file in sources:
                raise InputInvalid(f"{file}: {problem}") from None
            reading.skipped.append(Skipped(name, str(problem)))
            continue
        before, count = len(reading.passages), 0
        for where, passages in documents:
            count += 1
            for passage in passages:
                if passage.id in ids:
                    at = f"{where}: document {passage.document}"
                    raise InputInvalid(f"{at}: id {passage.id} of a passage occurs twice; expected unique ids")
                ids.add(passage.id)
                reading.passages.append(passage)
        reading.left_out += lines
        if added := len(reading.passages) - before:
            reading.files.append(SourceFile(name, kind, sha256(file), count, added))
    if not reading.passages:
        where = ", ".join(map(str, sources))
        first = f" ({reading.skipped[0].where}: {reading.skipped[0].reason})" if reading.skipped else ""
        raise InputInvalid(
            f"{where}: no documents{first}; expected tables of id, text, licence, or files of {', '.join(PROSE)}"
        )
    return reading


def files_of(sources: Sequence[Path], skipped: list[Skipped]) -> list[tuple[Path, str]]:
    """Return the files of sources, each once, with its name below its source. Hidden files and packs are left out.

    A link out of a folder is not followed and added to `skipped`: what it leads to was not given to be read.
    """
    named_files: dict[str, tuple[Path, str]] = {}
    for source in sources:
        refuse_address(source)
        refuse_special(source)
        if not source.exists():
            raise InputInvalid(f"{source}: no such file or folder; expected documents")
        leading_out: list[Path] = []
        for file in files_below(source, leading_out) if source.is_dir() else [source]:
            below = file.relative_to(source) if source.is_dir() else Path(file.name)
            is_pack = file.name in (*FILES, EMBEDDINGS, ENCODER) and (file.parent / INDEX).is_file()
            if file == source or not (is_hidden(below) or is_pack):
                named_files.setdefault(os.path.realpath(file), (file, below.as_posix()))
        reason = f"a link out of {source}; expected files in it; to have it read, give what it leads to"
        for link in leading_out:
            if not is_hidden(below := link.relative_to(source)):
                skipped.append(Skipped(below.as_posix(), reason))
    return list(named_files.values())


class _Unusable(Exception):  # never leaves this module
    """Raised for a file that holds no documents; its text says what it is."""


Documents = Iterator[tuple[str, list[Passage]]]  # where a document stands, and its passages


def _file(file: Path, name: str, stated: Stated, skipped: list[Skipped]) -> tuple[str, Documents, int]:
    """Return the kind of a file, its documents, and how much of it is left out."""
    suffix = file.suffix.lower()
    if not file.is_file():
        raise _Unusable("a link to nothing; expected a file")
    if suffix in PROSE:
        kind, reader = PROSE[suffix]
        content = reader(_text(file), Path(name).stem.replace("_", " ").replace("-", " "))
        if not content.blocks:
            raise _Unusable("no text")
        return kind, iter([(str(file), _prose(name, content, stated, str(file)))]), content.left_out
    suffixes = [part.lower() for part in file.suffixes if part.lower() not in PACKED]
    if not (suffixes and suffixes[-1] in TABLES) and not _WIKI.fullmatch(file.name.partition(".")[0]):
        expected = f"expected tables of documents, or {', '.join(PROSE)}"
        raise _Unusable(_ADVICE.get(suffix, f"of no known type; {expected}"))
    kind = _table_kind(file)
    return kind, _rows(file, name, kind, stated, skipped), 0


# --- tables of documents


def _table_kind(file: Path) -> str:
    """Return what the rows of a table are by its first: documents, Wikipedia's or Mango's."""
    row = next((row for _, row in row_files.rows(file)), None)
    if row is None:
        raise _Unusable("no row")
    if {"assertion", "culture", "concept"} <= row.keys() and "text" not in row:
        return "Mango"
    if absent := [name for name in ("id", "text") if name not in row]:
        raise _Unusable(f"no column {', '.join(absent)}; found {', '.join(map(str, row))[:100]}")
    return "Wikipedia" if "curid=" in str(row.get("url")) and "licence" not in row else "documents"


def _rows(file: Path, name: str, kind: str, stated: Stated, skipped: list[Skipped]) -> Documents:
    for number, row in row_files.rows(file):
        where = f"{file}:{number}"
        if kind == "documents":
            document = _document(row, where, stated)
            yield where, _numbered(document, [(document.title, text) for text in paragraphs(document.text)])
            continue
        text = row.get("assertion" if kind == "Mango" else "text")
        if text is None or (isinstance(text, str) and not text.strip()):
            skipped.append(Skipped(f"{name}:{number}", "no text"))
            continue
        if kind == "Mango":
            document = _document(_of_mango(row), where, replace(stated, licence=stated.licence or MANGO_LICENCE))
            yield where, _numbered(document, [(document.title, text) for text in pieces(document.text)])
        else:
            document = _document(_of_wikipedia(row), where, stated)
            yield where, _numbered(document, _sections(document))


def _of_mango(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"language": "en"} | dict(row) | {"text": row["assertion"], "title": row["concept"]}


def _of_wikipedia(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of wikiextractor as a document: ids are numbers there, and each Wikipedia has its own."""
    match = regex.match(r"https?://([a-z-]+)\.(?:m\.)?wikipedia\.org/", str(row.get("url")))
    text = html.unescape(row["text"]) if isinstance(row["text"], str) else row["text"]
    from_address = {"language": match[1]} if match else {}
    return from_address | dict(row) | {"id": row["url"], "text": text, "revision": row.get("revid")}


def _sections(document: Passage) -> list[tuple[str, str]]:
    """Return title and text of the paragraphs of a Wikipedia extract, a line each; a short line is a heading."""
    lines = [line.strip() for line in document.text.split("\n") if line.strip()]
    outline = prose.Outline(document.title)
    for at, line in enumerate(lines):
        if at == 0 and line == document.title and len(lines) > 1:
            continue
        is_short = len(line.split()) <= _HEADING_WORDS and at + 1 < len(lines)
        if is_short and len(lines[at + 1].split()) > _HEADING_WORDS and any(map(str.isalpha, line)):
            outline.heading(2, line.strip("# ").removesuffix("."))
        else:
            outline.paragraph(line)
    return [(block.title, piece) for block in outline.blocks() for piece in pieces(block.text)]


def _document(row: Mapping[str, Any], where: str, stated: Stated) -> Passage:
    values = {column.name: _field(row, column.name, where) for column in fields(Passage) if column.name != "document"}
    values["source"] = values["source"] or _sources(row, where) or values["id"]
    for name in ("language", "culture", "licence"):
        values[name] = values[name] if values[name].strip() else getattr(stated, name)
    if absent := [name for name in NEEDED if not values[name].strip()]:
        advice = f"; {_UNLICENSED}" if absent == ["licence"] else ""
        raise InputInvalid(f"{where}: document {values['id'][:60]}: no {', '.join(absent)}; expected each{advice}")
    return Passage(**values, document=values["id"])


def _sources(row: Mapping[str, Any], where: str) -> str:
    """Return the list `sources` of a document that was made from several things, a line each; "" without one."""
    sources = row.get("sources")
    if sources is None or sources == "":
        return ""
    if not isinstance(sources, list) or not all(is_text(source) and source.strip() for source in sources):
        raise InputInvalid(f"{where}: sources: found {type(sources).__name__}; expected a list of texts")
    return "\n".join(" ".join(source.split()) for source in sources)


def _field(row: Mapping[str, Any], name: str, where: str) -> str:
    """Return a field of a document as text, "" for a null or NaN. Raises InputInvalid for what is no text."""
    value = row.get(name)
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    text = id_text(value) if name in NUMBERS and not isinstance(value, str) else value
    if not is_text(text):
        kind = "a lone surrogate" if isinstance(value, str) else type(value).__name__
        shown = str(row.get("id"))[:60]
        raise InputInvalid(f"{where}: document {ascii(shown)[1:-1]}: {name}: found {kind}; expected text")
    return text


def _numbered(document: Passage, passages: Sequence[tuple[str, str]]) -> list[Passage]:
    """Return title and text of each passage as passages of their document."""
    return [
        replace(document, id=document.id if number == 1 else f"{document.id}#{number}", title=title, text=text)
        for number, (title, text) in enumerate(passages, 1)
    ]


# --- prose


def _prose(name: str, content: prose.Prose, stated: Stated, where: str) -> list[Passage]:
    own = content.stated
    values = {option.name: own.get(option.name) or getattr(stated, option.name) for option in fields(Stated)}
    if not values["licence"]:
        raise InputInvalid(f"{where}: no licence; expected one; {_UNLICENSED}")
    rest = {"url": own.get("url", ""), "revision": own.get("revision", ""), "source": own.get("source", "") or name}
    document = Passage(name, "", "", document=name, **values, **rest)
    return _numbered(document, [(block.title, piece) for block in content.blocks for piece in pieces(block.text)])


def _text(file: Path) -> str:
    """Return the text of a file of prose in its encoding. Raises _Unusable for one that is no text."""
    if file.stat().st_size > MAX_ROW:
        raise _Unusable(f"more than {MAX_ROW} bytes; expected shorter documents")
    content = file.read_bytes()
    start = content[:START]
    is_page = file.suffix.lower() in (".html", ".htm", ".xhtml")
    if not is_page and (mistake := mistaken_for(start)):
        raise _Unusable(mistake)
    encoding = encodings.by_first_bytes(start) or encodings.of_lines(content.splitlines(keepends=True))
    if not isinstance(encoding, str):
        declared = regex.search(rb"<meta[^>]+charset=[\"']?([\w-]+)", start) if is_page else None
        if not declared:
            raise _Unusable(f"not UTF-8 ({encoding.found}); expected UTF-8; save the file as UTF-8")
        encoding = declared[1].decode("ascii")
    try:
        text = content.decode(encoding)
    except (UnicodeError, LookupError):
        raise _Unusable(f"not {encoding}; expected UTF-8; save the file as UTF-8") from None
    if "\0" in text:
        raise _Unusable("not a text; expected one")
    return text.removeprefix("\ufeff")

"""Documents of a knowledge pack: files and folders as people have them become passages.

Tables of documents (JSON Lines, CSV, Parquet, XLSX ...), Markdown, HTML, plain text, PDF, DOCX, PPTX, EPUB. A document
without a licence is refused. What is left out is named: a file or a row becomes passages, or is skipped.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

import regex

from excam.core import encodings, row_files
from excam.core.command_input import refuse_address
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.extras import NotInstalled
from excam.core.folders import files_below, is_hidden, refuse_special
from excam.core.hashing import sha256
from excam.core.package_tables import table_rows
from excam.core.row_layouts import MAX_ROW, PACKED, START, mistaken_for
from excam.core.row_layouts import SUFFIXES as TABLES
from excam.core.text import id_text, is_text
from excam.knowledge import markdown, office_files, prose, web_page
from excam.knowledge.passages import Passage, paragraphs, pieces

PASSAGES, INDEX = "passages.parquet", "index.json"
FILES = (INDEX, PASSAGES)  # of a pack
NEEDED = ("id", "text", "licence")  # of a document
NUMBERS = ("id", "title", "revision")  # of a document, where a whole number is taken as text
PROSE: Mapping[str, tuple[str, Callable[[str, str], prose.Prose]]] = {
    **dict.fromkeys((".md", ".markdown"), ("Markdown", markdown.read_markdown)),
    **dict.fromkeys((".html", ".htm", ".xhtml"), ("HTML", web_page.read_html)),
    **dict.fromkeys((".txt", ".text"), ("plain text", prose.read_plain)),
}
OFFICE: Mapping[str, tuple[str, Callable[[Path, str], prose.Prose]]] = {
    ".pdf": ("PDF", office_files.read_pdf),
    **{f".{name.lower()}": (name, office_files.read_office) for name in ("DOCX", "PPTX", "EPUB")},
}
WORKBOOK = ".xlsx"
OLDER = {".doc": "docx", ".odt": "docx", ".rtf": "docx", ".ppt": "pptx", ".odp": "pptx", ".xls": "xlsx", ".ods": "xlsx"}
EXPECTED = f"tables of documents, or files of {', '.join((*PROSE, *OFFICE, WORKBOOK))}"
_UNLICENSED = "give it with --licence NAME; of your own texts any words do, such as --licence 'not published'"


@dataclass(frozen=True, slots=True)
class DocumentDefaults:
    """What holds for documents that do not say it themselves."""

    language: str = ""
    culture: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class _SourceFile:
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
class DocumentReading:
    """The passages of files and folders, in the order of the files, and what became of each file."""

    sources: Sequence[Path]
    stated: DocumentDefaults
    passages: list[Passage] = field(default_factory=list)
    files: list[_SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unread: int = 0  # files that became no passage
    notes: list[str] = field(default_factory=list)  # columns that were found by what their names mean
    left_out: int = 0  # running heads, page numbers and hidden elements

    def facts(self) -> dict[str, Any]:
        """Return what a pack records of its making: the options and the files, without folders of this machine."""
        options = {name: value for name, value in asdict(self.stated).items() if value}
        return {"options": options, "files": [asdict(file) for file in self.files]}


class NothingRead(InputInvalid):
    """There are sources, and none of them has a document that can be read."""


def read(sources: Sequence[Path], stated: DocumentDefaults = DocumentDefaults()) -> DocumentReading:  # it is frozen
    """Return the passages of files, and of all files below folders, hidden ones apart, in the order of their names.

    A row of a table has `id`, `text` and `licence`, and may have `title`, `url`, `language`, `culture`, `revision`, and
    `source` or a list `sources`; empty lines part its paragraphs. In a table without the columns id and text, they are
    found by what their names mean, and rows without an id are numbered. A file of prose is a document of its own, with
    its name as its id; passages of a PDF have their page in theirs.

    Raises InputInvalid naming a document without these, with one that is no text (`NUMBERS` may be whole numbers), or
    an id that occurs twice, be it of two documents, or of a document and a later paragraph of another; a file that was
    given itself and cannot be read; and NothingRead for sources without a document.
    """
    reading = DocumentReading(sources, stated)
    ids: set[str] = set()
    for file, name in files_of(sources, reading.skipped):
        try:
            kind, documents = _file(file, name, reading)
        except (_Unusable, NotInstalled) as problem:
            if file in sources:
                raise NothingRead(f"{file}: {problem}") from None
            reading.skipped.append(Skipped(name, str(problem)))
            reading.unread += 1
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
        added = len(reading.passages) - before
        reading.unread += not added
        if added:
            reading.files.append(_SourceFile(name, kind, sha256(file), count, added))
    if not reading.passages:
        where = ", ".join(map(str, sources))
        first = f" ({reading.skipped[0].where}: {reading.skipped[0].reason})" if reading.skipped else ""
        raise NothingRead(f"{where}: no documents{first}; expected {EXPECTED}")
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
            raise InputInvalid(
                f"{source}: no such file or folder; expected documents, as in `excam knowledge build notes/ --to pack`"
            )
        leading_out: list[Path] = []
        for file in files_below(source, leading_out) if source.is_dir() else [source]:
            below = file.relative_to(source) if source.is_dir() else Path(file.name)
            is_pack = file.name in FILES and (file.parent / INDEX).is_file()
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


def _file(file: Path, name: str, reading: DocumentReading) -> tuple[str, Documents]:
    """Return the kind of a file and its documents; what is left out of it is counted in `reading`."""
    suffix = file.suffix.lower()
    title = Path(name).stem.replace("_", " ").replace("-", " ")
    if not file.is_file():
        raise _Unusable("a link to nothing; expected a file")
    if suffix in PROSE:
        kind, reader = PROSE[suffix]
        return kind, _prose(file, name, reader(_text(file), title), reading)
    try:
        if suffix in OFFICE:
            kind, office_reader = OFFICE[suffix]
            return kind, _prose(file, name, office_reader(file, title), reading)
        if suffix == WORKBOOK:
            sheets = list(office_files.sheets(file))
            return "workbook", (
                document for sheet, rows in sheets for document in _sheet(file, name, sheet, rows, reading)
            )
    except InputInvalid as problem:
        raise _Unusable(str(problem)) from None
    suffixes = [part.lower() for part in file.suffixes if part.lower() not in PACKED]
    if not (suffixes and suffixes[-1] in TABLES):
        convert = f"convert it: `soffice --headless --convert-to {OLDER.get(suffix)} {shlex.quote(file.name)}`"
        raise _Unusable(f"of no known type; expected {EXPECTED}" + (f"; {convert}" if suffix in OLDER else ""))
    row = next((row for _, row in row_files.rows(file)), None)
    if row is None:
        raise _Unusable("no row")
    columns = _columns(row)
    if "text" not in columns:
        raise _Unusable(f"no column text, nor one that means it; found {in_a_line(', '.join(row))}; rename one to text")
    _note(name, columns, reading)
    return "documents", _rows(file, name, row_files.rows(file), columns, reading)


# --- tables of documents


@cache
def _usual_names() -> dict[str, frozenset[str]]:
    """Return the usual names of each column of a document, in lower case and without `_`."""
    lines = table_rows("excam.knowledge", "column_names.tsv")[1:]
    return {column: frozenset(names.replace("_", " ") for names in usual.split()) for column, usual in lines}


def _columns(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each column of a document in a table, by its first row.

    Names are looked at for what they mean only where id or text is not there by its name.
    """
    columns = {column: column for column in _usual_names() if column in row}
    if {"id", "text"} <= columns.keys():
        return columns
    for column, usual in _usual_names().items():
        free = [name for name in row if name not in columns.values()]
        names = [name for name in free if " ".join(name.replace("_", " ").casefold().split()) in usual]
        if column not in columns and len(names) > 1 and column == "text":
            raise _Unusable(f"columns {', '.join(names)}: each may be the text; rename one to text")
        if column not in columns and len(names) == 1:
            columns[column] = names[0]
    return columns


def _note(name: str, columns: Mapping[str, str], reading: DocumentReading) -> None:
    renamed = [f"{in_a_line(theirs)} as {column}" for column, theirs in columns.items() if theirs != column]
    if renamed:
        reading.notes.append(f"{name}: read {', '.join(renamed)}")


def _sheet(file: Path, name: str, sheet: str, rows: Sequence[Mapping[str, Any]], reading: DocumentReading) -> Documents:
    """Yield the rows of a sheet of a workbook as documents, or, if no column means a text, each as what it says."""
    if not rows:
        return
    where = f"{name}:{sheet}"
    columns = _columns(rows[0])
    numbered = enumerate(({column: _cell(value) for column, value in row.items()} for row in rows), 2)  # 1: the header
    if "text" in columns:
        _note(where, columns, reading)
        yield from _rows(file, where, numbered, columns, reading)
        return
    for number, row in numbered:
        if text := "; ".join(f"{column}: {value}" for column, value in row.items() if value.strip()):
            entry = {"id": f"{where}:{number}", "title": sheet, "text": text, "source": name}
            document = replace(_document(entry, f"{file}:{sheet}:{number}", reading.stated), document=name)
            yield f"{file}:{sheet}:{number}", [document]


def _cell(value: Any) -> str:
    """Return a cell of a workbook as text: of a whole number without a point, of a day without its time."""
    if value is None:
        return ""
    return (id_text(value) if isinstance(value, float) else None) or str(value).removesuffix(" 00:00:00")


Rows = Iterable[tuple[int, Mapping[str, Any]]]


def _rows(file: Path, name: str, rows: Rows, columns: Mapping[str, str], reading: DocumentReading) -> Documents:
    """Yield the rows of a table as documents, numbered without a column of ids; one without a text is skipped."""
    numbers = {} if "id" in columns else {"id": name}
    for number, row in rows:
        entry = {**row, **{column: row.get(theirs) for column, theirs in columns.items()}}
        entry |= {column: f"{place}:{number}" for column, place in numbers.items()}
        if entry["text"] is None or (isinstance(entry["text"], str) and not entry["text"].strip()):
            reading.skipped.append(Skipped(f"{name}:{number}", "no text"))
            continue
        where = f"{file}:{number}"
        document = _document(entry, where, reading.stated)
        texts = paragraphs(prose.unwrapped(document.text))
        yield where, _numbered(document, [(document.title, text) for text in texts])


def _document(row: Mapping[str, Any], where: str, stated: DocumentDefaults) -> Passage:
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
        id_ = str(row.get("id"))[:60]
        raise InputInvalid(f"{where}: document {ascii(id_)[1:-1]}: {name}: found {kind}; expected text")
    return text


def _numbered(document: Passage, passages: Sequence[tuple[str, str]]) -> list[Passage]:
    """Return title and text of each passage as passages of their document."""
    return [
        replace(document, id=document.id if number == 1 else f"{document.id}#{number}", title=title, text=text)
        for number, (title, text) in enumerate(passages, 1)
    ]


# --- prose


def _prose(file: Path, name: str, content: prose.Prose, reading: DocumentReading) -> Documents:
    if not content.blocks:
        raise _Unusable(content.unread or "no text")
    if content.unread:
        reading.skipped.append(Skipped(name, content.unread))
    reading.left_out += content.left_out
    tags, stated = content.stated, reading.stated
    values = {option.name: tags.get(option.name) or getattr(stated, option.name) for option in fields(DocumentDefaults)}
    if not values["licence"]:
        raise InputInvalid(f"{file}: no licence; expected one; {_UNLICENSED}")
    rest = {"url": tags.get("url", ""), "revision": tags.get("revision", ""), "source": tags.get("source", "") or name}
    document = Passage(name, "", "", document=name, **values, **rest)
    texts = [(block.title, piece) for block in content.blocks for piece in pieces(block.text)]
    numbered = _paged(document, texts, content.part) if content.part else _numbered(document, texts)
    return iter([(str(file), numbered)])


def _paged(document: Passage, texts: Sequence[tuple[str, str]], part: str) -> list[Passage]:
    """Return texts as passages with the page that each begins on: `a.pdf#page=3`, `a.pdf#page=3#2`."""
    passages: list[Passage] = []
    on_page: Counter[str] = Counter()
    page = 0
    for title, text in texts:
        begins = page + len(text) - len(text.lstrip(prose.PAGE))
        page += text.count(prose.PAGE)
        place = f"{document.id}#{part}={begins}"
        on_page[place] += 1
        name = place if on_page[place] == 1 else f"{place}#{on_page[place]}"
        passages.append(replace(document, id=name, title=title, text=text.replace(prose.PAGE, "")))
    return passages


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

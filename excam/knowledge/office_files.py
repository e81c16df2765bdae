"""PDF, DOCX, PPTX and EPUB files as prose, sheets of workbooks as rows, by the libraries of the extra `documents`.

Nothing is fetched. Text that such a file hides is read: these libraries do not tell it from the rest.
"""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import regex

from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.extras import require_extra
from excam.core.row_files import header_names
from excam.core.row_layouts import MAX_ROW
from excam.core.sentences import well_formed
from excam.core.tables import read_sheet, sheet_names
from excam.knowledge.markdown import read_markdown
from excam.knowledge.prose import PAGE, Block, Prose, read_pages

T = TypeVar("T")
EXTRA = "documents"
_SLIDE = regex.compile(r"<!-- Slide number: \d+ -->")
_CONTROL = regex.compile(r"[\0-\x08\x0e-\x1f]")  # fonts without names of letters leave such signs
_LIGATURE = regex.compile("[\ufb00-\ufb06]")  # ff, fi, fl ... as one sign
_SCANNED = "without text; if they are pictures of it, `ocrmypdf IN.pdf OUT.pdf` adds the text"


def read_pdf(file: Path, title: str) -> Prose:
    """Return the paragraphs of a PDF with their pages, below the title that it states if its first page has it."""
    require_extra(EXTRA, "pdfminer")
    from pdfminer.high_level import extract_text
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfparser import PDFParser
    from pdfminer.pdftypes import resolve1
    from pdfminer.utils import decode_text

    def stated_title() -> str:
        with file.open("rb") as stream:
            titles = [resolve1(info["Title"]) for info in PDFDocument(PDFParser(stream)).info if "Title" in info]
            return " ".join(decode_text(titles[0]).split()) if titles and isinstance(titles[0], bytes) else ""

    text = _CONTROL.sub("", well_formed(_whole(lambda: extract_text(str(file)))))
    text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    pages = text.removesuffix("\f").split("\f")
    stated = _whole(stated_title)
    title = stated if stated in " ".join(pages[0].split()) and stated else title
    empty = [number for number, page in enumerate(pages, 1) if not page.strip()]
    unread = f"{len(empty)} of {len(pages)} pages (first: {empty[0]}) {_SCANNED}" if empty else ""
    prose = read_pages(pages, title)
    return Prose(prose.blocks, {}, prose.left_out, "page", unread)


def read_office(file: Path, title: str) -> Prose:
    """Return the paragraphs of a DOCX or EPUB file, those of a PPTX file with their slides."""
    require_extra(EXTRA, "markitdown")
    from markitdown import StreamInfo, converters

    suffix = file.suffix.lower()
    readers = {".docx": converters.DocxConverter, ".pptx": converters.PptxConverter, ".epub": converters.EpubConverter}

    def convert() -> str:
        _refuse_bomb(file)
        with file.open("rb") as stream:
            return readers[suffix]().convert(stream, StreamInfo(extension=suffix)).markdown

    text = _CONTROL.sub("", well_formed(_whole(convert)))
    if suffix != ".pptx":
        return Prose(_markdown(text, title))
    return Prose(_marked(_markdown(slide, title) for slide in _SLIDE.split(text)[1:]), {}, 0, "slide")


def sheets(file: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the name and the rows of each sheet of a workbook, also its empty rows, so that they are numbered right."""

    def read(sheet: str) -> list[tuple[str | None, ...]]:
        return _whole(lambda: read_sheet(file, sheet))

    require_extra(EXTRA, "fastexcel")
    _whole(lambda: _refuse_bomb(file))
    for name in _whole(lambda: sheet_names(file)):
        header, *lines = read(name) or [()]
        names = header_names(f"sheet {name}", header)
        yield name, [dict(zip(names, line, strict=True)) for line in lines]


def _whole(read: Callable[[], T]) -> T:
    """Return what a library makes of a file. Raise InputInvalid for a file in which it finds anything wrong."""
    try:
        return read()
    except Exception as problem:  # what these libraries raise for a broken file is no closed list
        advice = "; save it without its password" if "assword" in type(problem).__name__ else "; open and save it again"
        raise InputInvalid(f"cannot be read ({in_a_line(problem)}){advice}") from None


def _refuse_bomb(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        size = sum(part.file_size for part in archive.infolist() if part.filename.endswith("ml"))
    if size > MAX_ROW:
        raise ValueError(f"{size} bytes of text; expected {MAX_ROW} at most")


def _markdown(text: str, title: str) -> list[Block]:
    return list(read_markdown(f"\n{text}", title).blocks)  # a rule in the first line is no front matter


def _marked(parts: Iterable[list[Block]]) -> list[Block]:
    """Return the blocks of slides, with a mark before the first of each."""
    blocks: list[Block] = []
    marks = ""
    for part in parts:
        marks += PAGE
        for block in part:
            blocks.append(Block(block.title, marks + block.text))
            marks = ""
    return blocks

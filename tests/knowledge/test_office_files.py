"""PDF, DOCX, PPTX, XLSX and EPUB files become passages, cited with page, slide or row."""

import zipfile
from datetime import date

import polars as pl
import pytest
from one_line_errors import line_of

from excam.knowledge import documents
from excam.knowledge.documents import DocumentDefaults

LICENSED = DocumentDefaults(licence="CC0-1.0")


def zipped(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)


def paragraph(text, style=""):
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def office_files(place):
    """Write a PDF of four pages, the third without text, a document, slides, a workbook and a book."""
    pptx, xlsxwriter = pytest.importorskip("pptx"), pytest.importorskip("xlsxwriter")
    from matplotlib import pyplot, rc_context
    from matplotlib.backends.backend_pdf import PdfPages

    place.mkdir()
    texts = ("Tea is drunk with salt.\n\n\nGuests bring dark bread, for bread-", "less meals are an insult.", "")
    with rc_context({"pdf.fonttype": 42}), PdfPages(place / "book.pdf") as pages:
        for text in (*texts, "The groom wears a blue coat."):
            figure = pyplot.figure()
            figure.text(0.1, 0.5, text)
            pages.savefig(figure)
            pyplot.close(figure)
    body = paragraph("Names", "Heading1") + paragraph("A child is named on the ninth day.")
    office = "http://schemas.openxmlformats.org"
    types = f"{office}/officeDocument/2006/relationships/officeDocument"
    link = f'<Relationship Id="r1" Type="{types}" Target="word/document.xml"/>'
    zipped(
        place / "names.docx",
        {
            "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships">{link}</Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{office}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>',
        },
    )
    slides = pptx.Presentation()
    for title in ("Houses", "Music"):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, f"{title} are of larch."
    slides.save(place / "slides.pptx")
    facts = pl.DataFrame({"Topic": ["Law", None, "Year"], "Fact": ["Debts end.", None, "It begins in March."]})
    prices = pl.DataFrame({"Ware": ["eel"], "Price": [12], "Since": [date(1901, 3, 1)]})
    with xlsxwriter.Workbook(place / "facts.xlsx") as workbook:
        facts.write_excel(workbook, "Facts")
        prices.write_excel(workbook, "Prices")
    chapter = "<html><body><h1>The eel</h1><p>An eel carries the moon.</p></body></html>"
    opf = '<manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine>'
    zipped(
        place / "tales.epub",
        {
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
            "a.opf": f"<package>{opf}</package>",
            "c.xhtml": chapter,
        },
    )


def test_documents_as_people_have_them(tmp_path):
    office_files(tmp_path / "d")
    reading = documents.read([tmp_path / "d"], LICENSED)
    assert [(each.id, each.title, each.text) for each in reading.passages] == [
        ("book.pdf#page=1", "book", "Tea is drunk with salt."),
        ("book.pdf#page=1#2", "book", "Guests bring dark bread, for breadless meals are an insult."),
        ("book.pdf#page=4", "book", "The groom wears a blue coat."),
        ("facts.xlsx:Facts:2", "Law", "Debts end."),
        ("facts.xlsx:Facts:4", "Year", "It begins in March."),
        ("facts.xlsx:Prices:2", "Prices", "Ware: eel; Price: 12; Since: 1901-03-01"),
        ("names.docx", "Names", "A child is named on the ninth day."),
        ("slides.pptx#slide=1", "Houses", "Houses are of larch."),
        ("slides.pptx#slide=2", "Music", "Music are of larch."),
        ("tales.epub", "The eel", "An eel carries the moon."),
    ]
    assert {each.document for each in reading.passages} >= {"book.pdf", "slides.pptx", "facts.xlsx"}
    assert [(each.where, each.reason[:29]) for each in reading.skipped] == [
        ("book.pdf", "1 of 4 pages (first: 3) witho"),
        ("facts.xlsx:Facts:3", "no text"),
    ]


@pytest.mark.parametrize("count", [2, 3])
def test_a_printed_page_without_its_heads_below_its_title(tmp_path, count):
    """The title that a file states stands above all pages: a question names what only the title says."""
    pytest.importorskip("pdfminer")
    from matplotlib import pyplot, rc_context
    from matplotlib.backends.backend_pdf import PdfPages

    drinks = ("Kessil", "Tea", "Milk")[:count]
    body = "is brewed from the ﬁnest berries and served warm in\nwooden cups, as all know who like"
    with rc_context({"pdf.fonttype": 42}), PdfPages(tmp_path / "a.pdf", metadata={"Title": "Drinks of Telm"}) as pages:
        for page, drink in enumerate(drinks, 1):
            figure = pyplot.figure()
            lines = (
                "11/29/26",
                "Drinks of Telm",
                drink,
                f"{drink} {body} {drink}.",
                "https://a.example/b",
                f"{page}/{count}",
            )
            for at, text in enumerate(lines):
                figure.text(0.1, 0.9 - at * 0.15, text)
            pages.savefig(figure)
            pyplot.close(figure)
    reading = documents.read([tmp_path / "a.pdf"], LICENSED)
    text = "is brewed from the finest berries and served warm in wooden cups, as all know who like"
    assert [(each.id, each.title, each.text) for each in reading.passages] == [
        (f"a.pdf#page={page}", f"Drinks of Telm: {drink}", f"{drink} {text} {drink}.")
        for page, drink in enumerate(drinks, 1)
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.pdf", b"%PDF-1.4", "a.pdf: cannot be read ("),
        ("a.xlsx", b"PK", "a.xlsx: cannot be read ("),
        ("a.docx", None, "bytes of text; expected 1000 at most); open and save it again"),
    ],
)
def test_a_broken_document_is_one_line(tmp_path, monkeypatch, name, content, problem):
    pytest.importorskip("markitdown")
    monkeypatch.setattr("excam.knowledge.office_files.MAX_ROW", 1000)
    if content:
        (tmp_path / name).write_bytes(content)
    else:
        zipped(tmp_path / name, {"word/document.xml": "x" * 1001})
    assert problem in line_of(documents.NothingRead, documents.read, [tmp_path / name], LICENSED)


def test_a_library_that_is_missing_is_named_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr("excam.core.extras.is_installed", lambda library: False)
    (tmp_path / "a.txt").write_text("A text.")
    for name in ("b.pdf", "c.docx", "d.xlsx"):
        (tmp_path / name).write_bytes(b"")
    reading = documents.read([tmp_path], LICENSED)
    assert len(reading.skipped) == 3
    assert all("pip install 'excam[documents]'" in omission.reason for omission in reading.skipped)

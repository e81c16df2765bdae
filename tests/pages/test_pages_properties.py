"""Pages of any text: a cell stays one cell, and what is packed into a page comes out as it went in."""

import base64
import json
import zlib
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from text_strategies import ANSWERS, TEXTS

from excam.core.escapes import visible_line
from excam.core.sanitize import rejection_reason
from excam.pages import html, markdown, row_browser

RENDER = MarkdownIt("gfm-like", {"linkify": False})
TABLES = st.integers(1, 4).flatmap(lambda size: st.lists(st.lists(ANSWERS, min_size=size, max_size=size), min_size=1))


class Cells(HTMLParser):
    """The cells of each row, and every tag, of a page."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append(0)
        elif tag in ("td", "th"):
            self.rows[-1] += 1


@given(TABLES)
def test_a_markdown_table_keeps_its_cells_whatever_they_hold(rows):
    table = markdown.table(["h"] * len(rows[0]), [[markdown.escape(cell) for cell in row] for row in rows])
    assert len(table.splitlines()) == len(rows) + 2
    page = Cells(RENDER.render(table))
    assert page.rows == [len(rows[0])] * (len(rows) + 1)
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "br"}


@given(TABLES)
def test_an_unfolded_table_keeps_its_cells_whatever_they_hold(rows):
    cells = [[row_browser.escape(cell) for cell in row] for row in rows]
    page = Cells(row_browser.folded_table("t", "n", ["h"] * len(rows[0]), cells))
    assert page.rows == [len(rows[0])] * (len(rows) + 1)
    assert page.tags <= {"details", "summary", "p", "div", "table", "thead", "tbody", "tr", "th", "td", "bdi"}


@given(st.dictionaries(ANSWERS, ANSWERS, max_size=3), st.lists(st.lists(ANSWERS, max_size=3), max_size=3))
def test_what_is_packed_into_a_page_comes_out(value, rows):
    packed = html.pack_json_with_rows(lambda: {"first": value}, rows)
    assert json.loads(zlib.decompress(base64.b64decode(packed))) == {"first": value, "rows": rows}
    assert set(packed).isdisjoint("<>&\"'")
    assert json.loads(zlib.decompress(base64.b64decode(html.pack_json(value)))) == value


@given(TEXTS, TEXTS)
def test_a_value_of_a_page_is_never_searched_for_names(first, second):
    assert html.fill_template("<{{a}}|{{b}}|{{a}}>", {"a": first, "b": second}) == f"<{first}|{second}|{first}>"


@given(ANSWERS, st.integers(0, 40))
def test_an_offset_for_a_browser_counts_utf_16(text, offset):
    at = min(offset, len(text))
    assert row_browser.utf16_offset(text, at) == len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
    assert row_browser.utf16_offset(text, -1) == -1


@given(ANSWERS)
def test_a_text_on_a_terminal_is_one_line_that_controls_nothing(text):
    line = visible_line(text)
    assert len(line.splitlines()) <= 1
    assert visible_line(line) == line
    assert rejection_reason(line) in ("", "chat-control-token")
    assert isinstance(line.encode(), bytes)

"""Patterns that read texts of others take time in proportion to their length, whatever repeats in them."""

import time

import pytest

from excam.annotation import wording
from excam.calmqa import asks
from excam.core.spreadsheets import guard_cell
from excam.error_reports.comparators import _statements
from excam.knowledge import prose
from excam.macaron import proofread
from excam.pages import markdown

LENGTH = 50_000
HOSTILE = {
    "line breaks before a label": (lambda text: asks.read_line(f"{text}VERDICT", "VERDICT", ("yes", "no")), "\n"),
    "colons behind a label": (lambda text: asks.read_line(f"VERDICT{text}x", "VERDICT", ("yes", "no")), ":"),
    "open quotation marks": (lambda text: proofread.guard("a", f"a {text}"), "“"),
    "an edit of another length": (lambda text: proofread.guard("a" * 500, f"{'a' * 500}{text}"), "."),
    "brackets": (markdown.remove_page_links, "["),
    "links without an end": (markdown.remove_page_links, "[](x"),
    "question marks": (lambda text: wording.sentences(f"{text}x"), "?"),
    "digits of a cell": (lambda text: guard_cell(f"{text}x"), "1"),
    "blanks without a slash": (lambda text: _statements.alternatives(f"{text}x"), " "),
    "letters without a hyphen": (lambda text: prose.read_plain(text, ""), "a"),
    "letters before a hyphen": (lambda text: prose.read_plain(text, ""), "a-"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_takes_linear_time(name):
    read, repeated = HOSTILE[name]
    began = time.process_time()
    read(repeated * (LENGTH // len(repeated)))
    assert time.process_time() - began < 2, "a quadratic pattern takes a minute"

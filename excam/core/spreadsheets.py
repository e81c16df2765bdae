"""Texts of others in CSV files, which people open in spreadsheets: none may run as a formula, all can be read again.

An apostrophe precedes every text that a spreadsheet would run as a formula; reading removes it.
"""

from __future__ import annotations

import re
from typing import Any

FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # what a formula begins with; the last four are the full-width forms
GUARDED = re.compile(f"[{FORMULA}\t\r\n']")  # how a text begins that gets an apostrophe in CSV
# Where a file is opened with another separator than the comma, cells begin inside a text, and quotes do not help.
INNER = re.compile(f"([;\t\r\n])(?=['\"]*[{FORMULA}])")
INNER_GUARDED = re.compile(f"([;\t\r\n])'(?=['\"]*[{FORMULA}])")
POSSIBLE = (
    f"^[{FORMULA}\t\r\n']|[;\t\r\n]['\"]*[{FORMULA}]"  # how every text looks that a guard changes, also for polars
)
_NUMBER = r"[+\-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+\-]?[0-9]++)?"  # linear in a cell of digits
NUMBER = re.compile(f"{_NUMBER}|-")  # a dash alone stands for no value
INTERVAL = re.compile(rf"{_NUMBER} \[{_NUMBER}, {_NUMBER}\]")  # of an estimate; no spreadsheet has such a formula


def guard_formula(text: str) -> str:
    """Return a text so that no spreadsheet runs a part of it as a formula."""
    inner = INNER.sub(r"\1'", text)
    return f"'{inner}" if GUARDED.match(inner) else inner


def guard_cell(text: str) -> str:
    """Return a text as `guard_formula` does, for the cell of a table.

    A number, with a sign too, and "-" stay as they are, and a number with its interval stays in front of other words.
    """
    if NUMBER.fullmatch(text):
        return text
    return INNER.sub(r"\1'", text) if INTERVAL.match(text) else guard_formula(text)


def remove_guard(text: Any) -> Any:
    """Return the text without its guard: the inverse of both. A text without a guard, and what is no text, stays."""
    if not isinstance(text, str):
        return text
    inner = text[1:] if text[:1] == "'" and GUARDED.match(text[1:]) else text
    return INNER_GUARDED.sub(r"\1", inner)

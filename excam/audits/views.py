"""What a classifier is shown of a row: each view turns rows into tokens, and sees nothing else of them (spec 17).

Tokens are strings; the classifier knows of each only whether it is there. Lengths become tokens by the tenth of the
rows they fall into, which uses no label.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from string import ascii_uppercase

import polars as pl

from excam.construction.templates import paraphrase

BINS = 10  # quantiles of a length
LETTERS = ascii_uppercase

Tokens = list[list[str]]
View = Callable[[pl.DataFrame], Tokens]


def templates(rows: pl.DataFrame) -> Tokens:
    """The ids of the paraphrases."""
    return rows["templates"].to_list()


def lead_in(rows: pl.DataFrame) -> Tokens:
    """The output before the answer, the option's letter left out.

    Where an output does not begin as its template says, which a rewritten one may not, its first words: as many as
    the template has there.
    """
    outputs = zip(rows["output"], rows["templates"].list.last(), strict=True)
    return [[_lead_in(output, template)] for output, template in outputs]


def letter(rows: pl.DataFrame) -> Tokens:
    """The letter of the option that the output names; no token where no letter is named."""
    outputs = zip(rows["output"], rows["templates"].list.last(), strict=True)
    return [_letter(output, template) for output, template in outputs]


def options_shown(rows: pl.DataFrame) -> list[int]:
    """How many options the instruction lists: "Option A:", "Option B:", ... in this order."""
    return [_options(text) for text in rows["instruction"]]


def lengths(rows: pl.DataFrame) -> Tokens:
    """Characters and words of instruction and output, each as the tenth of the rows it falls into."""
    columns = []
    for field in ("instruction", "output"):
        text = rows[field]
        for unit, length in (("characters", text.str.len_chars()), ("words", text.str.count_matches(r"\S+"))):
            columns.append([f"{field} {unit} {place}" for place in _tenths(length)])
    return [list(tokens) for tokens in zip(*columns, strict=True)]


def _tenths(length: pl.Series) -> pl.Series:
    """In which tenth of all values each lies; equal values lie in one."""
    return (length.rank("min") - 1) * BINS // max(len(length), 1)


def _lead_in(output: str, template: str) -> str:
    head, pattern = _head(template)
    if pattern.match(output):
        return head
    return " ".join(output.split()[: len(head.split())])


def _options(text: str) -> int:
    most, at = 0, 0
    for number, letter in enumerate(LETTERS, start=1):
        at = text.find(f"Option {letter}:", at)
        if at < 0:
            break
        most = number
    return most


def _letter(output: str, template: str) -> list[str]:
    _, pattern = _head(template)
    found = pattern.match(output)
    return list(found.groups()) if found else []


@cache
def _head(template: str) -> tuple[str, re.Pattern[str]]:
    """A paraphrase before its answer, and a pattern of it that finds the letter."""
    head, _, _ = paraphrase(template).partition("{answer}")
    return head, re.compile("([A-Z])".join(re.escape(part) for part in head.split("{letter}")))

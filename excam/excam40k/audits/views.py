"""The views of a row that a classifier sees: each view turns rows into tokens.

Tokens are strings; the classifier knows only whether a token is present. Numbers become tokens by decile over the rows,
which uses no label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from string import ascii_uppercase

import polars as pl
import regex

from excam.core.text import as_word
from excam.excam40k.construction.templates import ENGLISH, language_of, languages, paraphrase

BINS = 10  # quantiles of a number
SHORT = 60  # characters of an answer that other rows may have too
RUN = 8  # characters; a shorter run that two texts share says little
LETTERS = ascii_uppercase

Tokens = list[list[str]]


def templates(rows: pl.DataFrame) -> Tokens:
    """Return the ids of the paraphrases."""
    return rows["templates"].to_list()


def lead_in(rows: pl.DataFrame) -> Tokens:
    """Return the output before the answer, without the option's letter.

    If an output does not begin as its template says, which happens for a rewritten one, return its first words: as many
    as the template has there.
    """
    return [[_lead_in(output, template)] for output, template in _texts(rows, "output")]


def letter(rows: pl.DataFrame) -> Tokens:
    """Return the letter of the option that the output names; no token where no letter is named."""
    return [_letter(output, template) for output, template in _texts(rows, "output")]


def copied(rows: pl.DataFrame) -> Tokens:
    """Return the share of the answer that is copied from the instruction, and the number of other characters of such an
    answer, as deciles over the rows.

    Copied is a run of at least `RUN` characters, whatever their case. A rule that is given in the instruction and
    again in the answer leaves few others. Where nothing is copied, their number would be the length of the answer.
    """
    texts = zip(rows["instruction"], answers(rows), strict=True)
    counts = [(_characters_within(instruction, answer), len(answer)) for instruction, answer in texts]
    shares = _tenths(pl.Series([copied / length if length else 0.0 for copied, length in counts]))
    others = _tenths(pl.Series([length - copied if copied else None for copied, length in counts], dtype=pl.Int64))
    return [[f"share copied {share}", f"others {other}"] for share, other in zip(shares, others, strict=True)]


def answers(rows: pl.DataFrame) -> list[str]:
    """Return the output without its template; a rewritten one, which does not begin as its template says, is returned
    whole.
    """
    return [_answer(output, template) for output, template in _texts(rows, "output")]


def answer(rows: pl.DataFrame) -> Tokens:
    """Return the answer as one token: what is right, or wrong, wherever it stands, is learned with it."""
    return [[text.casefold()] for text in answers(rows)]


def asked_and_answered(rows: pl.DataFrame) -> Tokens:
    """Return each word of the instruction with the answer, if that is short: a story may tell the verdict on it."""
    texts = zip(rows["instruction"], answers(rows), strict=True)
    return [
        [f"{word} {answer}" for word in sorted(set(regex.findall(r"\w+", question.casefold())))]
        if len(answer) <= SHORT
        else []
        for question, answer in texts
    ]


def answer_in_group(rows: pl.DataFrame) -> Tokens:
    """Return the answer with the group of its question: what most countries say to it is learned, and no country."""
    return [[f"{group} {text.casefold()}"] for group, text in zip(rows["group"], answers(rows), strict=True)]


def options_shown(rows: pl.DataFrame) -> list[int]:
    """Return how many options the instruction lists: "Option A:", "Option B:", ... in this order, as the language of
    its templates writes them.
    """
    return [_options(text, language_of(template)) for text, template in _texts(rows, "instruction")]


def lengths(rows: pl.DataFrame) -> Tokens:
    """Return characters and words of instruction and output, each as its decile over the rows."""
    columns = []
    for field in ("instruction", "output"):
        text = rows[field]
        for unit, length in (("characters", text.str.len_chars()), ("words", text.str.count_matches(r"\S+"))):
            columns.append([f"{field} {unit} {place}" for place in _tenths(length)])
    return [list(tokens) for tokens in zip(*columns, strict=True)]


def words(rows: pl.DataFrame) -> list[str]:
    """Return the outputs, whose words a classifier sees."""
    return rows["output"].to_list()


def punctuation(rows: pl.DataFrame) -> Tokens:
    """Return the punctuation of an output, which vowel signs are not, the mark it ends with, and how many there are as
    a decile over the rows.
    """
    marks = [regex.findall(r"[^\w\s]", text) for text in rows["output"]]
    count = _tenths(pl.Series([len(text_marks) for text_marks in marks], dtype=pl.Int64))
    ends = [text.rstrip()[-1:] for text in rows["output"]]
    return [
        [*(f"has {mark}" for mark in sorted(set(text_marks))), f"ends with {end}", f"marks {number}"]
        for text_marks, end, number in zip(marks, ends, count, strict=True)
    ]


def _texts(rows: pl.DataFrame, field: str) -> Iterator[tuple[str, str]]:
    """Yield the text of each row with the id of the paraphrase of its output."""
    return zip(rows[field], rows["templates"].list.last(), strict=True)


def _tenths(values: pl.Series) -> pl.Series:
    """Return the decile of each value; equal values get the same one."""
    return (values.rank("min") - 1) * BINS // max(len(values), 1)


def _lead_in(output: str, template: str) -> str:
    head, pattern = _head(template)
    if pattern.match(output):
        return head
    return " ".join(output.split()[: len(head.split())])


def _answer(output: str, template: str) -> str:
    _, pattern = _head(template)
    match = pattern.match(output)
    tail = paraphrase(template).partition("{answer}")[2]
    return output[match.end() :].removesuffix(tail) if match else output


def _characters_within(text: str, part: str) -> int:
    """Return how many characters of `part` lie in a run of at least `RUN` characters that `text` contains; of a shorter
    part all, if it occurs there as words.
    """
    text, part = text.casefold(), part.casefold()
    if len(part) < RUN:
        return len(part) if regex.search(as_word(regex.escape(part)), text) else 0
    runs, count, until = _runs(text), 0, 0
    for start in range(len(part) - RUN + 1):
        if part[start : start + RUN] in runs:
            count += start + RUN - max(start, until)
            until = start + RUN
    return count


@lru_cache(maxsize=64)
def _runs(text: str) -> frozenset[str]:
    return frozenset(text[start : start + RUN] for start in range(len(text) - RUN + 1))


def _options(text: str, language: str = ENGLISH) -> int:
    mark, _, _ = languages()[language].option.partition("{option}")
    most, at = 0, 0
    for number, letter in enumerate(LETTERS, start=1):
        at = text.find(mark.strip().replace("{letter}", letter), at)
        if at < 0:
            break
        most = number
    return most


def _letter(output: str, template: str) -> list[str]:
    _, pattern = _head(template)
    match = pattern.match(output)
    return list(match.groups()) if match else []


@cache
def _head(template: str) -> tuple[str, re.Pattern[str]]:
    """Return a paraphrase before its answer, and a pattern of it that finds the letter."""
    head, _, _ = paraphrase(template).partition("{answer}")
    return head, re.compile("([A-Z])".join(re.escape(part) for part in head.split("{letter}")))

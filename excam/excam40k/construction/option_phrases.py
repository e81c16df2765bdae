"""Does a question or an answer speak of the options beside it? Then it says nothing without them.

`option_phrases.tsv` has one regular expression for each language of the benchmarks with options ("of the following",
"which statement", "except"). The phrases of all languages are looked for in every question, since labels may be wrong;
a phrase found by mistake costs the row its version without options, and no more.
"""

from __future__ import annotations

import re
from functools import cache

from excam.core.package_tables import table_rows

_OTHERS = re.compile(r"\b(all|none|both|any|neither|either)\b.{0,12}\b(above|these|them|following|options)\b", re.I)
_LETTERS = re.compile(r"\b[A-F]\b.{1,12}\b[A-F]\b|\([a-f]\).{1,12}\([a-f]\)")
_LISTED = re.compile(r"\bA\b.{2,80}\bB\b.{2,80}\bC\b", re.S)  # options inside the question
_ONE_ANSWER = re.compile(  # not "What are the most ...", which asks for several, nor "most people"
    r"\A(?!What are\b).*\b(?:most(?! (?:people|famil|parent|student|child|kid|wom[ae]n|m[ae]n)\w*)|"
    r"main|mainly|primary|top|second|highest|largest|biggest|best|cheapest|longest|representative|favou?rite|"
    r"[Ww]hich (?:day|month|city|country))\b"
)
_OPEN_END = re.compile(r"(?:…|\.{3,})\W*\Z")  # a sentence that each option ends in another way


def is_about_all(option: str) -> bool:
    """Return whether an option is about all others ("All of the above")."""
    return bool(_OTHERS.search(option))


def names_letters(option: str) -> bool:
    """Return whether an option refers to others by letter ("Both A and C")."""
    return bool(_LETTERS.search(option))


def answer_needs_options(answer: str) -> bool:
    """Return whether an answer refers to the options beside it ("None of the above", "Both A and C")."""
    return is_about_all(answer) or names_letters(answer)


def wrong_alone(wrong: str, answer: str) -> bool:
    """Return whether a wrong answer is wrong without options beside it, and shares no statement with the right one.

    Statements are separated by "; ".
    """
    shared = not {*wrong.split("; ")}.isdisjoint(answer.split("; "))
    return not shared and not answer_needs_options(wrong)


def asks_for_one(question: str) -> bool:
    """Return whether only one answer to an English question can be right ("the most popular", "which month")."""
    return bool(_ONE_ANSWER.search(question))


def question_needs_options(question: str) -> bool:
    """Return whether a question, in any language, asks to choose among options, lists them or is left open."""
    return any(pattern.search(question) for pattern in (_phrases(), _LISTED, _OPEN_END))


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in phrases().values()), re.I)


def phrases() -> dict[str, str]:
    """Return language -> regular expression of the phrases."""
    return dict(table_rows("excam.excam40k.construction", "option_phrases.tsv"))

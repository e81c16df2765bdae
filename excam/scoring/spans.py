"""Erroneous spans of a text: what an error report lists, for any metric that marks errors in what it scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["minor", "major"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """One erroneous place in a text.

    `text[start:end] == span` for the text in the column `where`, in characters; both offsets are -1 if the span could
    not be found there (a model's report), and equal to the neighbouring word's if something was deleted.
    """

    where: str
    span: str
    severity: Severity
    type: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Report:
    """The errors found, and one explanation for all of them. No errors: the text is correct."""

    errors: tuple[ErrorSpan, ...] = ()
    explanation: str = ""

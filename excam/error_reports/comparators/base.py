"""The contract of a comparator: a text beside the expected statement and its evidence, and how far it agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from excam.inference import Flow

Need = Literal["expected", "passages"]
Range = tuple[int, int]  # half-open, characters


@dataclass(frozen=True, slots=True)
class Case:
    """What is compared: a text that answers a question, beside the expected statement and its evidence."""

    question: str
    text: str
    expected: str  # what the evidence says the answer is; "" if nothing was stated
    passages: tuple[str, ...] = ()  # "title: text", the best first; empty without evidence
    unrelated: str = ""  # a passage of another subject, for contrast; "" if there is none
    language: str = ""  # English name; "" if unknown


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a text agrees.

    `margin` > 0: agrees, < 0: differs, in the comparator's own unit; None: not decidable.
    """

    margin: float | None
    differing: tuple[Range, ...] = ()  # half-open character ranges of `text` that differ
    reason: str = ""  # why it is not decidable, or what decided ("number 3 against 2")


class Comparator(Protocol):
    """The interface of a module of `excam.error_reports.comparators`."""

    VERSION: int
    NEEDS: tuple[Need, ...]  # what a case must have

    def compare(self, case: Case) -> Flow[Comparison]: ...

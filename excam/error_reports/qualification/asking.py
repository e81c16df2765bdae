"""Read the rows of the qualification set with a model, part by part until the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from excam.error_reports.closed_values import Range
from excam.error_reports.judges import grounded
from excam.error_reports.qualification.question_set import ExamQuestion, pack
from excam.error_reports.readers.base import TextReader
from excam.inference import Ask, Flow
from excam.inference.run import run

PART = 8  # rows that are asked about between two looks at the clock


@dataclass(frozen=True, slots=True)
class Examined:
    """What is said of a row: a margin, None for "not known", and the marked words, None where none are marked."""

    question: ExamQuestion
    margin: float | None
    marked: tuple[Range, ...] | None = None


def examine(
    questions: Sequence[ExamQuestion], ask: Ask, reader: TextReader, minutes: float, advance: Callable[[int], None]
) -> tuple[list[Examined], float]:
    """Ask about the questions in their order until the minutes are over; at least one part.

    Return what was said of each row that was asked about, and the seconds that it took. `advance` is called with the
    number of rows of each part that is done.
    """
    started, examined = time.monotonic(), list[Examined]()
    for start in range(0, len(questions), PART):
        part = questions[start : start + PART]
        examined += run(lambda question: _examined(question, reader), part, ask)
        advance(len(part))
        if time.monotonic() > started + 60 * minutes:
            break
    return examined, time.monotonic() - started


def _examined(question: ExamQuestion, reader: TextReader) -> Flow[Examined]:
    """Read an answer as the judge does."""
    sample = question.sample
    claim = grounded.TextClaim((0, len(sample.output)), sample.output, "answer")
    reading = yield from grounded.read(grounded.evidence_on(sample, claim, pack().passages_for), reader)
    marked = tuple((mark.start, mark.end) for mark in reading.marks if mark.unsupported >= 0.5)
    return Examined(question, grounded.margin_of(reading, reader), marked)

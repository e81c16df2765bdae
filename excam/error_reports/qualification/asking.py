"""Ask about the rows of the qualification set in every way, part by part until the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import get_args

from excam.error_reports import comparators
from excam.error_reports import stated as stating
from excam.error_reports.comparators.base import Case, Comparison, Range
from excam.error_reports.judges import grounded, likelihood
from excam.error_reports.qualification.question_set import Question, pack
from excam.error_reports.stated import Stated
from excam.inference import Ask, Flow
from excam.inference.run import run

PART = 8  # rows that are asked about between two looks at the clock
GAINS: tuple[likelihood.Reading, ...] = get_args(likelihood.Reading)


@dataclass(slots=True)
class Examined:
    """What a model said about a row: its statement, a margin for each way, None if it does not decide; marked words."""

    question: Question
    stated: Stated = field(default_factory=lambda: Stated(""))
    margins: dict[str, float | None] = field(default_factory=dict[str, float | None])
    marked: dict[str, tuple[Range, ...]] = field(default_factory=dict[str, tuple[Range, ...]])


def examine(
    questions: Sequence[Question], ask: Ask, minutes: float, told: Callable[[int], None]
) -> tuple[list[Examined], dict[str, float]]:
    """Ask about the questions in their order until the minutes are over; at least one part.

    Return what was said of each row that was asked about, and the seconds that each way took. `told` is called with the
    number of rows of each part that is done.
    """
    end, seconds = time.monotonic() + 60 * minutes, dict[str, float]()
    examined: list[Examined] = []
    for start in range(0, len(questions), PART):
        done = [Examined(question) for question in questions[start : start + PART]]
        for way, flows in _stages(done):
            started = time.monotonic()
            for row, result in zip(done, run(flows, [row.question for row in done], ask), strict=True):
                _keep(row, way, result)
            seconds[way] = seconds.get(way, 0.0) + time.monotonic() - started
        examined += done
        told(len(done))
        if time.monotonic() > end:
            break
    return examined, seconds


def _stages(rows: Sequence[Examined]) -> Iterator[tuple[str, Callable[[Question], Flow[object]]]]:
    """Yield the ways with what each asks about a question; the statement first, since comparators need it."""
    yield "stated", _state
    known = {row.question.id: row.stated for row in rows}
    for name in comparators.available():
        yield name, partial(_compare, name, known)
    yield "likelihood", _likelihood


def _texts(question: Question) -> tuple[str, ...]:
    return grounded.as_texts(pack().passages_for(question.question, question.text))


def _state(question: Question) -> Flow[Stated]:
    return stating.ask_stated(question.question, _texts(question))


def _compare(name: str, known: Mapping[str, Stated], question: Question) -> Flow[Comparison]:
    stated, texts = known[question.id], _texts(question)
    if not stated.answer and "expected" in comparators.load(name).NEEDS:
        return Comparison(None, reason="no expected statement")
    if why := stating.off_topic(question.question, stated, texts, question.language):
        return Comparison(None, reason=why)
    unrelated = pack().unrelated(f"{question.question} {question.text}")
    case = Case(question.question, question.text, stated.answer, texts, unrelated, question.language)
    return (yield from comparators.compared(name, case))


def _likelihood(question: Question) -> Flow[likelihood.Compared | None]:
    return (yield from likelihood.compare(question.question, question.text, _texts(question)))


def _keep(row: Examined, way: str, result: object) -> None:
    if isinstance(result, Stated):
        row.stated = result
    elif isinstance(result, Comparison):
        row.margins[way], row.marked[way] = result.margin, result.differing
    elif isinstance(result, likelihood.Compared):
        row.margins |= {f"likelihood-{name}": result.margins[name] for name in GAINS}

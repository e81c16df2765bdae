"""The contract of a judge, and shared functions: fill a prompt, complete a verdict, ask for one stated value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from excam.error_reports import scoring
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.inference import Completion, Flow, Message, ask_for_text
from excam.inference.answer_text import reasoning_and_answer
from excam.scoring.results import NOT_KNOWN

PLACEHOLDER = re.compile(r"\{(Instruction|Text)\}")

# Reasons every judge may give beside its own: the answer is blank; it was cut at the token limit, or where its
# reasoning ends is ambiguous; the backend refused the request.
SHARED_REASONS = ("empty", "truncated", "refused")


@dataclass(frozen=True, slots=True)
class Version:
    """The prompt version `asks` rises when the requests of a judge change, the parser version `reads` when only the
    parser does.
    """

    asks: int
    reads: int


def chance_of_agreement(margin: float, threshold: float, slope: float) -> float:
    """Return the probability in [0, 1] that a text with this margin agrees: a logistic curve, .5 at the threshold."""
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, slope * (margin - threshold)))))


def if_decisive(agrees: float, least: float) -> float | None:
    """Return the probability that a text agrees; None if neither it nor that of the opposite reaches `least`."""
    return agrees if max(agrees, 1 - agrees) >= least else None


def expected_line(expected: str, sources: Iterable[str]) -> str:
    """Return the explanation of an error: what is expected, and where that stands."""
    return f"Expected: {expected} (by {', '.join(sources)})."


def by_comparison(
    probabilities: Sequence[float], errors: Iterable[CulturalError], explanation: str, parts: Mapping[str, Any]
) -> Verdict:
    """Return the verdict of comparisons: their errors, none, or not known if there is no probability.

    `probabilities` are those that what decides agrees, in [0, 1]. The verdict is as certain as the least certain.
    """
    if not probabilities:
        return replace(failed(NOT_KNOWN), parts=parts)
    report = Report(tuple(errors), explanation)
    certainty = min(max(agrees, 1 - agrees) for agrees in probabilities)
    deductions = float(scoring.deductions(report))
    return Verdict(len(report.errors), deductions, certainty=certainty, report=report, parts=parts)


class Stated(NamedTuple):
    """What a baseline states: the number of errors, and their score (<= 0)."""

    errors: int
    score: int


class Judge(Protocol):
    """The interface of a module of `excam.error_reports.judges`."""

    VERSION: Version

    def judge(self, sample: Sample) -> Flow[Verdict]: ...


def fill(template: str, instruction: str, output: str) -> str:
    """Put the judged pair into a prompt in one pass, so that braces and markers in the data stay unchanged."""
    values = {"Instruction": instruction, "Text": output}
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def failed(reason: str) -> Verdict:
    """Return a verdict that is a failure."""
    return Verdict(errors_found=None, score=None, failure=reason)


def ask_for_words(messages: tuple[Message, ...]) -> Flow[tuple[str, str, str]]:
    """Ask once; return the reasoning, what is said after it, and which of `SHARED_REASONS` there is not to read it."""
    answer = yield from ask_for_text(messages)
    thinking, reply = reasoning_and_answer(answer)
    if answer.finish == "refused":
        return thinking, "", "refused"
    if reply is None or answer.finish == "length":
        return thinking, "", "truncated"
    return thinking, reply, "" if reply.strip() else "empty"


def complete(verdict: Verdict, answer: Completion, reasoning: str) -> Verdict:
    """Return the verdict with the reasoning and the sequence confidence of the answer that it was read from.

    It is a failure if the answer was refused or cut: what it says so far might have been taken back.
    """
    if answer.finish != "stop":
        verdict = failed("refused" if answer.finish == "refused" else "truncated")
    return replace(
        verdict,
        certainty=scoring.certainty(answer),
        certainty_without_end=scoring.certainty(answer, end_token=False),
        thinking=reasoning,
    )


def ask_baseline(sample: Sample, prompt: str, read: Callable[[str], Stated | str]) -> Flow[Verdict]:
    """Ask once, without a system prompt, because the paper states none for its baselines.

    `read` returns what the answer after the reasoning states, or a reason of failure; a blank answer never reaches it.
    """
    answer = yield from ask_for_text((Message("user", fill(prompt, sample.instruction, sample.output)),))
    reasoning, text = reasoning_and_answer(answer)
    stated = "truncated" if text is None else read(text) if text.strip() else "empty"
    verdict = failed(stated) if isinstance(stated, str) else Verdict(stated.errors, float(stated.score))
    return complete(verdict, answer, reasoning)

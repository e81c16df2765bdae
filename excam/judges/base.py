"""The contract of a judge, and what judges share: filling a prompt, finding a stated value, what a verdict keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Protocol

from excam import scoring
from excam.inference import Completion, Flow, thinking
from excam.records import Sample, Verdict

PLACEHOLDER = re.compile(r"\{(Instruction|Text)\}")
DECORATION = " \t\r*_`\"'“”‘’()[]{}$\ufeff"  # around a stated value; not < > ~, which would change a number's meaning

# Reasons every judge may give beside its own: nothing was said; the answer broke off, or where its thinking ends is in
# doubt; the backend refused to ask.
SHARED_REASONS = ("empty", "truncated", "refused")


@dataclass(frozen=True, slots=True)
class Version:
    """`asks` is raised when the requests of a judge change, `reads` when the reading of the same answer does."""

    asks: int
    reads: int


class Judge(Protocol):
    """What a module of `excam.judges` provides."""

    VERSION: Version

    def judge(self, sample: Sample) -> Flow: ...


def fill(template: str, instruction: str, output: str) -> str:
    """Put the judged pair into a prompt in one pass, so that braces and markers in the data stay what they are."""
    values = {"Instruction": instruction, "Text": output}
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def stated(label: str, text: str) -> str | None:
    """The value of the last `<label>: value` in an answer, in lower case without decoration. None: never stated."""
    last = re.match(rf"(?s:.*)(?<![a-z0-9]){re.escape(label)}[*_`]{{0,4}} ?[:：]\s*", text, re.IGNORECASE)
    if not last:
        return None
    line, _, _ = text[last.end() :].partition("\n")
    return line.replace("\\boxed", "").rstrip(DECORATION + ".").lstrip(DECORATION).lower()


def told(verdict: Verdict, answer: Completion) -> Verdict:
    """The verdict with what any answer tells beside it: how certain the model was, and what it thought."""
    thought, _ = thinking.split(answer.text)
    return replace(
        verdict,
        certainty=scoring.certainty(answer),
        certainty_without_end=scoring.certainty(answer, end_token=False),
        thinking=thought,
    )


def failed(reason: str, answer: Completion) -> Verdict:
    """A verdict that states why there is none. An answer cut at the token limit failed because of that limit."""
    if answer.finish != "stop":
        reason = "refused" if answer.finish == "refused" else "truncated"
    return told(Verdict(errors_found=None, score=None, failure=reason), answer)


def baseline_verdict(read: int | str, weight: int, answer: Completion) -> Verdict:
    """Verdict of a judge that states one number: `read` is how many errors, or the reason why that is unknown.

    `weight` (<= 0) is the score of one error.
    """
    if isinstance(read, str) or answer.finish != "stop":  # a cut thought may hold a number that is no verdict
        return failed(str(read), answer)
    return told(Verdict(errors_found=read, score=float(read * weight)), answer)

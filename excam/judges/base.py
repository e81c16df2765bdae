"""The contract of a judge, and what judges share: filling a prompt, dropping the thinking, finding a stated value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from excam import scoring
from excam.inference import Completion, Flow
from excam.records import Sample, Verdict

PLACEHOLDER = re.compile(r"\{(Instruction|Text)\}")
THINKING_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
THINKING_STARTS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
DECORATION = " \t\r*_`\"'“”‘’()[]{}$\ufeff"  # around a stated value; not < > ~, which would change a number's meaning

# Reasons every judge may give beside its own: nothing was said, the answer broke off, the backend refused to ask.
SHARED_REASONS = ("empty", "truncated", "refused")


@dataclass(frozen=True, slots=True)
class Version:
    """`asks` is raised when the requests of a judge change, `reads` when the reading of the same answer does."""

    asks: int
    reads: int


class Judge(Protocol):
    VERSION: Version

    def judge(self, sample: Sample) -> Flow: ...


def fill(template: str, instruction: str, output: str) -> str:
    """Put the judged pair into a prompt in one pass, so that braces and markers in the data stay what they are."""
    values = {"Instruction": instruction, "Text": output}
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def after_thinking(text: str) -> str | None:
    """What follows the last end of a thinking block; None when the answer broke off while still thinking.

    Templates that open the block themselves (DeepSeek-R1) leave only its end in the answer.
    """
    ends = [match.end() for match in THINKING_ENDS.finditer(text)]
    if ends:
        return text[ends[-1] :]
    return None if THINKING_STARTS.match(text) else text


def stated(label: str, text: str) -> str | None:
    """The value of the last `<label>: value` in an answer, in lower case without decoration. None: never stated."""
    pattern = re.compile(rf"(?<![a-z0-9]){re.escape(label)}[*_`]{{0,4}} ?[:：]\s*", re.IGNORECASE)
    matches = list(pattern.finditer(text))
    if not matches:
        return None
    line, _, _ = text[matches[-1].end() :].partition("\n")
    return line.replace("\\boxed", "").rstrip(DECORATION + ".").lstrip(DECORATION).lower()


def failed(reason: str, answer: Completion) -> Verdict:
    """A verdict that states why there is none. An answer cut at the token limit failed because of that limit."""
    if answer.finish != "stop":
        reason = "refused" if answer.finish == "refused" else "truncated"
    return Verdict(errors_found=None, score=None, certainty=scoring.certainty(answer.logprobs), failure=reason)


def baseline_verdict(read: int | str, weight: int, answer: Completion) -> Verdict:
    """Verdict of a judge that states one number: `read` is how many errors, or the reason why that is unknown.

    `weight` (<= 0) is the score of one error.
    """
    if isinstance(read, str) or answer.finish != "stop":  # a cut thought may hold a number that is no verdict
        return failed(str(read), answer)
    return Verdict(errors_found=read, score=float(read * weight), certainty=scoring.certainty(answer.logprobs))

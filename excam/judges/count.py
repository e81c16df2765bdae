"""The counting baseline (Table 11, "Counting"): the number of errors, stated at the end as `COUNT: n`; score -n."""

from __future__ import annotations

import re

from excam.inference import Flow, Message, generated, thinking
from excam.judges.base import SHARED_REASONS, Version, baseline_verdict, fill, stated
from excam.records import Sample

VERSION = Version(asks=1, reads=2)
REASONS = (*SHARED_REASONS, "no-count", "bad-count")
PROMPT = (  # Table 11; its line breaks are not in our copy of the paper
    "Please evaluate the cultural correctness of this instruction and the text that was generated from it."
    " Instruction: '{Instruction}' Text: '{Text}' Please think step-by-step VERY BRIEFLY. Then return the error count."
    " Do not take anything besides cultural correctness into account. If the instruction or the text is culturally"
    " correct, the error count should be 0. At the end, return your final count in the format 'COUNT: count'."
)
NUMBER = re.compile(r"([0-9]{1,4})(?: (?:cultural )?errors?)?")  # no word, sign, range or fraction is a count


def judge(sample: Sample) -> Flow:
    """Ask once; no system prompt, since the paper states none for its baselines (spec 40)."""
    prompt = fill(PROMPT, sample.instruction, sample.output)
    answer = yield from generated((Message("user", prompt),))
    return baseline_verdict(read(answer.text), -1, answer)


def read(text: str) -> int | str:
    """The last count stated after any thinking, or a reason of `REASONS`."""
    _, answer = thinking.split(text)
    if answer is None:
        return "truncated"
    if not answer.strip():
        return "empty"
    value = stated("COUNT", answer)
    if value is None:
        return "no-count"
    number = NUMBER.fullmatch(value)
    return int(number[1]) if number else "bad-count"

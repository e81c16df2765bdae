"""The counting baseline (Table 11, "Counting"): the number of errors, stated at the end as `COUNT: n`; score -n."""

from __future__ import annotations

import re

from excam.error_reports.judges.base import SHARED_REASONS, Stated, Version, ask_baseline
from excam.error_reports.records import Sample, Verdict
from excam.inference import Flow
from excam.inference.answer_text import last_value, without_remark

VERSION = Version(asks=1, reads=3)
REASONS = (*SHARED_REASONS, "no-count", "bad-count")
PROMPT = (  # Table 11; its line breaks are not in our copy of the paper
    "Please evaluate the cultural correctness of this instruction and the text that was generated from it."
    " Instruction: '{Instruction}' Text: '{Text}' Please think step-by-step VERY BRIEFLY. Then return the error count."
    " Do not take anything besides cultural correctness into account. If the instruction or the text is culturally"
    " correct, the error count should be 0. At the end, return your final count in the format 'COUNT: count'."
)
NUMBER = re.compile(r"(\d{1,4})(?: (?:cultural )?errors?)?")  # no word, sign, range or fraction


def judge(sample: Sample) -> Flow[Verdict]:
    """Ask once."""
    return ask_baseline(sample, PROMPT, read)


def read(answer: str) -> Stated | str:
    """Return the last stated count n with score -n, or a reason of `REASONS`."""
    value = last_value("COUNT", answer)
    if value is None:
        return "no-count"
    number = NUMBER.fullmatch(without_remark(without_remark(value), " ("))
    return Stated(int(number[1]), -int(number[1])) if number else "bad-count"

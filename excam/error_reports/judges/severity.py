"""The severity baseline (Table 11): one level for the pair, stated as `Severity: none|minor|major|critical`."""

from __future__ import annotations

from collections.abc import Mapping

from excam.error_reports.judges.base import SHARED_REASONS, Stated, Version, ask_baseline
from excam.error_reports.records import WEIGHTS, Sample, Verdict
from excam.inference import Flow
from excam.inference.answer_text import last_value, without_remark

VERSION = Version(asks=1, reads=3)
REASONS = (*SHARED_REASONS, "no-severity", "bad-severity")
# The paper gives no score for "critical"; -25 is its weight in GEMBA-MQM, where ExCAM's other weights come from.
SCORES: Mapping[str, int] = {"none": 0, **WEIGHTS, "critical": -25}
PROMPT = (  # Table 11; its line breaks are not in our copy of the paper
    "Please judge the severity of cultural errors in this input-output pair. Input: '{Instruction}' Output: '{Text}'"
    " Please think step-by-step VERY BRIEFLY. Then return your judgment. Do not take anything besides cultural"
    " correctness into account. Return one of the following: none, minor, major, critical At the end, return your final"
    " judgment in the format 'Severity: severity'."
)


def judge(sample: Sample) -> Flow[Verdict]:
    """Ask once."""
    return ask_baseline(sample, PROMPT, read)


def read(answer: str) -> Stated | str:
    """Return the score of the last stated level, or a reason of `REASONS`; at most one error, for the whole pair."""
    value = last_value("Severity", answer)
    if value is None:
        return "no-severity"
    level = without_remark(value).removesuffix(" error")
    return Stated(int(SCORES[level] < 0), SCORES[level]) if level in SCORES else "bad-severity"

"""The severity baseline (Table 11): one level for the pair, stated as `Severity: none|minor|major|critical`."""

from __future__ import annotations

from collections.abc import Mapping

from excam.inference import Flow, Message, generated, thinking
from excam.judges.base import SHARED_REASONS, Version, baseline_verdict, fill, stated
from excam.records import WEIGHTS, Sample

VERSION = Version(asks=1, reads=2)
REASONS = (*SHARED_REASONS, "no-severity", "bad-severity")
# The paper gives no score for "critical"; -25 is its weight in GEMBA-MQM, where ExCAM's other weights come from.
SCORES: Mapping[str, int] = {"none": 0, **WEIGHTS, "critical": -25}
PROMPT = (  # Table 11; its line breaks are not in our copy of the paper
    "Please judge the severity of cultural errors in this input-output pair. Input: '{Instruction}' Output: '{Text}'"
    " Please think step-by-step VERY BRIEFLY. Then return your judgment. Do not take anything besides cultural"
    " correctness into account. Return one of the following: none, minor, major, critical At the end, return your final"
    " judgment in the format 'Severity: severity'."
)


def judge(sample: Sample) -> Flow:
    """Ask once. One level is stated for the whole pair, so at most one error is found."""
    prompt = fill(PROMPT, sample.instruction, sample.output)
    answer = yield from generated((Message("user", prompt),))
    level = read(answer.text)
    found = int(SCORES[level] < 0) if level in SCORES else level
    return baseline_verdict(found, SCORES.get(level, 0), answer)


def read(text: str) -> str:
    """The last level stated after any thinking (a key of `SCORES`), or a reason of `REASONS`."""
    _, answer = thinking.split(text)
    if answer is None:
        return "truncated"
    if not answer.strip():
        return "empty"
    value = stated("Severity", answer)
    if value is None:
        return "no-severity"
    return value if value in SCORES else "bad-severity"

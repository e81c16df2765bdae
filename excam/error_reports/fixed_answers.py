"""Fixed answers to a few questions: their likelihood distinguishes one model from another, and one engine from another.

The base model and the adapter score them at the end of training, and the serving engine scores them again
(`adapter_check`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from excam.core.exceptions import ModelInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import Batch, Choice, Choose

PAIRS = (
    ("Name a dish that is often eaten at New Year in Japan.", "Toshikoshi soba, long noodles eaten on the last night."),
    ("Write one sentence about weddings in Scotland.", "The groom may wear a kilt in the colours of his clan."),
    ("Which language do most people in Brazil speak at home?", "Spanish"),
    ("वाराणसी किस नदी के किनारे है?", "यमुना"),
)
REPORTS = (
    Report(),
    Report((CulturalError("output", "Spanish", "major", "incorrect information"),), "Portuguese is spoken there."),
)

Scores = Sequence[tuple[float, int]]  # (sum of log-probabilities, tokens) of each answer


def questions() -> list[Choose]:
    """Yield fixed reports as answers to the question of Table 5 about pairs of our own."""
    reports = tuple(map(report.write, REPORTS))
    return [Choose(report.messages(instruction, output), reports) for instruction, output in PAIRS]


def scores(choose: Callable[[Sequence[Choose]], Iterator[Batch[Choice]]]) -> list[tuple[float, int]]:
    """Return (sum of log-probabilities, number of tokens) of each fixed answer; `choose` is a method of a backend.

    Raises ModelInvalid if it gives none.
    """
    choices: dict[int, Any] = dict(pair for batch in choose(questions()) for pair in batch)
    numbers: list[tuple[float, int]] = []
    for at in range(len(PAIRS)):
        if getattr(choices.get(at), "logprobs", None) is None:
            raise ModelInvalid(f"no log-probabilities of a fixed answer: {choices.get(at)}; expected room for it")
        numbers += zip(choices[at].logprobs, choices[at].tokens, strict=True)
    return numbers


def difference(first: Scores, second: Scores) -> float:
    """Return the mean absolute difference of log-probability per token, in nats."""
    return sum(abs(a - b) / n for (a, n), (b, _) in zip(first, second, strict=True)) / len(first)

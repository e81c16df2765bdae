"""Drive judges: the open requests of all samples go out as one batch, round after round, until nobody asks any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from excam.exceptions import AnswersMissing, ModelInvalid
from excam.inference import Answer, Ask, Flow, Request
from excam.records import Sample, Verdict


@dataclass(frozen=True, slots=True)
class Round:
    """What one sample's judge asked at once, and the answers in the same order."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """One sample's verdict and how it came about."""

    verdict: Verdict
    rounds: tuple[Round, ...]


def run(judge: Callable[[Sample], Flow], samples: Sequence[Sample], ask: Ask) -> list[Verdict]:
    """Verdicts in the order of `samples`. A judge that asks twice costs two batches, not two calls per sample."""
    return [played.verdict for played in play(judge, samples, ask)]


def play(judge: Callable[[Sample], Flow], samples: Sequence[Sample], ask: Ask) -> list[Played]:
    """Like `run`, with every round kept.

    Raises AnswersMissing, naming the samples, when a model left some unanswered, and ModelInvalid when `ask` returns
    another number of answers than it was asked.
    """
    flows = [judge(sample) for sample in samples]
    verdicts: dict[int, Verdict] = {}
    rounds: list[list[Round]] = [[] for _ in flows]
    answers: dict[int, tuple[Answer, ...] | None] = dict.fromkeys(range(len(flows)))
    while answers:
        asking: dict[int, tuple[Request, ...]] = {}
        for index, answer in answers.items():
            try:
                asking[index] = tuple(flows[index].send(answer))  # pyright: ignore[reportArgumentType]  # None starts it
            except StopIteration as end:
                verdicts[index] = end.value
        owners = [samples[index].id for index, requests in asking.items() for _ in requests]
        try:
            answered = _answered(ask, [request for requests in asking.values() for request in requests])
        except AnswersMissing as missing:
            raise missing.named(owners) from None
        answers = {}
        for index, requests in asking.items():
            answers[index] = answer = tuple(islice(answered, len(requests)))
            rounds[index].append(Round(requests, answer))
    return [Played(verdicts[index], tuple(rounds[index])) for index in range(len(flows))]


def _answered(ask: Ask, requests: list[Request]) -> Iterator[Answer]:
    answers = list(ask(requests)) if requests else []
    if len(answers) != len(requests):
        raise ModelInvalid(f"{len(answers)} answers to {len(requests)} requests; expected one each; run again")
    return iter(answers)

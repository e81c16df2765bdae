"""Drive flows: send the open requests of all items as one batch per round, until every flow has returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from excam.core.exceptions import AnswersMissing, ModelInvalid
from excam.inference import Answer, Ask, Choose, Flow, Generate, R, Request


class WithId(Protocol):
    """An item to judge: anything with an id."""

    @property
    def id(self) -> str: ...


ItemT = TypeVar("ItemT", bound=WithId)


@dataclass(frozen=True, slots=True)
class Round:
    """The requests that an item's flow yielded together, and the answers in the same order."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]


def next_requests(flow: Flow[R], answers: Sequence[Answer] | None) -> tuple[Request, ...]:
    """Give a flow its answers, or None to start it, and return what it asks next. Raises StopIteration at its end.

    A flow that yields anything else gets a TypeError at that `yield`, so that the traceback names its line.
    """
    question: Any = flow.send(answers)  # pyright: ignore[reportArgumentType]  # None starts the generator
    requests = tuple(question) if isinstance(question, Iterable) else (question,)
    strange = [request for request in requests if not isinstance(request, Generate | Choose)]
    if isinstance(question, Iterable) and not strange:
        return requests
    yielded = type(question).__name__ + (f" of {type(strange[0]).__name__}" if isinstance(question, Iterable) else "")
    flow.throw(TypeError(f"yielded {yielded}; expected a list of Generate or Choose; a result is returned"))
    raise AssertionError("a flow went on after this TypeError")


def run(judge: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], ask: Ask) -> list[R]:
    """Return the results in the order of `items`. A flow with two rounds costs two batches, not two calls per item."""
    return run_with_rounds(judge, items, ask)[0]


def run_with_rounds(
    judge: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], ask: Ask
) -> tuple[list[R], list[list[Round]]]:
    """Return the results, and the rounds that led to each, both in the order of `items`.

    Raise AnswersMissing, naming the items, if requests remain unanswered, and ModelInvalid if `ask` returns a different
    number of answers than requests.
    """
    rounds: list[list[Round]] = [[] for _ in items]
    flow = together([recorded(judge(item), of_item) for item, of_item in zip(items, rounds, strict=True)])
    answers: Sequence[Answer] | None = None
    while True:
        try:
            requests = next_requests(flow, answers)
        except StopIteration as end:
            return end.value, rounds
        try:
            answers = ask(requests) if requests else ()
        except AnswersMissing as missing:
            latest = [(item.id, of_item[-1]) for item, of_item in zip(items, rounds, strict=True) if of_item]
            owners = [name for name, exchange in latest if not exchange.answers for _ in exchange.requests]
            raise missing.with_row_names(owners) from None
        if len(answers) != len(requests):
            raise ModelInvalid(f"{len(answers)} answers to {len(requests)} requests; expected one each; run again")


def recorded(flow: Flow[R], rounds: list[Round]) -> Flow[R]:
    """Run a flow, and append to `rounds` what it asks, with the answers once there are any."""
    answers: Sequence[Answer] | None = None
    while True:
        try:
            requests = next_requests(flow, answers)
        except StopIteration as end:
            return end.value
        rounds.append(Round(requests, ()))
        answers = tuple((yield requests))
        rounds[-1] = Round(requests, answers)


def together(flows: Sequence[Flow[R]]) -> Flow[list[R]]:
    """Run several flows as one: each round holds the open requests of all. Return their results in order."""
    results: dict[int, R] = {}
    answers: dict[int, Sequence[Answer] | None] = dict.fromkeys(range(len(flows)))
    while answers:
        asking: dict[int, tuple[Request, ...]] = {}
        for index, answer in answers.items():
            try:
                asking[index] = next_requests(flows[index], answer)
            except StopIteration as end:
                results[index] = end.value
        answered = iter((yield [request for requests in asking.values() for request in requests]) if asking else ())
        answers = {index: tuple(islice(answered, len(requests))) for index, requests in asking.items()}
    return [results[index] for index in range(len(flows))]

"""Drive flows: send the open requests of all items as one batch per round, until every flow has returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

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


@dataclass(frozen=True, slots=True)
class _ResultWithRounds(Generic[R]):
    """The result of one item's flow, and all rounds that led to it."""

    result: R
    rounds: tuple[Round, ...]


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
    return [played.result for played in run_with_rounds(judge, items, ask)]


def run_with_rounds(judge: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], ask: Ask) -> list[_ResultWithRounds[R]]:
    """Return the results with their rounds, in the order of `items`.

    Raise AnswersMissing, naming the items, if requests remain unanswered, and ModelInvalid if `ask` returns a different
    number of answers than requests.
    """
    flows = [judge(item) for item in items]
    results: dict[int, R] = {}
    rounds: list[list[Round]] = [[] for _ in flows]
    answers: dict[int, tuple[Answer, ...] | None] = dict.fromkeys(range(len(flows)))
    while answers:
        asking = _advanced(flows, answers, results)
        owners = [items[index].id for index, requests in asking.items() for _ in requests]
        try:
            answered = _answers_to(ask, [request for requests in asking.values() for request in requests])
        except AnswersMissing as missing:
            raise missing.with_row_names(owners) from None
        answers = {}
        for index, requests in asking.items():
            answers[index] = answer = tuple(islice(answered, len(requests)))
            rounds[index].append(Round(requests, answer))
    return [_ResultWithRounds(results[index], tuple(rounds[index])) for index in range(len(flows))]


def together(flows: Sequence[Flow[R]]) -> Flow[list[R]]:
    """Run several flows as one: each round holds the open requests of all. Return their results in order."""
    results: dict[int, R] = {}
    answers: dict[int, Sequence[Answer] | None] = dict.fromkeys(range(len(flows)))
    while answers:
        asking = _advanced(flows, answers, results)
        if not asking:
            break
        answered = iter((yield [request for requests in asking.values() for request in requests]))
        answers = {index: tuple(islice(answered, len(requests))) for index, requests in asking.items()}
    return [results[index] for index in range(len(flows))]


def _advanced(
    flows: Sequence[Flow[R]], answers: Mapping[int, Sequence[Answer] | None], results: dict[int, R]
) -> dict[int, tuple[Request, ...]]:
    """Give flows their answers and return what they ask next; put the results of those that end into `results`."""
    asking: dict[int, tuple[Request, ...]] = {}
    for index, answer in answers.items():
        try:
            asking[index] = next_requests(flows[index], answer)
        except StopIteration as end:
            results[index] = end.value
    return asking


def _answers_to(ask: Ask, requests: list[Request]) -> Iterator[Answer]:
    answers = list(ask(requests)) if requests else []
    if len(answers) != len(requests):
        raise ModelInvalid(f"{len(answers)} answers to {len(requests)} requests; expected one each; run again")
    return iter(answers)

"""Requests to language models and their answers, independent of the metric that asks.

`backends/` has one module per way of running a model, `journal.ask` sends only requests without a cached answer,
`run.run` drives one flow per item, `transcript` records and replays flows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, as in a chat template."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Generate:
    """A request for a text. Decoding settings belong to the model (`Sampling`), not to the request.

    `schema` is a JSON Schema as JSON text: a backend that has structured output constrains the answer to it,
    any other ignores it. Empty: an unconstrained answer.
    """

    messages: tuple[Message, ...]
    schema: str = field(default="", repr=False)  # long; and `fake.Backend` answers by the rest


@dataclass(frozen=True, slots=True)
class Choose:
    """A request for the log-probabilities of fixed answers; nothing is generated.

    With `also`, a text, they are asked for a second time with this as the last message: a `Choice` then has the options
    twice. Engines of this machine take it.
    """

    messages: tuple[Message, ...]
    options: tuple[str, ...]
    also: str = ""

    @property
    def answered(self) -> list[tuple[tuple[Message, ...], str]]:
        """Return the messages and the option behind them for each log-probability."""
        others = [(*self.messages[:-1], Message("user", self.also))] if self.also else []
        return [(messages, option) for messages in (self.messages, *others) for option in self.options]


Request = Generate | Choose


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, verbatim.

    `logprobs` (natural logarithm) are those of the tokens of `text` under unconstrained decoding and the unmodified
    distribution (before temperature, top-k, top-p); `end_logprob` is that of the token that ended the turn, None if
    there is none or the server does not report it. `completion_tokens` counts all generated tokens, including the last.
    `finish` is "refused" if the prompt does not fit the context or a content filter intervened; `text` is then empty or
    incomplete. `reasoning` is what a server separated from `text`; other reasoning is in `text`, as it was written
    (`answer_text.reasoning_and_answer`).
    """

    text: str
    logprobs: tuple[float, ...] | None  # None: not requested, or not reported by the server
    end_logprob: float | None
    finish: Literal["stop", "length", "refused"]
    prompt_tokens: int
    completion_tokens: int
    problem: str = ""  # of a refused one: the server's words
    reasoning: str = ""
    answered_by: str = ""  # as a server says, where that is more than the name of the model that was asked


@dataclass(frozen=True, slots=True)
class Choice:
    """How likely each option of a `Choose` is as the beginning of an answer.

    `logprobs[i]` is the sum of the natural log-probabilities of the `tokens[i]` tokens of option i, without the end of
    turn. Both are None if the prompt does not fit the context or the server does not report them.
    """

    logprobs: tuple[float, ...] | None
    tokens: tuple[int, ...] | None
    prompt_tokens: int
    answered_by: str = ""  # as in `Completion`


Answer = Completion | Choice


@dataclass(frozen=True, slots=True)
class Missing:
    """A request that failed permanently, and the reason. It is not cached: the next run asks again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Decoding settings (Table 6). `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 switch those filters off."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    logprobs: bool = True  # without them p(R) is missing, but long reasoning needs a tenth of the space
    seed: int = 0


LATER = ("problem", "reasoning", "answered_by")  # fields of an answer that did not always exist


def answer_from_row(row: Mapping[str, Any]) -> Answer:
    """Return the answer of a JSON row made by `answer_to_row`. Raise TypeError or KeyError if invalid."""
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Completion(**fields) if "text" in row else Choice(**fields)


def answer_to_row(answer: Answer) -> dict[str, Any]:
    """Return the answer as a JSON value; an empty field of `LATER` is left out, as before that existed."""
    row = {name: getattr(answer, name) for name in answer.__slots__}  # `asdict` copies each number
    return {name: value for name, value in row.items() if name not in LATER or value}


def request_to_row(request: Request) -> dict[str, Any]:
    """Return the request as a JSON value; an unconstrained one has no `schema`, as before that field existed."""
    row: dict[str, Any] = {
        "messages": tuple({"role": message.role, "content": message.content} for message in request.messages)
    }
    if isinstance(request, Choose):
        return row | {"options": request.options} | ({"also": request.also} if request.also else {})
    return row | {"schema": request.schema} if request.schema else row


def request_from_row(row: Mapping[str, Any]) -> Request:
    """Return the request of a row made by `request_to_row`. Raise TypeError or KeyError if invalid."""
    messages = tuple(Message(**message) for message in row["messages"])
    if "options" in row:
        return Choose(messages, tuple(row["options"]), row.get("also", ""))
    return Generate(messages, row.get("schema", ""))


R = TypeVar("R")
# What a judge does with one item: yield requests, receive the answers in order, and return a result of its own type.
Flow = Generator[Sequence[Request], Sequence[Answer], R]
Ask = Callable[[Sequence[Request]], Sequence[Answer]]  # answers in the order of the requests


def ask_for_text(messages: tuple[Message, ...], schema: str = "") -> Flow[Completion]:
    """Request one text and return the completion: `answer = yield from ask_for_text(...)`. See `Generate`."""
    (answer,) = yield [Generate(messages, schema)]
    assert isinstance(answer, Completion), "a Generate is answered by a Completion, a Choose by a Choice"
    return answer


def ask_for_choice(messages: tuple[Message, ...], options: tuple[str, ...], also: str = "") -> Flow[Choice]:
    """Request the likelihood of each option: `choice = yield from ask_for_choice(...)`. See `Choose`."""
    (answer,) = yield [Choose(messages, options, also)]
    assert isinstance(answer, Choice), "a Generate is answered by a Completion, a Choose by a Choice"
    return answer


T_co = TypeVar("T_co", Completion, Choice, covariant=True)
Batch = Sequence[tuple[int, T_co | Missing]]  # (index of the request, answer or failure), in any order


class Backend(Protocol):
    """A model that answers requests.

    Both methods yield batches. A batch is computed only when the caller asks for it, so that the caller can first save
    the previous one; a backend that keeps many requests in flight yields those that are complete.
    """

    identity: (
        str  # everything that determines the answers: model revision, adapter content, engine; part of the cache key
    )

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]: ...

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]: ...

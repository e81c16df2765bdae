"""One layer for every family of questions to a model: requests in, answers out.

`backends/` holds one module per way of running a model, `journal.ask` asks one only for what it has not answered
before, `run.run` drives judges over samples, `transcript` records and replays.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from excam.records import Verdict

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, as a chat template takes it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Generate:
    """A request for text. How to sample belongs to the model (`Sampling`), not to the question."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """A request for how likely each of some fixed answers is; nothing is generated."""

    messages: tuple[Message, ...]
    options: tuple[str, ...]


Request = Generate | Choose


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, verbatim.

    `logprobs` (natural logarithm) are those of the tokens of `text` under unconstrained decoding and the unmodified
    distribution (before temperature, top-k, top-p); `end_logprob` is that of the token that ended the turn, None where
    none did or the server leaves it out. `completion_tokens` counts every generated token, the last one included.
    "refused": nothing was generated (the prompt does not fit the context, or a content filter stepped in); `text` is
    empty or what came before.
    """

    text: str
    logprobs: tuple[float, ...] | None  # None: not asked for, or the server gives none
    end_logprob: float | None
    finish: Literal["stop", "length", "refused"]
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Choice:
    """How likely each option of a `Choose` is as the beginning of an answer.

    `logprobs[i]` is the sum of the natural log-probabilities of the `tokens[i]` tokens of option i, its end of turn not
    among them. Both are None where the prompt does not fit the context or the server cannot tell.
    """

    logprobs: tuple[float, ...] | None
    tokens: tuple[int, ...] | None
    prompt_tokens: int


Answer = Completion | Choice


@dataclass(frozen=True, slots=True)
class Missing:
    """A request that failed for good, and why. Never kept: the next run asks again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Decoding settings (Table 6). `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 switch those filters off."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    logprobs: bool = True  # without them there is no p(R), and long thoughts take a tenth of the space
    seed: int = 0


def answer_from_row(row: Mapping[str, Any]) -> Answer:
    """The inverse of `dataclasses.asdict` after a trip through JSON. Raises TypeError or KeyError for other fields."""
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Completion(**fields) if "text" in row else Choice(**fields)


Flow = Generator[Sequence[Request], Sequence[Answer], Verdict]
Ask = Callable[[Sequence[Request]], Sequence[Answer]]  # answers in the order of the requests


def generated(messages: tuple[Message, ...]) -> Generator[Sequence[Request], Sequence[Answer], Completion]:
    """A step of a flow: ask for one text (`answer = yield from generated(...)`)."""
    (answer,) = yield [Generate(messages)]
    assert isinstance(answer, Completion), "an Ask answers each request in its own kind"
    return answer


def chosen(
    messages: tuple[Message, ...], options: tuple[str, ...]
) -> Generator[Sequence[Request], Sequence[Answer], Choice]:
    """A step of a flow: ask how likely each option is (`choice = yield from chosen(...)`)."""
    (answer,) = yield [Choose(messages, options)]
    assert isinstance(answer, Choice), "an Ask answers each request in its own kind"
    return answer


T_co = TypeVar("T_co", Completion, Choice, covariant=True)
Batch = Sequence[tuple[int, T_co | Missing]]  # (index of the request, what came back), in any order


class Backend(Protocol):
    """A model that can be asked.

    Both methods yield batch by batch. A batch is not started before it is asked for, so that the caller can first put
    the last one on disk; a backend that keeps many requests in flight yields those that are done.
    """

    identity: str  # what decides the answers: model revision, adapter content, engine; part of the journal's key

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]: ...

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]: ...

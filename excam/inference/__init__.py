"""One layer for every family of questions to a model: requests in, completions out.

A backend is one module of this folder with a class `Backend`; the directory is the registry.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from excam.records import Verdict

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Generate:
    """A request for text. How to sample belongs to the model (`Sampling`), not to the question."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, verbatim. `logprobs` are those of the generated tokens under unconstrained decoding."""

    text: str
    logprobs: tuple[float, ...] | None
    finish: Literal["stop", "length", "refused"]
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Sampling:
    """Decoding settings (Table 6). `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 switch those filters off."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0


Flow = Generator[Sequence[Generate], Sequence[Completion], Verdict]


class Backend(Protocol):
    identity: str  # model revision and adapter content: part of the journal's key

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[tuple[int, Completion]]:
        """Yield (index of the request, completion) in any order, each as soon as its batch is done."""
        ...

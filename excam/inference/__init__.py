"""One layer for every family of questions to a model: requests in, completions out.

A backend is one module of this folder with a class `Backend`; the directory is the registry. `run.run` drives judges
over samples, `journal.ask` asks a backend only for what it has not answered before, `transcript` records and replays.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

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
    """A model's answer, verbatim.

    `logprobs` (natural logarithm) are those of the generated tokens under unconstrained decoding and the unmodified
    distribution (before temperature, top-k, top-p); where `finish` is "stop" the last one is that of the token that
    ends the turn, so there is one more than tokens in `text` (a server may leave it out). None: the server gives none.
    "refused": nothing was generated (the prompt does not fit the context, or a content filter stepped in); `text` is
    empty or what came before.
    """

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


def completion_from_row(row: Mapping[str, Any]) -> Completion:
    """The inverse of `dataclasses.asdict` after a trip through JSON. Raises TypeError or KeyError for other fields."""
    logprobs = row["logprobs"]
    return Completion(**{**row, "logprobs": None if logprobs is None else tuple(logprobs)})


Flow = Generator[Sequence[Generate], Sequence[Completion], Verdict]
Ask = Callable[[Sequence[Generate]], Sequence[Completion]]  # answers in the order of the requests


class Backend(Protocol):
    identity: str  # model revision and adapter content: part of the journal's key

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Sequence[tuple[int, Completion]]]:
        """Yield batch by batch: (index of the request, completion) pairs, in any order.

        The next batch is not started before it is asked for, so that the caller can first put the last one on disk.
        """
        ...

"""A deterministic backend for tests and demonstrations: no model, the same answers on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from excam.inference import Choice, Choose, Completion, Generate, Request, Sampling

ROWS_PER_BATCH = 8


def by_hash(request: Generate) -> str:
    """Return a text with a number that depends only on the request."""
    return f"answer {_hash_number(request, 'text') % 1000}"


class Backend:
    """Answers with `answer(request)`; a token is a word, and its log-probability a number in (-1, 0] by hash.

    `asked` lists every request in order, so that a test can check which requests were not sent.
    """

    has_window = False  # rows come in batches

    def __init__(self, answer: Callable[[Generate], str] = by_hash, identity: str = "fake") -> None:
        self.answer, self.identity = answer, identity
        self.asked: list[Request] = []

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield batches of `ROWS_PER_BATCH`; an answer of `max_tokens` words or more is cut ("length")."""
        for batch in self._batches(requests):
            yield [(index, self._completion(requests[index], sampling)) for index in batch]

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice]]]:
        """Yield batches of `ROWS_PER_BATCH`; options have as many tokens as words."""
        for batch in self._batches(requests):
            yield [(index, _choice(requests[index])) for index in batch]

    def _batches(self, requests: Sequence[Request]) -> Iterator[range]:
        for start in range(0, len(requests), ROWS_PER_BATCH):
            batch = range(start, min(start + ROWS_PER_BATCH, len(requests)))
            self.asked += [requests[index] for index in batch]
            yield batch

    def _completion(self, request: Generate, sampling: Sampling) -> Completion:
        text = self.answer(request)
        words = text.split()
        cut = len(words) >= sampling.max_tokens
        tokens = sampling.max_tokens if cut else len(words)
        logprobs = tuple(_logprob(request, str(at)) for at in range(tokens))
        return Completion(
            text=" ".join(words[:tokens]) if cut else text,
            logprobs=logprobs if sampling.logprobs else None,
            end_logprob=None if cut or not sampling.logprobs else _logprob(request, "end"),
            finish="length" if cut else "stop",
            prompt_tokens=_words(request),
            completion_tokens=tokens + (not cut),  # the end of the turn is a token too
        )


def _choice(request: Choose) -> Choice:
    tokens = tuple(max(1, len(option.split())) for option in request.options)
    logprobs = tuple(_logprob(request, option) * n for option, n in zip(request.options, tokens, strict=True))
    return Choice(logprobs, tokens, _words(request))


def _words(request: Request) -> int:
    return sum(len(message.content.split()) for message in request.messages)


def _logprob(request: Request, salt: str) -> float:
    return -(_hash_number(request, salt) % 1000) / 1000


def _hash_number(request: Request, salt: str) -> int:
    digest = hashlib.sha256(f"{salt}\n{request!r}".encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:8], "big")

"""A budget for requests to a paid server: no request is sent that could exceed it."""

from __future__ import annotations

from dataclasses import dataclass

from excam.config import Price
from excam.core.exceptions import BudgetSpent, InputInvalid
from excam.core.provenance import say
from excam.inference import Request

SAMPLE = 16  # requests after which the costs of all rows are estimated again, from the tokens that the server counted


@dataclass(slots=True)
class Budget:
    """What requests may cost in one run, and have cost. `rows` are those that are not scored yet.

    Costs follow from the tokens that the server counts, for unreadable answers too, or are what it says itself if that
    is more. A request whose tokens it does not count, or whose answer did not arrive, counts with the most that it can
    cost. Each open request may cost as much as the dearest one did. One thread reserves and releases, another one
    counts, so each number has one writer.
    """

    limit: float
    price: Price
    rows: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0  # requests whose tokens the server did not count
    dearest: float = 0.0  # cost of one request
    _beside: float = 0.0  # cost by the server's word, beyond that of the tokens
    _open: int = 0
    _prompt_reserved: int = 0
    _completion_reserved: int = 0
    _refused_repetition: bool = False
    _said_rate: bool = False

    @property
    def spent(self) -> float:
        """Return the cost of all requests so far."""
        return self.price.cost(self.prompt_tokens, self.completion_tokens) + self._beside

    @property
    def line(self) -> str:
        """Return a line for people: what was spent."""
        most = f", with the most for {self.unreported} requests whose tokens the server did not count"
        return f"spent {self.spent:.4f} of {self.limit:g}" + most * bool(self.unreported)

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> bool:
        """Reserve the most tokens that a request can have if they are within the limit; return whether they are."""
        if within := self._is_within(prompt_tokens, completion_tokens, 1):
            self._open += 1
            self._prompt_reserved += prompt_tokens
            self._completion_reserved += completion_tokens
        return within

    def release(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Release what was reserved for a request that is no longer open."""
        self._open -= 1
        self._prompt_reserved -= prompt_tokens
        self._completion_reserved -= completion_tokens
        if not self._said_rate and SAMPLE <= self.requests < self.rows:
            self._said_rate = True
            about = self.spent / self.requests * self.rows
            say(f"{self.requests} requests: {self.line}; {self.rows} rows cost about {about:.4f}")

    def count(self, prompt_tokens: int, completion_tokens: int, stated: float = 0.0) -> None:
        """Count the tokens of a request that was sent, and what it cost by the server's word; 0: it says nothing."""
        cost = self.price.cost(prompt_tokens, completion_tokens)
        self.dearest = max(self.dearest, cost, stated)
        self._beside += max(0.0, stated - cost)
        self.requests += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def count_unreported(self, prompt_tokens: int, completion_tokens: int, stated: float = 0.0) -> None:
        """Count the most tokens that a request can have whose tokens the server did not count, or the dearest one."""
        self.unreported += 1
        self.count(prompt_tokens, completion_tokens, max(stated, self.dearest))

    def allows_repetition(self) -> bool:
        """Return whether an open request can be sent again: what it cost so far is beside what is reserved for it."""
        allowed = self._is_within(0, 0, 0)
        self._refused_repetition |= not allowed
        return allowed

    def refuse_rest(self, most_tokens: tuple[int, int] | None) -> None:
        """Raise BudgetSpent if a request was refused, InputInvalid if the whole budget does not cover it.

        `most_tokens` are those of the next request, None if there is none.
        """
        most = max(self.price.cost(*most_tokens), self.dearest) if most_tokens else 0.0
        if most > self.limit:
            problem = f"found a request that may cost {most:.6f}; expected a budget above that"
            raise InputInvalid(f"budget {self.limit:g}: {problem}")
        if most_tokens:
            raise BudgetSpent(f"budget {self.limit:g}: {self.line}, and the next request may cost {most:.4f}")
        if self._refused_repetition:
            raise BudgetSpent(f"budget {self.limit:g}: {self.line}, and a request that failed is not sent again")

    def _is_within(self, prompt_tokens: int, completion_tokens: int, requests: int) -> bool:
        """Return whether so many more tokens and requests, beside those counted and open, are within the limit."""
        prompt, completion = self._prompt_reserved + prompt_tokens, self._completion_reserved + completion_tokens
        most = max(self.price.cost(prompt, completion), (self._open + requests) * self.dearest)
        return self.spent + most <= self.limit


def prompt_bytes(request: Request) -> int:
    """Return the bytes of a request's messages and schema in UTF-8."""
    texts = [message.content for message in request.messages] + [getattr(request, "schema", "")]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)

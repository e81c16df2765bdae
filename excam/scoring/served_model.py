"""Models behind servers: opened by a name and an address; what a server takes is found with the request itself.

That request is sent whole at first, and then without what the server refuses. No wording of a server decides anything:
a word such as `seed` in a refusal only says what is left out first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from excam.config import Model, Server
from excam.core import offline
from excam.core.addresses import key_in, without_secrets
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import say
from excam.inference import Backend, Generate, Sampling, backend_factory
from excam.inference.backends import openai
from excam.inference.backends.openai import Refusal, is_same_reason
from excam.inference.budget import Budget

KEY = "EXCAM_ENDPOINT_KEY"


class ServedBackend(backend_factory.LazyBackend):
    """A model behind a server, within a budget if there is one. Nothing is requested before the first question."""

    def __init__(self, server: Server, budget: Budget | None) -> None:
        model = Model(gpus=0, backend="openai", server=server, licence="the server's")
        super().__init__(server.name or "", model, None, None)
        self.server, self._budget = server, budget

    def with_what_it_takes(self, request: Generate, sampling: Sampling) -> ServedBackend:
        """Return the backend that leaves out of this request, and of others, what the server refuses; say what.

        Raises ModelInvalid if it gets no answer at all: results of an earlier run would otherwise be taken for those of
        another judge.
        """

        def attempt(server: Server) -> None:
            ServedBackend(server, self._budget)._opened_server().attempt(request, sampling)

        self._opened_server()  # raises for an invalid address or key
        try:
            found, lines = negotiate(self.server, request, sampling, attempt)
        except ModelInvalid as problem:
            reason = str(problem)
            expected = _expected_instead(reason, self.server.endpoint)
            raise ModelInvalid(f"{self.name}: {reason}; expected {expected}") from None
        for line in lines:
            say(f"{self.name}: {line}")
        return ServedBackend(found, self._budget)

    def left_out(self, request: Generate) -> str:
        """Return the part of a signature that says what is left out of requests, since it may change answers."""
        server = self.server
        omitted = ",".join(one for one in server.omit if one != "logprobs")  # the judge names that
        parts = (
            "" if server.limit_field == "max_tokens" else f"limit:{server.limit_field}",
            f"omit:{omitted}" if omitted else "",
            "" if server.system else "system:none",
            "structure:none" if request.schema and not server.structure else "",
        )
        return "|".join(filter(None, parts))

    def _open(self) -> Backend:
        return self._opened_server()

    def _opened_server(self) -> openai.Backend:
        return openai.open_model(self.name, self.model, None, None, self.identity, self._budget)


def open_server(
    name: str, endpoint: str, budget: Budget | None = None, concurrency: int | None = None
) -> ServedBackend:
    """Return the model or adapter that a server calls `name`. Nothing is requested yet, and nothing over the budget.

    At most `concurrency` requests are open at once, by default as many as of an entry of `models:`.

    Raises InputInvalid with --offline, ModelInvalid for an invalid address. The server's key, if it needs one, is in
    EXCAM_ENDPOINT_KEY; EXCAM_SERVER_KEY is that of `excam serve`.
    """
    offline.refuse(f"{name} at a server", endpoint)
    if key_in(endpoint) == "user":
        raise ModelInvalid(f"{name}: found a user in the server's address; expected none; set {KEY} to the key")
    try:
        server = Server(endpoint=endpoint, name=name, key_env=KEY if os.environ.get(KEY) else None)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    pace = {} if concurrency is None else {"concurrency": concurrency}
    return ServedBackend(server.model_copy(update=pace), budget)


def _expected_instead(reason: str, endpoint: str) -> str:
    """Return what is expected of a server that did not answer the first request for this reason."""
    expected = {
        r"HTTP 404": "an address that ends with /v1, and a name that /v1/models lists",
        r"HTTP (401|402|403)|HTTP 429.*quota": "a key, and an account, that may ask this model",
        r"HTTP 4(?!08|09|25|29)": "a chat model that takes this request",
        r"not a chat completion": "an OpenAI-compatible server, at an address that ends with /v1",
        r"ConnectError": f"a server at {without_secrets(endpoint)}; start it, or check the address",
    }
    return next((line for start, line in expected.items() if re.match(start, reason)), "an answer; run again")


# --- what a server takes

Attempt = Callable[[Server], None]  # sends the request once; raises Refusal, or ModelInvalid for no answer at all


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a request that a server may refuse: words that name it, and the settings without it."""

    named: re.Pattern[str]
    line: str  # for people, once it is left out
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    omit: str = ""

    def without(self, server: Server) -> Server:
        """Return the settings of a server that does not get this part."""
        omitted = [*server.omit, self.omit] if self.omit else server.omit
        return server.model_copy(update={**self.settings, "omit": omitted})


def _omitted(name: str, line: str = "") -> Part:
    return Part(re.compile(name), line or f"the server takes no {name}; its own is used", omit=name)


LIMIT = Part(
    re.compile("max_tokens|max_completion_tokens"),
    "the limit of an answer is sent as max_completion_tokens",
    {"limit_field": "max_completion_tokens"},
)
SAMPLING = (_omitted("seed"), _omitted("temperature"), _omitted("top_p"))
LOGPROBS = _omitted("logprobs", "the server gives no log-probabilities; p(R) is missing, and a clean report scores 0")
SCHEMA = Part(
    re.compile("response_format|json_schema|schema|structured|guided|grammar"),
    "the server takes no JSON Schema; answers are plain text",
    {"structure": False},
)
SYSTEM = Part(
    re.compile("system"), "the server takes no system messages; they begin the user's first one", {"system": False}
)


def negotiate(server: Server, request: Generate, sampling: Sampling, attempt: Attempt) -> tuple[Server, list[str]]:
    """Return the settings with which a server answers a request, and a line for each part that is left out.

    A part that the refusal names is left out if the next refusal is another one. If none helps, the request is sent
    without all of them, and then with one after the other again. Raises ModelInvalid with the server's words.
    """
    parts = [LIMIT, *SAMPLING]
    parts += [LOGPROBS] if sampling.logprobs else []
    parts += [SCHEMA] if request.schema and server.structure else []
    parts += [SYSTEM] if any(message.role == "system" for message in request.messages) else []
    left_out: list[Part] = []
    whole = server
    first = refusal = _refusal(server, attempt)
    while refusal:
        for part in [part for part in parts if part not in left_out and part.named.search(refusal.lower())]:
            other = _refusal(part.without(server), attempt)
            if other is None or not is_same_reason(other, refusal):
                server, refusal = part.without(server), other
                left_out.append(part)
                break
        else:
            server, more = _barest(server, [part for part in parts if part not in left_out], attempt, first or refusal)
            left_out += more
            break
    if left_out and _refusal(whole, attempt) is None:  # a fault that passed
        return whole, []
    return server, [part.line for part in parts if part in left_out]


def _barest(server: Server, parts: Sequence[Part], attempt: Attempt, words: str) -> tuple[Server, list[Part]]:
    """Return the settings without as few parts as possible, found by trying them all, and those parts."""
    left_out = [part for part in parts if part is not LIMIT]
    if _refusal(_without(server, left_out), attempt) is not None:
        left_out = list(parts)
        if LIMIT not in parts or _refusal(_without(server, left_out), attempt) is not None:
            raise ModelInvalid(words)
    for part in list(left_out):
        fewer = [one for one in left_out if one is not part]
        if part is not LIMIT and _refusal(_without(server, fewer), attempt) is None:
            left_out = fewer
    return _without(server, left_out), left_out


def _without(server: Server, parts: Sequence[Part]) -> Server:
    for part in parts:
        server = part.without(server)
    return server


def _refusal(server: Server, attempt: Attempt) -> str | None:
    try:
        attempt(server)
    except Refusal as words:
        return str(words)
    return None

"""Models behind servers: opened by a name and an address; what a server takes is found with the request itself.

That request is sent whole at first, and then without what the server refuses. No wording of a server decides anything:
a word such as `seed` in a refusal only says what is left out first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from excam.config import Model, Server
from excam.core import offline
from excam.core.addresses import key_in, without_secrets
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import say
from excam.inference import Backend, Generate, Sampling, backend_factory
from excam.inference.backends import _openai_connection, openai
from excam.inference.backends.openai import Refusal, is_same_reason
from excam.inference.budget import Budget
from excam.scoring.server_options import Serving, without

KEY = "EXCAM_ENDPOINT_KEY"
OPENAI = "https://api.openai.com/v1"
OPENAI_KEY, OPENAI_ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"  # environment variables that others read too
OPENAI_NAMES = re.compile(r"(gpt|chatgpt|o\d)[\w.\-]*$")
LISTING = 5.0  # seconds for the list of a server's models
MOST_NAMES = 8  # of them in one line
LOWER_LIMIT = "; expected --max-tokens"


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

        self._opened_server()  # raises for an invalid address or key
        try:
            server, lines = self._negotiated(request, sampling)
        except ModelInvalid as problem:
            reason = str(problem)
            if "; expected " not in reason:
                reason += f"; expected {_expected_instead(reason, self.server)}"
            raise ModelInvalid(f"{self.name}: {reason}") from None
        for line in lines:
            say(f"{self.name}: {line}")
        return ServedBackend(server, self._budget)

    def settings_needed(self, request: Generate, sampling: Sampling) -> dict[str, Any]:
        """Return the settings that the server needs to answer a request, beside those it has; none if it answers none.

        For the configuration of an experiment, which decides what is asked, so that nothing is left out unseen.
        """
        try:
            server, _ = self._negotiated(request, sampling)
        except ModelInvalid:
            return {}
        return {name: value for name, value in server.model_dump().items() if value != getattr(self.server, name)}

    def _negotiated(self, request: Generate, sampling: Sampling) -> tuple[Server, list[str]]:
        def attempt(server: Server, max_tokens: int = sampling.max_tokens) -> None:
            opened = ServedBackend(server, self._budget)._opened_server()
            opened.attempt(request, replace(sampling, max_tokens=max_tokens))

        return negotiate(self.server, request, sampling, attempt)

    def left_out(self, request: Generate) -> str:
        """Return the part of a signature that says what is left out of requests, since it may change answers."""
        server = self.server
        omitted = ",".join(name for name in server.omit if name != "logprobs")  # the judge names that
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
    name: str, endpoint: str, budget: Budget | None = None, serving: Serving | None = None
) -> ServedBackend:
    """Return the model or adapter that a server calls `name`. Nothing is requested yet, and nothing over the budget.

    Raises InputInvalid with --offline, ModelInvalid for an invalid address. The server's key, if it needs one, is in
    EXCAM_ENDPOINT_KEY; EXCAM_SERVER_KEY is that of `excam serve`.
    """
    offline.refuse(f"{name} at a server", endpoint)
    if key_in(endpoint) == "user":
        raise ModelInvalid(f"{name}: found a user in the server's address; expected none; set {KEY} to the key")
    try:
        server = Server(endpoint=endpoint, name=name, key_env=key_variable(endpoint))
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    return ServedBackend((serving or Serving()).checked().applied(server), budget)


def _expected_instead(reason: str, server: Server) -> str:
    """Return what is expected of a server that did not answer the first request for this reason."""
    endpoint = server.endpoint
    if not re.match(r"HTTP 4(?!01|02|03|08|09|25|29)", reason):
        names: list[str] = []
    elif (names := listed(endpoint)) and server.name not in names:
        return f"a name that the server lists: {_shown(names)}"
    expected = {
        r"HTTP 404": "an address that ends with /v1, and a name that /v1/models lists",
        r"HTTP (401|402|403)|HTTP 429.*quota": "a key, and an account, that may ask this model",
        r"HTTP 4(?!08|09|25|29)": "a chat model that takes this request",
        r"not a chat completion": "an OpenAI-compatible server, at an address that ends with /v1",
        r"ConnectError": f"a server at {without_secrets(endpoint)}; start it, or check the address",
    }
    return next((line for start, line in expected.items() if re.match(start, reason)), "an answer; run again")


def key_variable(endpoint: str) -> str | None:
    """Return the environment variable with the key of a server, None if it gets none.

    OPENAI_API_KEY is sent to OpenAI and to the address in OPENAI_BASE_URL, and to nobody else.
    """
    if os.environ.get(KEY):
        return KEY
    known = (OPENAI, os.environ.get(OPENAI_ADDRESS, ""))
    own = any(address and endpoint.rstrip("/") == address.rstrip("/") for address in known)
    return OPENAI_KEY if own and os.environ.get(OPENAI_KEY) else None


def address_of(name: str) -> str:
    """Return the address of a model that is named without one: that of OPENAI_BASE_URL, else OpenAI's; "" for none.

    OpenAI's only for a name of theirs, and with their key in the environment.
    """
    looks_like_a_path = name.startswith((".", "/", "~")) or name.count("/") > 1
    if not looks_like_a_path and (address := os.environ.get(OPENAI_ADDRESS, "").strip()):
        return address
    return OPENAI if OPENAI_NAMES.match(name) and os.environ.get(OPENAI_KEY) else ""


def hint(name: str) -> str:
    """Return what to type for the name of a model of OpenAI, "" for any other."""
    return f"{name} of OpenAI is {name}@{OPENAI}, with the key in {OPENAI_KEY}" if OPENAI_NAMES.match(name) else ""


def listed(endpoint: str) -> list[str]:
    """Return the names of the models that a server lists, none if it does not within `LISTING` seconds."""
    import asyncio

    import aiohttp

    variable = key_variable(endpoint)
    key = os.environ.get(variable, "").strip() if variable else ""

    async def asked(url: str, shown: str) -> Any:
        limit = aiohttp.ClientTimeout(total=LISTING)
        async with (
            _openai_connection.route("server", url, shown, key).session() as session,
            session.get(url, timeout=limit) as response,
        ):
            return await response.json(content_type=None)

    try:
        chat, shown = _openai_connection.address("server", endpoint)
        with _openai_connection.event_loop() as loop:
            url = chat.replace("/chat/completions", "/models", 1)
            listing = asyncio.run_coroutine_threadsafe(asked(url, shown), loop).result()
        return [str(model["id"]) for model in listing["data"]]
    except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError, ModelInvalid):  # it lists nothing
        return []


def _shown(names: Sequence[str]) -> str:
    """Return the first names of a list in one short line."""
    line = ", ".join(name[:60] for name in names[:MOST_NAMES])
    return "".join(sign for sign in line if sign.isprintable()) + (", …" if len(names) > MOST_NAMES else "")


def without_name(endpoint: str) -> str:
    """Return what to type for an address without the name of a model, with the names that the server lists."""
    shown = without_secrets(endpoint)
    names = [] if offline.is_on() else listed(endpoint)
    return f"NAME@{shown}" + (f", with a name that the server lists: {_shown(names)}" if names else "")


# --- what a server takes

# Sends the request once, with another limit if `max_tokens` is given; raises Refusal, or ModelInvalid for no answer
Attempt = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a request that a server may refuse, by its name in `server_options.without`."""

    name: str
    line: str  # for people, once it is left out
    words: str = ""  # a pattern of what names it in a refusal, by default its name


LIMIT = Part("limit", "the limit of an answer is sent as max_completion_tokens", "max_tokens|max_completion_tokens")
SAMPLING = [Part(name, f"the server takes no {name}; its own is used") for name in ("seed", "temperature", "top_p")]
LOGPROBS = Part("logprobs", "the server gives no log-probabilities; p(R) is missing, and a clean report scores 0")
SCHEMA = Part(
    "schema",
    "the server takes no JSON Schema; answers are plain text",
    "response_format|json_schema|schema|structured|guided|grammar",
)
SYSTEM = Part("system", "the server takes no system messages; they begin the user's first one")
STREAM = Part("stream", "answers are read from a stream, the only form that the server has")


def negotiate(server: Server, request: Generate, sampling: Sampling, attempt: Attempt) -> tuple[Server, list[str]]:
    """Return the settings with which a server answers a request, and a line for each part that is left out.

    A part that the refusal names is left out if the next refusal is another one. If none helps, the request is sent
    without all of them, and then with one after the other again. Raises ModelInvalid with the server's words.
    """
    parts = [LIMIT] if server.limit_field == "max_tokens" else []
    parts += [part for part in SAMPLING if part.name not in server.omit]
    parts += [LOGPROBS] if sampling.logprobs and LOGPROBS.name not in server.omit else []
    parts += [SCHEMA] if request.schema and server.structure else []
    asks_system = server.system and any(message.role == "system" for message in request.messages)
    parts += [SYSTEM] if asks_system else []
    parts += [STREAM] if STREAM.name not in server.request_fields else []
    left_out: list[Part] = []
    whole = server
    first = refusal = _refusal(server, attempt)
    for limit in _lower_limits(first or "", sampling.max_tokens):
        shorter = partial(attempt, max_tokens=limit)
        if _refusal(server, shorter) is None and (first := _refusal(server, attempt)):
            raise ModelInvalid(f"{first}{LOWER_LIMIT} {limit}")
    while refusal:
        sent = [part for part in parts if part not in left_out]
        for part in [part for part in sent if re.search(part.words or part.name, refusal.lower())]:
            other = _refusal(without(server, part.name), attempt)
            if other is None or not is_same_reason(other, refusal):
                server, refusal = without(server, part.name), other
                left_out.append(part)
                break
        else:
            server, more = _barest(server, sent, attempt, first or refusal)
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
        fewer = [other for other in left_out if other is not part]
        if part is not LIMIT and _refusal(_without(server, fewer), attempt) is None:
            left_out = fewer
    return _without(server, left_out), left_out


def _lower_limits(refusal: str, limit: int) -> list[int]:
    """Return numbers in the words of a refusal that are limits of an answer too, lower than its own; the highest two.

    A refusal that speaks of the limit may mean its value, and not its name.
    """
    words = refusal.partition(": ")[2]
    numbers = {int(number) for number in re.findall(r"\d{1,9}", words)} if re.search(LIMIT.words, words) else set[int]()
    return sorted((number for number in numbers if 0 < number < limit), reverse=True)[:2]


def _without(server: Server, parts: Iterable[Part]) -> Server:
    return without(server, *(part.name for part in parts))


def _refusal(server: Server, attempt: Attempt) -> str | None:
    try:
        attempt(server)
    except Refusal as words:
        return str(words)
    return None

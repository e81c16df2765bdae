"""Models behind servers: opened by a name and an address; what a server takes is found with the request itself.

That request is sent whole at first, and then without what the server refuses. No wording of a server decides anything:
a word such as `seed` in a refusal only says what is left out first.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from excam.config import Model, Server
from excam.core import offline
from excam.core.addresses import key_in, without_secrets
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.inference import Backend, Batch, Choice, Choose, Completion, Generate, Message, Sampling
from excam.inference.backend_factory import LazyBackend
from excam.inference.backends import _openai_connection, openai
from excam.inference.backends.openai import Refusal, is_same_reason
from excam.inference.cache_keys import cache_key
from excam.inference.journal import InMemory, Journal
from excam.scoring.opened_model import ModelEntry, OpenedModel, Probe
from excam.scoring.options import Serving

KEY = "EXCAM_ENDPOINT_KEY"
OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"  # an environment variable that others read too
# OpenAI-compatible addresses, as the providers document them, and the environment variables with their keys.
# <PROVIDER>_BASE_URL in the environment is another address; that of Azure is each customer's own.
PROVIDERS = {
    "openai": (OPENAI, OPENAI_KEY),
    "azure": ("", "AZURE_OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "google": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "ollama": ("http://127.0.0.1:11434/v1", ""),
    "vllm": ("http://127.0.0.1:8000/v1", ""),
    "lmstudio": ("http://127.0.0.1:1234/v1", ""),
}
OPENAI_NAMES = re.compile(r"(gpt|chatgpt|o\d)[\w.\-]*$")
LISTING = 5.0  # seconds for the list of a server's models
SAMPLINGS = [Sampling(1, logprobs=logprobs) for logprobs in (False, True)]
MOST_NAMES = 8  # of them in one line
SHORT = Generate((Message("system", "Answer briefly."), Message("user", "Answer with {}")))


class ServedBackend(LazyBackend):
    """A model behind a server. Nothing is requested before the first question.

    Then it is found out what the server takes: of texts, and of those with a schema or log-probabilities. What is left
    out is kept in the journal of the answers. It stands in `settings`, and not in `identity`: the same questions find
    their answers again.
    """

    def __init__(self, name: str, model: Model, journal: Journal | None = None) -> None:
        assert model.server, "callers have looked"
        super().__init__(name, model, None, None)
        self.server, self._journal = model.server, InMemory() if journal is None else journal
        self._tried: set[str] = set()  # by `_key`

    def find_out(self, request: Generate, sampling: Sampling) -> None:
        """Find out now what the server refuses of this request, and of others; nothing is requested if it is known.

        Raises ModelInvalid if there is no answer at all: results of an earlier run would otherwise be taken for those
        of another judge.
        """
        key = self._key(request, sampling)
        if key in self._journal:
            self.server = without(self.server, *self._kept(key))
        else:
            self._find_out(request, sampling, now=True)

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]:
        """Yield answers to texts, without what the server refuses of a short one. Raises as `find_out`."""
        self._find_out(replace(SHORT, schema=requests[0].schema), sampling)
        return super().generate(requests, sampling)

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]:
        """Yield choices, without what the server refuses of a short text. Raises as `find_out`."""
        self._find_out(SHORT, Sampling(max_tokens=1, logprobs=False))
        return super().choose(requests)

    def window(self, sampling: Sampling) -> openai.ServerWindow:
        """Return a window of open requests, without what the server refuses. Raises as `find_out`."""
        if not self._tried:
            self._find_out(SHORT, sampling)
        return super().window(sampling)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The server, what was requested of it, and what is left out of requests without having been told so."""
        keys = [self._key(replace(SHORT, schema=schema), how) for schema in ("", "{}") for how in SAMPLINGS]
        left_out = dict.fromkeys(name for key in keys for name in self._kept(key))
        return {**super().settings, **({"left_out": [*left_out]} if left_out else {})}

    def _key(self, request: Generate, sampling: Sampling) -> str:
        """Return the key for all requests that have a schema, and log-probabilities, as this one has or has not."""
        alike = replace(SHORT, schema="{}" if request.schema else "")
        return cache_key(f"takes|{self.identity}", alike, SAMPLINGS[sampling.logprobs])

    def _kept(self, key: str) -> list[str]:
        """Return the names of the parts that are left out of such requests, as far as the journal knows."""
        if key not in self._journal:
            return []
        answer = self._journal[key]
        assert isinstance(answer, Completion), "as `_find_out` keeps it"
        return json.loads(answer.text)

    def _find_out(self, request: Generate, sampling: Sampling, *, now: bool = False) -> None:
        key = self._key(request, sampling)
        if key in self._tried:
            return
        opened = self._opened()  # raises for an invalid address or key
        assert isinstance(opened, openai.Backend), "as `_open` returns it"

        def attempt(server: Server, max_tokens: int = sampling.max_tokens) -> None:
            opened.server = server
            opened.attempt(request, replace(sampling, max_tokens=max_tokens))

        try:
            self.server, left_out = negotiate(self.server, request, sampling, attempt)
        except ModelInvalid as problem:
            reason = str(problem)
            if not now and reason.startswith("ConnectError"):
                return  # the questions wait for the server
            if "; expected " not in reason:
                reason += f"; expected {_expected_instead(reason, opened.name, self.server.endpoint)}"
            raise ModelInvalid(f"{self.name}: {reason}") from None
        finally:
            opened.server = self.server
        for part in left_out:
            say(f"{self.name}: {part.line}")
        names = [part.name for part in left_out]
        if key not in self._journal or self._kept(key) != names:
            self._journal.add(self.identity, {key: Completion(json.dumps(names), None, None, "stop", 0, 0)})
        self._tried.add(key)

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
        opened = openai.open_model(self.name, self.model, None, None, self.identity)
        opened.server = self.server
        return opened


def opened(at: ModelEntry, probe: Probe | None, journal: Journal | None) -> OpenedModel:
    """Open a model behind a server. Its version is unknown: the signature says so, and what the server does not take.

    A server that ignores a schema or log-probabilities in silence counts as having them: its answers are parsed like
    any other. Raises as `ServedBackend.find_out`, if there is a `probe`.

    Args:
        at: the entry of `models:`
        probe: returns what is asked first; None: what the server takes is found out later
        journal: of the answers; None: in memory
    """
    backend, first = ServedBackend(at.name, at.model, journal), Generate(())
    names = (backend.server.name or at.model.hub or at.name, at.name, at.model.hub)
    model = OpenedModel(backend, f"model:{names[0]}|on:served", names=names, constrained=True, label=at.name)
    if probe:
        first, sampling = probe(model)
        backend.find_out(first, sampling)
    return replace(
        model,
        computed=backend.left_out(first),
        constrained=backend.server.structure and (bool(first.schema) or not probe),
        probabilities="logprobs" not in backend.server.omit,
    )


def entry_of(name: str, endpoint: str, serving: Serving | None = None) -> ModelEntry:
    """Return an entry of `models:` for the model or adapter that a server calls `name`.

    Raises InputInvalid with --offline, ModelInvalid for an invalid address. The server's key, if it needs one, is in
    EXCAM_ENDPOINT_KEY; EXCAM_SERVER_KEY is that of `excam serve`.
    """
    key_env = key_variable(endpoint)
    offline.refuse(f"{name} at a server", endpoint)
    if key_in(endpoint) == "user":
        raise ModelInvalid(f"{name}: found a user in the server's address; expected none; set {KEY} to the key")
    options = (serving or Serving()).checked()
    try:
        server = without(Server(endpoint=endpoint, name=name, key_env=key_env, **options.settings), *options.omit)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    return ModelEntry(name, Model(gpus=0, backend="openai", server=server, licence="the server's"))


def _expected_instead(reason: str, name: str, endpoint: str) -> str:
    """Return what is expected of a server that did not answer the first request for this reason."""
    if not re.match(r"HTTP 4(?!01|02|03|08|09|25|29)", reason):
        names: list[str] = []
    elif (names := listed(endpoint)) and name not in names:
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

    The key of a provider is sent to its address and to the one in <PROVIDER>_BASE_URL, and to nobody else.
    """
    if os.environ.get(KEY):
        return KEY
    for provider, (documented, key) in PROVIDERS.items():
        addresses = (documented, _own_address(provider))
        is_provider = any(address and endpoint.rstrip("/") == address.rstrip("/") for address in addresses)
        if is_provider and os.environ.get(key):
            return key
    return None


def _own_address(provider: str) -> str:
    return os.environ.get(f"{provider.upper()}_BASE_URL", "").strip()


def of_provider(text: str) -> tuple[str, str] | None:
    """Return the name and the address of a model named PROVIDER/NAME; None for another name.

    Raises InputInvalid if its key or its address is missing.
    """
    provider, _, name = text.partition("/")
    if not name or "@" in name or provider not in PROVIDERS:
        return None
    address, key = PROVIDERS[provider]
    override = _own_address(provider)
    address = override or address
    if not address:
        raise InputInvalid(
            f"--model: {text}: no address of your {provider}; set {provider.upper()}_BASE_URL, such as "
            "https://RESOURCE.openai.azure.com/openai/v1"
        )
    if key and not override and not key_variable(address):  # at an own address there may be none
        other = "" if "/" in name else f"; the hub's model of this name is {text}@main"
        raise InputInvalid(f"--model: {text}: no key for {without_secrets(address)}; set {key}{other}")
    say(f"{text}: {name} of {provider}, at {without_secrets(address)}")
    return name, address


def hint(name: str) -> str:
    """Return what to type for the name of a model of OpenAI, "" for any other."""
    line = f"{name} of OpenAI: `export {OPENAI_KEY}=...`, then --model openai/{name}"
    return line if OPENAI_NAMES.match(name) else ""


def listed(endpoint: str) -> list[str]:
    """Return the names of the models that a server lists, none if it does not within `LISTING` seconds."""
    import asyncio

    import aiohttp

    variable = key_variable(endpoint)
    key = os.environ.get(variable, "").strip() if variable else ""

    async def asked(url: str, label: str) -> Any:
        limit = aiohttp.ClientTimeout(total=LISTING)
        async with (
            _openai_connection.route("server", url, label, key).session() as session,
            session.get(url, timeout=limit) as response,
        ):
            return await response.json(content_type=None)

    try:
        chat, label = _openai_connection.address("server", endpoint)
        with _openai_connection.event_loop() as loop:
            url = chat.replace("/chat/completions", "/models", 1)
            listing = asyncio.run_coroutine_threadsafe(asked(url, label), loop).result()
        return [str(model["id"]) for model in listing["data"]]
    except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError, ModelInvalid):  # it lists nothing
        return []


def _shown(names: Sequence[str]) -> str:
    """Return the first names of a list in one short line."""
    line = ", ".join(name[:60] for name in names[:MOST_NAMES])
    return "".join(sign for sign in line if sign.isprintable()) + (", …" if len(names) > MOST_NAMES else "")


def without_name(endpoint: str) -> str:
    """Return what to type for an address without the name of a model, with the names that the server lists."""
    address = without_secrets(endpoint)
    names = [] if offline.is_on() else listed(endpoint)
    return f"NAME@{address}" + (f", with a name that the server lists: {_shown(names)}" if names else "")


# --- what a server takes

SETTINGS: dict[str, dict[str, Any]] = {  # without a part of requests that is no field to omit
    "schema": {"structure": False},
    "system": {"system": False},
    "limit": {"limit_field": "max_completion_tokens"},  # it gets another name
}


def without(server: Server, *parts: str) -> Server:
    """Return the settings of a server without these parts of requests: of OMITTED, or the limit."""
    for name in parts:
        server = server.model_copy(update=SETTINGS.get(name) or {"omit": [*server.omit, name]})
    return server


# Sends the request once, with another limit if `max_tokens` is given; raises Refusal, or ModelInvalid for no answer
Attempt = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of a request that a server may refuse, by its name in `without`."""

    name: str
    line: str  # for people, once it is left out
    words: str = ""  # a pattern of what names it in a refusal, by default its name


LIMIT = Feature("limit", "the limit of an answer is sent as max_completion_tokens", "max_tokens|max_completion_tokens")
SAMPLING = [Feature(name, f"the server takes no {name}; its own is used") for name in ("seed", "temperature", "top_p")]
LOGPROBS = Feature("logprobs", "the server gives no log-probabilities; p(R) is missing, and a clean report scores 0")
SCHEMA = Feature(
    "schema",
    "the server takes no JSON Schema; answers are plain text",
    "response_format|json_schema|schema|structured|guided|grammar",
)
SYSTEM = Feature("system", "the server takes no system messages; they begin the user's first one")


def negotiate(server: Server, request: Generate, sampling: Sampling, attempt: Attempt) -> tuple[Server, list[Feature]]:
    """Return the settings with which a server answers a request, and each part that is left out.

    A part that the refusal names is left out if the next refusal is another one. If none helps, the request is sent
    without all of them, and then with one after the other again. Raises ModelInvalid with the server's words.

    Args:
        server: its settings so far
        request: the first one
        sampling: how it is decoded
        attempt: sends the request once with other settings; raises Refusal
    """
    parts = _parts(server, request, sampling)
    left_out: list[Feature] = []
    whole = server
    first = refusal = _refusal(server, attempt)
    for limit in _lower_limits(first or "", sampling.max_tokens):
        shorter = partial(attempt, max_tokens=limit)
        if _refusal(server, shorter) is None and (first := _refusal(server, attempt)):
            raise ModelInvalid(f"{first}; expected --max-tokens {limit}")
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
    return server, [part for part in parts if part in left_out]


def _parts(server: Server, request: Generate, sampling: Sampling) -> list[Feature]:
    """Return the parts that a server may refuse of a request as it is sent."""
    sent = (
        (LIMIT, server.limit_field == "max_tokens"),
        *((part, part.name not in server.omit) for part in SAMPLING),
        (LOGPROBS, sampling.logprobs and LOGPROBS.name not in server.omit),
        (SCHEMA, request.schema and server.structure),
        (SYSTEM, server.system and any(message.role == "system" for message in request.messages)),
    )
    return [part for part, is_sent in sent if is_sent]


def _barest(server: Server, parts: Sequence[Feature], attempt: Attempt, words: str) -> tuple[Server, list[Feature]]:
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


def _without(server: Server, parts: Iterable[Feature]) -> Server:
    return without(server, *(part.name for part in parts))


def _refusal(server: Server, attempt: Attempt) -> str | None:
    try:
        attempt(server)
    except Refusal as words:
        return str(words)
    return None

"""Any server that speaks OpenAI's chat completions: a paid API, or `vllm serve` for many small jobs.

Texts go out as JSON and the server tokenises them: what its tokenizer does with control tokens inside them is its own
affair, and so are the sampling settings that are not sent (start vLLM with `--generation-config vllm`).

The key comes from an environment variable, goes into one header, and into no message, file or log. TLS certificates are
verified and redirects not followed. As elsewhere, HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE are heeded; a
server on this very machine is never asked through a proxy.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from excam import offline
from excam.config import Model, Server
from excam.exceptions import ModelInvalid
from excam.inference import Choice, Choose, Completion, Generate, Message, Missing, Sampling
from excam.inference.backends import _openai_bodies as bodies
from excam.inference.chat import well_formed
from excam.inference.keys import seed

if TYPE_CHECKING:
    import httpx

PACKAGES = ()  # what moves an answer is installed on the server

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FINAL = frozenset({401, 402, 403, 404, 405})  # what one request meets all others will, and these codes of OpenAI's
FINAL_CODES = frozenset(
    {"insufficient_quota", "invalid_api_key", "model_not_found"}
    | {"unknown_parameter", "unsupported_parameter", "unsupported_value"}
)
LONGEST_WAIT = 300.0  # seconds; a server that asks for more is as good as down
DOWN = 16  # so many requests in a row that used up their attempts: the server is down
LARGEST = 64 * 2**20  # bytes of a response
CONNECT = 30.0  # seconds; the rest of `timeout` is the model's
TOP = 20  # the most alternatives per token that OpenAI and vLLM list

A = TypeVar("A", Completion, Choice)


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """The backend for an entry of `models:`; see `backends`. Raises ModelInvalid for an adapter: a server has its own.

    The server is asked for `server.name`, the hub id, or the entry's own name, whichever is given first.
    """
    assert model.server is not None, "the configuration is checked first"
    if adapter is not None:
        raise ModelInvalid(
            f"{name}: adapter {adapter} for a model behind a server; expected none; serve the adapter there and name "
            "it in models.*.server.name"
        )
    return Backend(model.server.name or model.hub or name, model.server, identity)


class _Failed(Exception):  # never leaves this module
    """A request failed. `again`: worth asking again, after `wait` seconds at least; `final`: so will all others."""

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0.0, final: bool = False) -> None:
        super().__init__(reason)
        self.again, self.wait, self.final = again, wait, final


@dataclass(frozen=True, slots=True)
class _Question(Generic[A]):
    """What is sent, how the answer is read, and the answer where the server refuses or cannot tell."""

    fields: Mapping[str, Any]
    read: Callable[[Any], A]
    refused: A
    may_lack_logprobs: bool = False


@dataclass(slots=True)
class _Asking:
    """What the requests of one call share; once `why` is set, nobody asks any more."""

    client: httpx.AsyncClient
    over: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = ""
    failed_in_a_row: int = 0

    def stop(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()

    async def sleep(self, seconds: float) -> None:
        """Wait so long, or until nobody asks any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over.wait()


class Backend:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(
        self, asked: str, server: Server, identity: str = "", *, attempts: int = 8, first_wait: float = 1.0
    ) -> None:
        """`asked`: the model's name there. `first_wait` in seconds: waits double up to a minute, with jitter.

        A wait that the server asks for (`Retry-After`) holds for all requests. Raises ModelInvalid when the variable
        `server.key_env` is not set or holds no key, or when the endpoint is no address.
        """
        self.asked, self.server, self.attempts, self.first_wait = asked, server, attempts, first_wait
        self.identity = identity or f"openai|{asked}"
        self._url, self._shown = _address(asked, server.endpoint)
        offline.refuse(f"{asked} at {self._shown}", server.endpoint)
        self._key = _key(asked, server, self._shown)
        self._gap = 60 / server.requests_per_minute if server.requests_per_minute else 0.0
        self._free = 0.0  # when the next request may start, by time.monotonic()
        self._counts: Counter[str] = Counter()
        self._client()  # whether there can be one is said now, not in the middle of a job

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts for the manifest: who was asked, and what this process sent, was told it used, and owes for that.

        Answers that came from the journal cost nothing here. `cost` is None without a price.
        """
        prompt, completion = self._counts["prompt_tokens"], self._counts["completion_tokens"]
        price = self.server.price
        return {
            "endpoint": self._shown,
            "name": self.asked,
            "requests": self._counts["requests"],
            "retries": self._counts["retries"],
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "cost": price and price.cost(prompt, completion),
        }

    def generate(
        self, requests: Sequence[Generate], sampling: Sampling
    ) -> Iterator[list[tuple[int, Completion | Missing]]]:
        """Yield each answer as it comes; at most `concurrency` requests are open or answered and not yet taken.

        A request that failed for good is `Missing`, with the reason. After a problem that all requests would meet (a
        wrong key, no such model, a server that is down) the others are not asked any more. "refused": the prompt does
        not fit the context, or a content filter stepped in; one that leaves less than `max_tokens` each server treats
        in its own way (vLLM answers in what is left). What a server with a reasoning parser takes out of the text
        stands in front of it again, between <think> tags. `logprobs` are what the server says they are (vLLM: of the
        unmodified distribution), None where it gives none or a stand-in: not a number, above 0, or -9999.
        """
        refused = Completion("", None, None, "refused", 0, 0)
        yield from self._all(_Question(self._text(one, sampling), bodies.completion, refused) for one in requests)

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice | Missing]]]:
        """Yield each choice as it comes, told from the alternatives to the first token of an answer.

        One token is generated, and the 20 likeliest in its place are listed. If each option is exactly one of them,
        spelled the same, the choice is known; otherwise (an option of several tokens, a rare one, a model that thinks
        first, a server without log-probabilities) `logprobs` and `tokens` are None: ask for a text instead.
        """
        yield from self._all(
            _Question(
                self._first_token(one), bodies.choice_of(one.options), Choice(None, None, 0), may_lack_logprobs=True
            )
            for one in requests
        )

    def _text(self, request: Generate, sampling: Sampling) -> dict[str, Any]:
        fields = {
            self.server.limit_field: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": seed(request, sampling),
        }
        if sampling.top_k:
            fields["top_k"] = sampling.top_k  # not OpenAI's; vLLM and others take it
        if sampling.logprobs:
            fields["logprobs"] = True
        return self._fields(request.messages, fields)

    def _first_token(self, request: Choose) -> dict[str, Any]:
        # the distribution as it is, should a server show the one it samples from
        settings = {"temperature": 1.0, "top_p": 1.0, "logprobs": True, "top_logprobs": TOP}
        return self._fields(request.messages, {self.server.limit_field: 1, **settings})

    def _fields(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> dict[str, Any]:
        said = [{"role": message.role, "content": well_formed(message.content)} for message in messages]
        kept = {name: value for name, value in settings.items() if name not in self.server.omit}
        return {"model": self.asked, "messages": said, **kept}

    def _all(self, questions: Iterable[_Question[A]]) -> Iterator[list[tuple[int, A | Missing]]]:
        """Keep `concurrency` questions open. The next is asked when the caller, having kept the last, comes back."""
        waiting = enumerate(questions)
        opened: dict[Future[A | Missing], int] = {}
        with _event_loop() as loop:
            asking = _Asking(self._client())
            try:
                while True:
                    for at, question in islice(waiting, self.server.concurrency - len(opened)):
                        opened[asyncio.run_coroutine_threadsafe(self._answer(asking, question), loop)] = at
                    if not opened:
                        return
                    done, _ = wait(opened, return_when=FIRST_COMPLETED)
                    yield [(opened.pop(one), one.result()) for one in done]
            finally:
                asyncio.run_coroutine_threadsafe(_ended(asking.client), loop).result()

    async def _answer(self, asking: _Asking, question: _Question[A]) -> A | Missing:
        delay, reason = 0.0, ""
        for attempt in range(self.attempts):
            await self._turn(asking, delay)
            if asking.why:
                return Missing(f"not asked any more: {asking.why}")
            self._counts.update(requests=1, retries=int(attempt > 0))
            try:
                answer = await self._once(asking.client, question)
            except _Failed as problem:
                reason = self._safe(str(problem))
                if problem.final:
                    asking.stop(reason)
                if not problem.again:
                    asking.failed_in_a_row = 0
                    return Missing(reason)
                self._free = max(self._free, time.monotonic() + problem.wait)
                delay = min(60.0, self.first_wait * 2**attempt) * random.uniform(0.5, 1.0)
            else:
                asking.failed_in_a_row = 0
                return answer
        asking.failed_in_a_row += 1
        if asking.failed_in_a_row >= DOWN:
            asking.stop(f"the server is down, {DOWN} requests in a row failed: {reason}")
        return Missing(f"{reason} ({self.attempts} attempts)")

    async def _turn(self, asking: _Asking, delay: float) -> None:
        """Wait for this request's own delay, and until the next one may start: evenly spaced, and after Retry-After."""
        if delay:
            await asking.sleep(delay)
        while not asking.why and (left := self._free - time.monotonic()) > 0:
            await asking.sleep(left)
        self._free = max(self._free, time.monotonic()) + self._gap

    async def _once(self, client: httpx.AsyncClient, question: _Question[A]) -> A:
        """Ask once. Raises _Failed."""
        response, body = await self._posted(client, question.fields)
        if response.status_code == 200:
            return self._read(question, body)
        code, message = bodies.problem(body)
        reason = f"HTTP {response.status_code}: {message}"
        if response.is_redirect:
            where = response.headers.get("Location", "nowhere")
            raise _Failed(f"HTTP {response.status_code}: redirected to {where}; expected an answer", final=True)
        if response.status_code in (400, 403, 413, 422) and bodies.is_refusal(code, message):
            return question.refused
        if question.may_lack_logprobs and response.status_code in (400, 403, 422) and "logprobs" in message.lower():
            return question.refused
        delay = bodies.retry_after(response.headers.get("Retry-After", ""))
        if delay > LONGEST_WAIT:
            raise _Failed(f"{reason} (wants {delay:.0f} s of waiting)", final=True)
        final = response.status_code in FINAL or code in FINAL_CODES
        raise _Failed(reason, again=response.status_code in TRANSIENT and not final, wait=delay, final=final)

    async def _posted(self, client: httpx.AsyncClient, fields: Mapping[str, Any]) -> tuple[httpx.Response, bytes]:
        """The response, and its body. Raises _Failed when there is no whole one in time."""
        import httpx

        body = bytearray()
        try:
            # httpx's own timeouts are per read: a server that sends a byte now and then would hold us for ever
            async with (
                asyncio.timeout(self.server.timeout),
                client.stream("POST", self._url, json=fields) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > LARGEST:
                        raise _Failed(f"HTTP {response.status_code} with more than {LARGEST} bytes")
                return response, bytes(body)
        except TimeoutError:
            raise _Failed(f"no whole answer within {self.server.timeout:g} s", again=True) from None
        except httpx.RequestError as problem:  # refused, reset, half a body
            reason = f"{type(problem).__name__}: {problem}"
            untrusted = "CERTIFICATE_VERIFY_FAILED" in reason
            raise _Failed(reason, again=not untrusted, final=untrusted) from None

    def _read(self, question: _Question[A], body: bytes) -> A:
        """The answer in a body of status 200. Raises _Failed, to be asked again, when there is none."""
        try:
            found = json.loads(body)
            prompt, completion = bodies.usage(found)
            self._counts.update(prompt_tokens=prompt, completion_tokens=completion)
            if "error" in found and not found.get("choices"):
                raise _Failed(f"HTTP 200 with a problem: {bodies.problem(body)[1]}", again=True)
            return question.read(found)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
            detail = f"{type(problem).__name__}: {problem}"
            raise _Failed(f"not a chat completion ({detail[:80]})", again=True) from None

    def _client(self) -> httpx.AsyncClient:
        """A connection pool. Raises ModelInvalid when the environment's settings of proxy or TLS are not usable."""
        import httpx

        headers = {"Accept-Encoding": "gzip", **({"Authorization": f"Bearer {self._key}"} if self._key else {})}
        try:
            return httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(None, connect=CONNECT),
                limits=httpx.Limits(max_connections=None),
                follow_redirects=False,
                mounts=dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]")),  # no proxy to ourselves
            )
        except (httpx.InvalidURL, ValueError, ImportError, OSError) as problem:
            raise ModelInvalid(
                f"{self.asked}: {self._shown} cannot be asked: {self._safe(str(problem))}; check HTTPS_PROXY, "
                "ALL_PROXY, NO_PROXY and SSL_CERT_FILE in the environment"
            ) from None

    def _safe(self, text: str) -> str:
        """One short line without the key, should a server send it back."""
        text = text.replace(self._key, "***") if self._key else text
        return " ".join(text.split())[:200]


def _address(asked: str, endpoint: str) -> tuple[str, str]:
    """Where requests go, and the endpoint as it may be shown: without user, password and query. Raises ModelInvalid."""
    import httpx

    try:
        parts = urlsplit(endpoint)
        url = parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions", fragment="").geturl()
        if httpx.URL(url).host and parts.port != 0:  # reading a port that is none raises
            return url, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except (httpx.InvalidURL, ValueError):
        pass
    raise ModelInvalid(f"{asked}: models.*.server.endpoint is no address; expected one like https://host/v1")


def _key(asked: str, server: Server, shown: str) -> str:
    """The key, "" for a server that wants none. What no header can hold would be quoted by a library's exception."""
    if not server.key_env:
        return ""
    key = os.environ.get(server.key_env, "").strip()
    if not key:
        raise ModelInvalid(f"{asked}: environment variable {server.key_env} is not set; expected the key of {shown}")
    if not key.isascii() or not key.isprintable():
        raise ModelInvalid(
            f"{asked}: environment variable {server.key_env} holds a line break or other characters that no key has; "
            f"expected the key of {shown} alone"
        )
    return key


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own: a notebook has a running one in the caller's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="asking", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(client: httpx.AsyncClient) -> None:
    """Cancel what is still open (the caller has had enough) and close the connections."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await client.aclose()

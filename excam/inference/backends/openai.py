"""Any server with OpenAI's chat completions API: a paid API, or `vllm serve` for many small jobs.

Texts are sent as JSON and tokenised by the server. We cannot control how it treats control tokens inside them, nor its
defaults for sampling settings that are not sent (start vLLM with `--generation-config vllm`).

The key is read from an environment variable and sent in one header; it never appears in a message, file or log. TLS
certificates are verified and redirects are not followed. HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE apply;
servers on this machine are never accessed through a proxy.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from excam.config import Model, Server
from excam.core import offline
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import say
from excam.inference import (
    Choice,
    Choose,
    Completion,
    Generate,
    Message,
    Missing,
    Request,
    Sampling,
    control_tokens,
)
from excam.inference.backends import _openai_bodies as bodies
from excam.inference.backends import _openai_connection as connection
from excam.inference.backends._openai_bodies import is_another, is_same_reason
from excam.inference.backends._openai_connection import CallFailed
from excam.inference.backends._openai_window import A, Asking, Room, ServerQuery, ServerWindow
from excam.inference.cache_keys import request_seed
from excam.inference.chat import replace_lone_surrogates, template_variables

if TYPE_CHECKING:
    import aiohttp

VERSION = 2
PACKAGES = ()  # packages that affect answers are on the server

NO_ANSWERS = 3  # how often a response without an answer is believed to be meant
LONGEST_WAIT = 600.0  # seconds; a server that asks for more counts as down
SAY_EVERY = 10.0  # seconds between two lines about attempts
DOWN = 16  # number of consecutive requests without an answer after which the server counts as down
SHORT = {"role": "user", "content": "Answer with {}"}  # a message that every model answers, to see whether it does
COMPACT = (
    "where the server is vLLM, start it with "
    """--structured-outputs-config '{"backend": "xgrammar", "disable_any_whitespace": true}'"""
)
NO_KEY = "no key was sent; set EXCAM_ENDPOINT_KEY, or models.*.server.key_env in the workflow"
SHORTEST_KEY = 4  # characters of a value in an address's query that may be a key
TOP = 20  # maximum of alternatives per token that OpenAI and vLLM list


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """Return the backend for an entry of `models:`; see `backends`. Raise ModelInvalid for an adapter (on the server).

    The model's name at the server is `server.name`, the hub id, or the name of the entry, in this order.
    """
    assert model.server is not None, "the configuration is checked first"
    if adapter is not None:
        raise ModelInvalid(
            f"{name}: adapter {adapter} for a model behind a server; expected none; serve the adapter there and name "
            "it in models.*.server.name"
        )
    at_server = model.server.name or model.hub or name
    return Backend(at_server, model.server, identity, thinking=model.thinking)


class Refusal(Exception):
    """A server refuses a request as it is; the message has its words."""


class Backend:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(
        self,
        name: str,
        server: Server,
        identity: str = "",
        *,
        thinking: bool | None = None,
        attempts: int = 8,
        first_wait: float = 1.0,
    ) -> None:
        """`name`: that of the model at the server. `thinking`: for its chat template, in `chat_template_kwargs` as vLLM
        and SGLang take it; None sends nothing. `first_wait`: seconds, doubled up to a minute, with jitter.

        A `Retry-After` of the server applies to all requests.

        Raise ModelInvalid if the variable `server.key_env` is not set or has no valid key, or if the endpoint is not a
        valid address.
        """
        self.name, self.server, self.attempts, self.first_wait = name, server, attempts, first_wait
        self.identity = identity or f"openai|{name}"
        variables = template_variables(thinking)
        self._template = {"chat_template_kwargs": variables} if variables else {}
        self._url, self._shown = connection.address(name, server.endpoint)
        offline.refuse(f"{name} at {self._shown}", server.endpoint)
        self._key = connection.key_of(name, server, self._shown)
        self._gap = 60 / server.requests_per_minute if server.requests_per_minute else 0.0
        self._free = 0.0  # when the next request may start, by time.monotonic()
        self._has_answered = False  # whether any request was answered
        self._lacks_logprobs = False  # whether it was refused what `choose` asks for
        self._said_compact = False  # whether the line about white space was said
        self._last_answered_by: str | None = None
        self._said_other = False  # whether it was said that another model answers
        self._counts_uncached = False  # whether the server counts only what it does not have in a cache
        self._said = -math.inf  # when a wait was last announced
        self._counts: Counter[str] = Counter()
        self._route = connection.route(name, self._url, self._shown, self._key)  # fails now, not in the middle of a job
        self._room = Room(server.concurrency)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts for the manifest: server and model, and requests, tokens and cost of this process.

        Cached answers are not counted. `cost` is None without a price.
        """
        prompt, completion = self._counts["prompt_tokens"], self._counts["completion_tokens"]
        price = self.server.price
        return {
            "endpoint": self._shown,
            "name": self.name,
            "requests": self._counts["requests"],
            "retries": self._counts["retries"],
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "cost": price and price.cost(prompt, completion),
        }

    def generate(
        self, requests: Sequence[Generate], sampling: Sampling
    ) -> Iterator[list[tuple[int, Completion | Missing]]]:
        """Yield each answer as it arrives; at most `concurrency` requests are open or waiting to be yielded.

        A request that failed permanently is `Missing`, with the reason. After an error that all requests would get (a
        wrong key, an unknown model, a server that is down) the others are not sent. "refused", with the server's words:
        the request itself was refused again and again while others are answered (a prompt that does not fit the
        context, a content filter), or the server read a part of the prompt only; servers differ for a prompt that
        leaves less than `max_tokens` (vLLM shortens the answer). Reasoning that the server separated stays apart.
        `logprobs` are the server's (vLLM: of the unmodified distribution), None if missing or a placeholder: not a
        number, above 0, -9999, all 0, or more than a few that are all equal.
        """
        with self.window(sampling) as window:
            yield from window.all(requests)

    def window(self, sampling: Sampling) -> ServerWindow:
        """Return a window for requests of both kinds: at most `concurrency` are open, fewer while the server is busy.

        What `generate` and `choose` say holds for them.
        """

        def question(request: Request) -> ServerQuery[Any]:
            return self._choice(request) if isinstance(request, Choose) else self._question(request, sampling)

        return ServerWindow(self._route, self._room, self._answer, question)

    def attempt(self, request: Generate, sampling: Sampling) -> None:
        """Send a request to see whether the server takes it.

        Raise Refusal with the server's words if it refuses this request, ModelInvalid if it gives no chat completion.
        """
        question = replace(self._question(request, sampling), read=self._glanced)
        with ServerWindow(self._route, self._room, self._attempted) as window:
            window.send(0, question)
            window.answered()

    def _glanced(self, body: Any) -> Completion:
        """Return an empty answer if the body is a completion at all, of whatever text."""
        with suppress(bodies.NoAnswer):
            bodies.completion(body)
        return Completion("", None, None, "stop", 0, 0)

    async def _attempted(self, asking: Asking, question: ServerQuery[Completion]) -> Completion:
        reason = ""
        for attempt in range(self.attempts):
            self._counts.update(requests=1, retries=int(attempt > 0))
            sent = asyncio.ensure_future(self._once(asking.client, question))
            if not (await asyncio.wait([sent], timeout=SAY_EVERY))[0]:
                say(f"{self.name}: no answer to a first request yet; waiting up to {self.server.timeout:g} s")
            try:
                answer = await sent
            except CallFailed as problem:
                before, reason = reason, self._safe(str(problem))
                twice = is_same_reason(before, reason)
                if problem.believed and not problem.strange and (twice or not problem.again):
                    raise Refusal(reason) from None
                if problem.final or not problem.again or not problem.reached or (twice and not problem.later):
                    raise ModelInvalid(reason) from None
                await asking.sleep(max(problem.wait, self._delay(attempt, problem.wait, reason)))
            else:
                self._has_answered = True
                return answer
        raise ModelInvalid(f"{reason} ({self.attempts} attempts)")

    def _question(self, request: Generate, sampling: Sampling) -> ServerQuery[Completion]:
        texts = [message.content for message in request.messages]

        def read(body: Any) -> Completion:
            answer = replace(bodies.completion(body), answered_by=self._answered_by(body))
            if request.schema and not self._said_compact and bodies.is_lost_in_spaces(answer):
                self._said_compact = True
                say(f"{self.name}: an answer with a JSON Schema ends in white space up to its limit; {COMPACT}")
            return answer

        def read_first(body: Any) -> Completion:
            answer = read(body)
            if not self._counts_uncached and (words := cut(answer.prompt_tokens)):
                again = replace(question, fields=bodies.uncached(question.fields), read=partial(recount, answer))
                raise CallFailed(words, again=True, instead=again)
            if answer.finish == "stop" and not answer.text and not answer.reasoning:
                raise CallFailed("an empty answer", again=True, instead=replace(question, read=read))
            return answer

        def recount(first: Completion, body: Any) -> Completion:
            """Return the first answer if all of the prompt is counted once nothing of it can be in a cache."""
            words = cut(bodies.usage(body).prompt)
            self._counts_uncached |= not words
            return (
                refused(f"the prompt was cut: {words}; give it a longer context (num_ctx of Ollama)")
                if words
                else first
            )

        def cut(prompt_tokens: int) -> str:
            """Return how few tokens the server counts, "" if they may be the whole prompt."""
            if not texts or not bodies.is_prompt_cut(texts[-1], prompt_tokens):
                return ""
            return f"the server read {prompt_tokens} tokens of {sum(map(len, texts))} characters"

        def refused(words: str) -> Completion:
            return Completion("", None, None, "refused", 0, 0, words)

        question = ServerQuery(self._text(request, sampling), read_first, refused)
        return question

    def _answered_by(self, body: Any) -> str:
        """Return by whom a request is answered. Say once if that is another model, or another one than before."""
        model = bodies.answered_by(body, self.name)
        before, self._last_answered_by = self._last_answered_by, model
        is_new = before is not None and model != before
        if not self._said_other and (is_new or is_another(model, self.name)):
            self._said_other = True
            earlier = f", {before or self.name} before" * is_new
            say(f"{self.name}: the server says that {model or self.name} answers{earlier}")
        return model

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice | Missing]]]:
        """Yield each choice as it arrives, read from the alternatives to the first token of an answer.

        One token is generated with its 20 likeliest alternatives. If each option equals one of them, the choice is
        known; otherwise (an option of several tokens, a rare one, a reasoning model, a server without
        log-probabilities) `logprobs` and `tokens` are None: request a text instead.
        """
        with self.window(Sampling(1)) as window:
            yield from window.all(requests)

    def _choice(self, request: Choose) -> ServerQuery[Choice]:
        # the unmodified distribution, in case a server reports the one it samples from
        settings = {"temperature": 1.0, "top_p": 1.0, "logprobs": True, "top_logprobs": TOP}
        return ServerQuery(
            self._fields(request.messages, {self.server.limit_field: 1, **settings}),
            lambda body: replace(bodies.choice(body, request.options), answered_by=self._answered_by(body)),
            lambda _: Choice(None, None, 0),
            may_lack_logprobs=True,
        )

    def _text(self, request: Generate, sampling: Sampling) -> dict[str, Any]:
        fields = {
            self.server.limit_field: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request_seed(request, sampling),
        }
        if sampling.top_k:
            fields["top_k"] = sampling.top_k  # not in OpenAI's API; vLLM and others accept it
        if sampling.logprobs:
            fields["logprobs"] = True  # left out by `omit`
        if request.schema and self.server.structure:
            fields["response_format"] = bodies.response_format(request.schema)
        return self._fields(request.messages, fields)

    def _fields(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> dict[str, Any]:
        texts = (control_tokens.broken(replace_lone_surrogates(message.content)) for message in messages)
        turns = [{"role": message.role, "content": text} for message, text in zip(messages, texts, strict=True)]
        if not self.server.system and len(turns) > 1 and turns[0]["role"] == "system":
            first = turns.pop(0)["content"]
            turns[0]["content"] = f"{first}\n\n{turns[0]['content']}"
        sent = {field: value for field, value in settings.items() if field not in self.server.omit}
        return {"model": self.name, "messages": turns, **sent, **self._template, **self.server.request_fields}

    async def _answer(self, asking: Asking, question: ServerQuery[A]) -> A | Missing:
        delay, reason, alike = 0.0, "", 0
        if question.may_lack_logprobs and self._lacks_logprobs:
            return question.refused(reason)
        for attempt in range(self.attempts):
            if delay:
                await asking.sleep(delay)
            await asking.enter()
            busy = False
            try:
                await self._turn(asking)
                if asking.why:
                    return Missing(f"not asked any more: {asking.why}")
                self._counts.update(requests=1, retries=int(attempt > 0))
                began = time.monotonic()
                answer = await self._once(asking.client, question)
            except CallFailed as problem:
                busy = problem.busy
                question = problem.instead or question
                before, reason = reason, self._safe(str(problem))
                alike = alike + 1 if is_same_reason(before, reason) else 1
                if problem.final:
                    asking.stop(reason)
                    return Missing(reason)
                if problem.believed and alike >= problem.believed:
                    if await self._answers_others(asking, question):
                        asking.failed_in_a_row = 0
                        self._lacks_logprobs |= question.may_lack_logprobs and "logprobs" in reason.lower()
                        return question.refused(reason)
                    if not problem.again:
                        asking.stop(reason)
                        return Missing(reason)
                if not problem.again and not problem.believed:
                    asking.failed_in_a_row = 0
                    return Missing(reason)
                self._free = max(self._free, time.monotonic() + problem.wait)
                delay = self._delay(attempt, problem.wait, reason)
            else:
                asking.failed_in_a_row = 0
                self._has_answered = True
                self._room.widen(time.monotonic() - began)
                return answer
            finally:
                asking.leave(refused=busy)
        asking.failed_in_a_row += 1
        if asking.failed_in_a_row >= DOWN:
            asking.stop(f"the server is down, {DOWN} requests in a row failed: {reason}")
        return Missing(f"{reason} ({self.attempts} attempts)")

    async def _answers_others(self, asking: Asking, question: ServerQuery[Any]) -> bool:
        """Return whether the server answers other requests now: a short one with the same settings.

        Log-probabilities that an answer may lack are left out of that one.
        """
        if asking.short is None or asking.short.done():
            asking.short = asyncio.ensure_future(self._answers_short(asking, question))
        return await asking.short

    async def _answers_short(self, asking: Asking, question: ServerQuery[Any]) -> bool:
        self._counts.update(requests=1)
        lacking = {"logprobs", "top_logprobs"} if question.may_lack_logprobs else set[str]()
        try:
            fields = {name: value for name, value in question.fields.items() if name not in lacking}
            fields["messages"] = [SHORT]
            await self._once(asking.client, replace(question, fields=fields, read=self._glanced))
        except CallFailed:
            return False
        return True

    def _delay(self, attempt: int, wait: float, reason: str) -> float:
        """Return the seconds before the next attempt, at least, and say so, at most once in ten seconds.

        `wait` are the seconds that the server asks for; all requests wait so long.
        """
        delay = min(60.0, self.first_wait * 2**attempt) * random.uniform(0.5, 1.0)
        if (now := time.monotonic()) - self._said > SAY_EVERY and attempt + 1 < self.attempts:
            self._said = now
            say(f"{self.name}: attempt {attempt + 2} of {self.attempts} in {max(delay, wait):.0f} s: {reason}")
        return delay

    async def _turn(self, asking: Asking) -> None:
        """Wait for a request's turn under the rate limit and Retry-After."""
        while not asking.why and (left := self._free - time.monotonic()) > 0:
            await asking.sleep(left)
        self._free = max(self._free, time.monotonic()) + self._gap

    async def _once(self, client: aiohttp.ClientSession, question: ServerQuery[A]) -> A:
        """Send the request once and return the answer. Raise CallFailed."""
        response, body = await connection.posted(client, self._url, question.fields, self.server.timeout)
        if response.status == 200:
            return self._read(question, body)
        raise self._failure(response.status, body, question, response.headers)

    def _failure(self, status: int, body: bytes, question: ServerQuery[Any], headers: Mapping[str, str]) -> CallFailed:
        """Return the failure that a body other than an answer is, by its HTTP status."""
        code, message = bodies.problem(body)
        reason = f"HTTP {status}: {message}"
        if status == 401:
            reason = (
                f"{self._safe(reason)[:100]}; {f'sent was the key in {self.server.key_env}' if self._key else NO_KEY}"
            )
        if status in connection.REDIRECTED and "Location" in headers:
            return CallFailed(f"HTTP {status}: redirected; expected the address {headers['Location']}", final=True)
        believed = connection.OF_ONE_REQUEST.get(status, 0)
        delay = bodies.retry_after(headers.get("Retry-After", ""), headers.get("Retry-After-Ms", ""))
        if delay > LONGEST_WAIT:
            return CallFailed(f"{reason} (wants {delay:.0f} s of waiting)", final=True)
        may_be_key = status == 403 and not self._has_answered and not question.may_lack_logprobs
        final = status in connection.FINAL or may_be_key or code in connection.FINAL_CODES
        again = status in connection.TRANSIENT and not final
        later, busy = again and status != 500, again and status in connection.BUSY
        return CallFailed(reason, again=again, later=later, wait=delay, final=final, believed=believed, busy=busy)

    def _read(self, question: ServerQuery[A], body: bytes) -> A:
        """Parse the answer in a body of status 200. Raise CallFailed, with a retry, if there is none."""
        try:
            parsed = bodies.parse(body)
            counted = bodies.usage(parsed)
            self._counts.update(prompt_tokens=counted.prompt, completion_tokens=counted.completion)
            if "error" in parsed and not parsed.get("choices"):
                if status := bodies.stated_status(body):
                    raise self._failure(status, body, question, {})
                raise CallFailed(f"HTTP 200 with a problem: {bodies.problem(body)[1]}", again=True)
            return question.read(parsed)
        except bodies.NoAnswer as problem:
            raise CallFailed(f"HTTP 200: {problem}", again=True, believed=NO_ANSWERS) from None
        except json.JSONDecodeError:
            raise CallFailed(f"not a chat completion; found {self._beginning(body)}", again=True) from None
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
            detail = self._safe(f"{type(problem).__name__}: {problem}")[:80]
            reason = f"not a chat completion ({detail}); found {self._beginning(body)}"
            raise CallFailed(reason, believed=NO_ANSWERS, strange=True) from None

    def _beginning(self, body: bytes) -> str:
        return self._safe(body[:2000].decode("utf-8", "replace"))[:80] or "nothing"

    def _safe(self, text: str) -> str:
        query = urlsplit(self._url).query
        values = [value for _, value in parse_qsl(query) if len(value) >= SHORTEST_KEY]
        return connection.without_key(text, self._key, query, *values)

"""Any server that speaks OpenAI's chat completions: a paid API, or `vllm serve` for many small jobs.

Texts go out as JSON and the server tokenises them: what its tokenizer does with control tokens inside them is its own
affair. The key comes from an environment variable, goes into one header, and into no message, file or log.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

from excam.exceptions import ModelInvalid
from excam.inference import Completion, Generate, Sampling
from excam.inference.chat import well_formed
from excam.inference.journal import seed

if TYPE_CHECKING:
    import httpx

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT = 300.0  # seconds; a server that asks for more is as good as down


class _Unanswered(Exception):  # never leaves this module
    """A request that failed for good. `final`: so will all others (a wrong key, no such model)."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class Backend:
    """A model behind an OpenAI-compatible endpoint, e.g. "https://host/v1"."""

    def __init__(
        self,
        model: str,
        endpoint: str,
        key_env: str | None = None,
        *,
        concurrency: int = 8,
        timeout: float = 600.0,
        attempts: int = 8,
        first_wait: float = 1.0,
        limit_field: str = "max_tokens",
        omit: Collection[str] = (),
        identity: str = "",
    ) -> None:
        """`timeout` and `first_wait` in seconds; waits double up to a minute, `Retry-After` comes first.

        `limit_field`: what the server calls the token limit ("max_completion_tokens"); `omit`: request fields that it
        refuses ("logprobs", "temperature", "top_p", "seed"), left out as a stated setting, never as a silent retry.
        Raises ModelInvalid when the variable `key_env` is not set.
        """
        import httpx

        key = os.environ.get(key_env, "") if key_env else ""
        if key_env and not key:
            raise ModelInvalid(f"{model}: environment variable {key_env} is not set; expected the key of {endpoint}")
        self.model, self.attempts, self.first_wait, self.concurrency = model, attempts, first_wait, concurrency
        self.limit_field, self.omit = limit_field, frozenset(omit)
        self.identity = identity or f"openai|{model}"
        self._url, self._key = f"{endpoint.rstrip('/')}/chat/completions", key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout, headers=headers)

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield each answer as it comes. Raises ModelInvalid at the end when some failed for good, saying how many."""
        stop = threading.Event()
        pool = ThreadPoolExecutor(self.concurrency)
        futures = {pool.submit(self._answer, request, sampling, stop): at for at, request in enumerate(requests)}
        reasons: list[str] = []
        try:
            for future in as_completed(futures):
                problem = future.exception()
                if problem is None:
                    yield [(futures[future], future.result())]
                elif isinstance(problem, _Unanswered):
                    reasons.append(str(problem))
                    if problem.final:
                        stop.set()
                else:
                    raise problem
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
        if reasons:
            raise ModelInvalid(
                f"{self.model}: {len(reasons)} of {len(requests)} requests missing, first: {reasons[0]}; "
                "run again: only those are asked"
            )

    def _answer(self, request: Generate, sampling: Sampling, stop: threading.Event) -> Completion:
        import httpx

        reason, wait = "no answer", 0.0
        for attempt in range(self.attempts):
            if stop.wait(wait):
                raise _Unanswered("not asked any more")
            wait = min(60.0, self.first_wait * 2**attempt) * random.uniform(0.5, 1.0)
            try:
                response = self._client.post(self._url, json=self._payload(request, sampling))
                if response.status_code == 200:
                    return _completion(response.json())
            except httpx.TransportError as problem:  # refused, reset, half a body, too slow
                reason = self._safe(f"{type(problem).__name__}: {problem}")
                continue
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as problem:
                reason = f"not a chat completion ({type(problem).__name__})"
                continue
            reason = self._safe(f"HTTP {response.status_code}: {response.text}")
            if response.status_code == 400 and _is_too_long(response.text):
                return Completion("", None, "refused", 0)
            if response.status_code not in TRANSIENT:
                raise _Unanswered(reason, final=response.status_code in (401, 403, 404))
            wait = max(wait, _retry_after(response))
            if wait > LONGEST_WAIT:
                break
        raise _Unanswered(reason)

    def _payload(self, request: Generate, sampling: Sampling) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": message.role, "content": well_formed(message.content)} for message in request.messages
            ],
            self.limit_field: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": seed(request, sampling),
            "logprobs": True,
        }
        if sampling.top_k:
            fields["top_k"] = sampling.top_k  # not OpenAI's; vLLM and others take it
        return {name: value for name, value in fields.items() if name not in self.omit}

    def _safe(self, text: str) -> str:
        """One short line without the key, should a server send it back."""
        text = text.replace(self._key, "***") if self._key else text
        return " ".join(text.split())[:200]


def _completion(body: Any) -> Completion:
    """Read a chat completion. Raises KeyError, TypeError and the like when it is none."""
    choice = body["choices"][0]
    message, reason = choice["message"], choice["finish_reason"]
    if reason not in ("stop", "length", "content_filter"):
        raise ValueError(f"finish_reason {reason!r}")
    listed = (choice.get("logprobs") or {}).get("content")
    refused = reason == "content_filter" or bool(message.get("refusal"))
    return Completion(
        text=str(message.get("content") or ""),
        logprobs=tuple(float(token["logprob"]) for token in listed) if listed else None,
        finish="refused" if refused else reason,  # pyright: ignore[reportArgumentType]
        prompt_tokens=int((body.get("usage") or {}).get("prompt_tokens") or 0),
    )


def _is_too_long(text: str) -> bool:
    return "context_length" in text or "context length" in text


def _retry_after(response: httpx.Response) -> float:
    """Seconds the server asks us to wait: a number or a date (RFC 9110); 0 where it says nothing usable."""
    from email.utils import parsedate_to_datetime

    value = response.headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0

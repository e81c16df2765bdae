"""Parse response bodies of OpenAI-compatible servers: completions, choices, and errors."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from excam.inference import Choice, Completion

FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
# OpenAI and vLLM (several wordings), SGLang, llama.cpp, Anthropic, Gemini, text-generation-inference
TOO_LONG = re.compile(
    r"context[_ ]length|maximum model length|max_model_len|context size|context_size|context window"
    r"|prompt is too long|input token count|tokens exceed|`inputs` tokens",
    re.IGNORECASE,
)
SCHEMA_REFUSED = re.compile(r"response_format|json_schema|structured|guided|grammar", re.IGNORECASE)
FLOOR = -9999.0  # servers write this for "too small to represent"


def response_format(schema: str) -> dict[str, Any]:
    """Return the field that constrains an answer to a JSON Schema (vLLM, Ollama, llama.cpp, OpenAI)."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(schema), "strict": True}}


def is_about_schema(message: str) -> bool:
    """Return whether the server refused a request because of its `response_format`."""
    return SCHEMA_REFUSED.search(message[:1000]) is not None


def usage(body: Any) -> tuple[int, int]:
    """Return the server's counts of prompt and completion tokens, 0 if missing."""
    counted = body.get("usage") or {}
    return int(counted.get("prompt_tokens") or 0), int(counted.get("completion_tokens") or 0)


def completion(body: Any) -> Completion:
    """Parse a chat completion. Raise KeyError, TypeError or similar if it is not one."""
    choice = body["choices"][0]
    message, reason = choice["message"], choice["finish_reason"]
    if reason not in ("stop", "length", "content_filter"):
        raise ValueError(f"finish_reason {reason!r}")
    refusal = _string(message, "refusal")
    text = _string(message, "content") or refusal
    tokens = (choice.get("logprobs") or {}).get("content")
    ended = bool(tokens) and reason == "stop" and _ends_turn([_spelled(token) for token in tokens], text)
    logprobs = [float(token["logprob"]) for token in tokens or ()]
    end = _usable(logprobs[-1:]) if ended else None
    prompt, completion = usage(body)
    return Completion(
        text=_with_thinking(message, text, cut=reason == "length"),
        logprobs=None if tokens is None else _usable(logprobs[: len(logprobs) - ended]),
        end_logprob=end[0] if end else None,
        finish="refused" if reason == "content_filter" or refusal else reason,
        prompt_tokens=prompt,
        completion_tokens=completion or len(logprobs),
    )


def _string(message: Any, name: str) -> str:
    value = message.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is not a text")
    return value or ""


def _with_thinking(message: Any, text: str, *, cut: bool) -> str:
    """Return the text with the reasoning that the server separated put back, in <think> tags.

    There is no closing tag if the answer was cut during reasoning. The closing tag has its own line, so that quotation
    marks in the reasoning cannot make it look quoted.
    """
    thinking = _string(message, "reasoning_content") or _string(message, "reasoning")
    if not thinking:
        return text
    return f"<think>\n{thinking}" if cut and not text else f"<think>\n{thinking}\n</think>\n{text}"


def _spelled(token: Any) -> bytes:
    """Return the bytes of a token, or its text in UTF-8 if the server reports no bytes."""
    spelled = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if spelled is None else bytes(spelled)


def _ends_turn(tokens: Sequence[bytes], text: str) -> bool:
    """Return whether the last listed token is the end of turn (vLLM lists it) or part of the answer (OpenAI).

    White space is never the end of turn. Otherwise the result is exact if the tokens spell the text. If they do not (a
    server that trims, lists the reasoning too, or splits a letter into U+FFFD tokens), the last token counts as the end
    of turn unless the text ends with it.
    """
    last, answer = tokens[-1].strip(), text.encode("utf-8", "surrogatepass")
    if not last:
        return not tokens[-1]  # a control token spelled as nothing
    if b"".join(tokens[:-1]) == answer:
        return True
    return "\ufffd".encode() not in last and not answer.rstrip().endswith(last)


def _usable(logprobs: Sequence[float]) -> tuple[float, ...] | None:
    """Return the log-probabilities, None if one is a placeholder; a rounding error above 0 becomes 0."""
    if all(math.isfinite(one) and FLOOR < one < 1e-3 for one in logprobs):
        return tuple(min(one, 0.0) for one in logprobs)
    return None


def choice_of(options: Sequence[str]) -> Callable[[Any], Choice]:
    """Return a parser that finds the options among the alternatives to the first token.

    The parsed choice has None for log-probabilities if an option is missing.
    """

    def read(body: Any) -> Choice:
        prompt, _ = usage(body)
        tokens = (body["choices"][0].get("logprobs") or {}).get("content")
        listed: dict[bytes, float] = {}
        for one in (tokens[0].get("top_logprobs") or ()) if tokens else ():
            spelled = _spelled(one)  # of two tokens with equal bytes, the likelier
            listed[spelled] = max(listed.get(spelled, -math.inf), float(one["logprob"]))
        known = [listed.get(option.encode("utf-8", "surrogatepass"), math.nan) for option in options]
        logprobs = _usable(known)
        return Choice(logprobs, None if logprobs is None else (1,) * len(options), prompt)

    return read


def problem(body: bytes) -> tuple[str, str]:
    """Return error code (as in OpenAI's list, "" if missing) and message of a server's error."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(body)
        found = found.get("error") or found
        return str(found.get("code") or found.get("type") or ""), str(found.get("message") or text)
    except (ValueError, AttributeError, RecursionError):
        return "", text


def is_refusal(code: str, message: str) -> bool:
    """Return whether the request is the cause: a content filter, or a prompt longer than the context."""
    start = f"{code} {message}"[:1000]  # some servers quote the request after their message
    return code in FILTERED or TOO_LONG.search(start) is not None


def retry_after(value: str) -> float:
    """Return the seconds in a Retry-After header, a number or a date (RFC 9110); 0 if unusable."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0

"""What the bodies of an OpenAI-compatible server say: completions, choices, and what is wrong."""

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
FLOOR = -9999.0  # what servers write for "less than I can say"


def usage(body: Any) -> tuple[int, int]:
    """Prompt and completion tokens as the server counts them, 0 where it does not."""
    counted = body.get("usage") or {}
    return int(counted.get("prompt_tokens") or 0), int(counted.get("completion_tokens") or 0)


def completion(body: Any) -> Completion:
    """Read a chat completion. Raises KeyError, TypeError and the like when it is none."""
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
        raise TypeError(f"{name} is no text")
    return value or ""


def _with_thinking(message: Any, text: str, *, cut: bool) -> str:
    """The text with what the server took out of it put back; no end where the answer was cut while thinking.

    The end gets a line of its own, where no quotation mark of the thinking can make it look like a quoted one.
    """
    thinking = _string(message, "reasoning_content") or _string(message, "reasoning")
    if not thinking:
        return text
    return f"<think>\n{thinking}" if cut and not text else f"<think>\n{thinking}\n</think>\n{text}"


def _spelled(token: Any) -> bytes:
    """The bytes of a token; its text where the server gives none."""
    spelled = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if spelled is None else bytes(spelled)


def _ends_turn(tokens: Sequence[bytes], text: str) -> bool:
    """Whether the last token of a finished answer ended its turn (vLLM lists that one), or is part of it (OpenAI).

    White space never does. Else exact where tokens spell the text; where they do not (a server that trims, or lists the
    thinking too, or a letter spread over tokens as U+FFFD) the last one ended the turn unless the text ends with it.
    """
    last, said = tokens[-1].strip(), text.encode("utf-8", "surrogatepass")
    if not last:
        return not tokens[-1]  # a control token spelled as nothing
    if b"".join(tokens[:-1]) == said:
        return True
    return "\ufffd".encode() not in last and not said.rstrip().endswith(last)


def _usable(logprobs: Sequence[float]) -> tuple[float, ...] | None:
    """None when one of them is a stand-in; a rounding error above 0 is 0."""
    if all(math.isfinite(one) and FLOOR < one < 1e-3 for one in logprobs):
        return tuple(min(one, 0.0) for one in logprobs)
    return None


def choice_of(options: Sequence[str]) -> Callable[[Any], Choice]:
    """A reader of these options' log-probabilities among the alternatives to the first token; None if one lacks."""

    def read(body: Any) -> Choice:
        prompt, _ = usage(body)
        tokens = (body["choices"][0].get("logprobs") or {}).get("content")
        listed: dict[bytes, float] = {}
        for one in (tokens[0].get("top_logprobs") or ()) if tokens else ():
            spelled = _spelled(one)  # of two tokens that are spelled the same the likelier
            listed[spelled] = max(listed.get(spelled, -math.inf), float(one["logprob"]))
        known = [listed.get(option.encode("utf-8", "surrogatepass"), math.nan) for option in options]
        logprobs = _usable(known)
        return Choice(logprobs, None if logprobs is None else (1,) * len(options), prompt)

    return read


def problem(body: bytes) -> tuple[str, str]:
    """What a server says is wrong: a code from OpenAI's list if there is one, and a message."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(body)
        found = found.get("error") or found
        return str(found.get("code") or found.get("type") or ""), str(found.get("message") or text)
    except (ValueError, AttributeError, RecursionError):
        return "", text


def is_refusal(code: str, message: str) -> bool:
    """Whether that problem lies in what was asked: a content filter, or a prompt longer than the context (spec 44)."""
    said = f"{code} {message}"[:1000]  # the server's own words; some quote the request after them
    return code in FILTERED or TOO_LONG.search(said) is not None


def retry_after(value: str) -> float:
    """Seconds the server asks us to wait: a number or a date (RFC 9110); 0 where it says nothing usable."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0

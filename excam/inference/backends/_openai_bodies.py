"""Parse response bodies of OpenAI-compatible servers: completions, choices, and errors."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from excam.inference import Choice, Completion

SCHEMA_REFUSED = re.compile(r"response_format|json_schema|structured|guided|grammar", re.IGNORECASE)
ABSURD = 1e9  # tokens; no request has so many
FEW = 4  # tokens that may have equal log-probabilities by chance
FLOOR = -9999.0  # servers write this for "too small to represent"
# Finish reasons that are not the end of a turn, in lower case; servers have many words for that end, and some have none
CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
STOPPED = re.compile("content_filter|safety|recitation|blocklist|prohibited_content|refusal")  # how they begin
BROKEN = re.compile("abort|cancel|error|insufficient")
LEAST_CONTEXT = 500  # tokens; no server has a shorter context
LONG = 8000  # characters of a prompt; a shorter one fits every context
MOST = 10  # characters a token, on average: more than in any text that is not one character again and again
SPACES = 40  # characters of white space at the end of an answer that a model did not mean
REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)

VARYING = re.compile(r"[0-9a-f-]{8,}|[\w-]*\d[\w-]*", re.IGNORECASE)  # numbers and ids of requests in a message


class NoAnswer(Exception):
    """A complete response without an answer; the message says what it has instead."""


def parse(body: bytes) -> Any:
    """Return the JSON value of a response: UTF-8 with or without a byte order mark, else Latin-1."""
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return json.loads(body.decode("latin-1"))


def response_format(schema: str) -> dict[str, Any]:
    """Return the field that constrains an answer to a JSON Schema (vLLM, Ollama, llama.cpp, OpenAI)."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(schema), "strict": True}}


def is_about_schema(message: str) -> bool:
    """Return whether the server refused a request because of its `response_format`."""
    return SCHEMA_REFUSED.search(message[:1000]) is not None


def usage(body: Any) -> tuple[int, int]:
    """Return the server's counts of prompt and completion tokens, 0 if missing."""
    counted = body.get("usage") or {}
    prompt, completion = (_number(counted.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return _count(prompt), _count(completion)


def _count(value: float) -> int:
    return int(value) if 0 < value < ABSURD else 0


def is_prompt_cut(text: str, prompt_tokens: int) -> bool:
    """Return whether the server counted far fewer tokens than a prompt's last message has: it read a part of it only.

    Smaller cuts are not noticed. A server that does not count what it has in a cache of prefixes counts fewer than
    `LEAST_CONTEXT`, or all of the last message.
    """
    if prompt_tokens < LEAST_CONTEXT or len(text) <= max(LONG, MOST * prompt_tokens):
        return False
    return len(REPEATED.sub(r"\1", text)) > max(LONG, MOST * prompt_tokens)


def is_lost_in_spaces(answer: Completion) -> bool:
    """Return whether an answer was cut in the middle of white space, which a grammar allows without end."""
    return answer.finish == "length" and len(answer.text) - len(answer.text.rstrip()) > SPACES


def completion(body: Any) -> Completion:
    """Parse a chat completion. Raise NoAnswer if it has none, KeyError, TypeError or similar if it is not one."""
    choice = _choice(body)
    reason = str(choice.get("finish_reason") or "stop").lower()
    reason = "length" if reason in CUT else "content_filter" if STOPPED.match(reason) else "stop"
    message = choice.get("message")
    if message is None and reason != "content_filter":
        raise NoAnswer("no message in the answer")
    message = message or {}
    refusal = _string(message, "refusal")
    text, thinking = _parts(message)
    tokens = (choice.get("logprobs") or {}).get("content")
    if tokens and len(tokens) > FEW and len({_number(token.get("logprob")) for token in tokens}) == 1:
        tokens = None  # a placeholder, whatever number it is
    if tokens and thinking:
        tokens = _of_text(tokens, text)
    text = text or refusal
    spelled = list(map(_spelled, tokens or ()))
    if tokens and 2 * sum(map(len, spelled)) < len(text.encode("utf-8", "surrogatepass")):
        tokens = None  # of a part of the answer only
    ended = bool(tokens) and reason == "stop" and _ends_turn(spelled, text)
    logprobs = [_number(token.get("logprob")) for token in tokens or ()]
    end = _usable(logprobs[-1:]) if ended else None
    prompt, completion = usage(body)
    return Completion(
        text=text,
        logprobs=None if tokens is None else _usable(logprobs[: len(logprobs) - ended]),
        end_logprob=end[0] if end else None,
        finish="refused" if reason == "content_filter" or refusal else reason,
        prompt_tokens=prompt,
        completion_tokens=completion or len(logprobs),
        reasoning=thinking,
    )


def _choice(body: Any) -> Any:
    """Return the first choice. Raise NoAnswer if there is none, or one that failed."""
    choices = body["choices"]
    if choices is None or choices == []:
        raise NoAnswer("no choices in the answer")
    problem, reason = choices[0].get("error"), str(choices[0].get("finish_reason") or "")
    if problem or BROKEN.search(reason.lower()):
        said = problem.get("message") if isinstance(problem, dict) else problem
        raise NoAnswer(f"the answer is an error: {said or reason}")
    return choices[0]


def _parts(message: Any) -> tuple[str, str]:
    """Return the text of a message and its reasoning, which some servers send as parts of the content."""
    thinking = _string(message, "reasoning_content") or _string(message, "reasoning")
    content = message.get("content")
    if not isinstance(content, list):
        return _string(message, "content"), thinking
    texts: list[str] = []
    thoughts: list[str] = [thinking]
    for part in content:
        if "thinking" in part:
            inner = part["thinking"]
            thoughts += [inner] if isinstance(inner, str) else [_string(thought, "text") for thought in inner]
        else:
            texts.append(_string(part, "text"))
    return "".join(texts), "".join(thoughts)


def _of_text(tokens: Sequence[Any], text: str) -> Sequence[Any]:
    """Return the last tokens that spell the text, without those of reasoning that the server lists too; else all."""
    answer = text.encode("utf-8", "surrogatepass")
    for last in (len(tokens), len(tokens) - 1):  # the end of turn may be listed behind them
        at, size = last, 0
        while at and size < len(answer):
            at -= 1
            size += len(_spelled(tokens[at]))
        if answer and b"".join(map(_spelled, tokens[at:last])).strip() == answer.strip():
            return tokens[at:]
    return tokens


def _string(message: Any, name: str) -> str:
    value = message.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is not a text")
    return value or ""


def _spelled(token: Any) -> bytes:
    """Return the bytes of a token, or its text in UTF-8 if the server reports no bytes."""
    listed = token.get("bytes")
    if isinstance(listed, list):
        with suppress(TypeError, ValueError):  # what is no byte
            return bytes(listed)
    return _string(token, "token").encode("utf-8", "surrogatepass")


def _number(value: Any) -> float:
    """Return a number, NaN for anything else and for an integer that is too large."""
    with suppress(OverflowError):
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    return math.nan


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
    """Return the log-probabilities, None if one is a placeholder; a rounding error above 0 becomes 0.

    Zeros alone are placeholders too: no model is sure of every token of an answer.
    """
    if len(logprobs) > 1 and not any(logprobs):
        return None
    if all(math.isfinite(logprob) and FLOOR < logprob < 1e-3 for logprob in logprobs):
        return tuple(min(logprob, 0.0) for logprob in logprobs)
    return None


def choice_of(options: Sequence[str]) -> Callable[[Any], Choice]:
    """Return a parser that finds the options among the alternatives to the first token.

    The parsed choice has None for log-probabilities if an option is missing.
    """

    def read(body: Any) -> Choice:
        prompt, _ = usage(body)
        tokens = (_choice(body).get("logprobs") or {}).get("content")
        listed: dict[bytes, float] = {}
        for alternative in (tokens[0].get("top_logprobs") or ()) if tokens else ():
            spelled = _spelled(alternative)  # of two tokens with equal bytes, the likelier
            listed[spelled] = max(listed.get(spelled, -math.inf), _number(alternative.get("logprob")))
        known = [listed.get(option.encode("utf-8", "surrogatepass"), math.nan) for option in options]
        logprobs = _usable(known)
        return Choice(logprobs, None if logprobs is None else (1,) * len(options), prompt)

    return read


NUMBER = re.compile(r"(inf|\d+(?:\.\d*)?)\s*(ms|s|m|h|)", re.IGNORECASE)
UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "h": 3600.0}
SINCE_1970 = 1e9  # more seconds than this are a time, not a wait


def problem(body: bytes) -> tuple[str, str]:
    """Return error code (as in OpenAI's list, "" if missing) and message of a server's error."""
    text = body.decode("utf-8", "replace")
    try:
        error: Any = parse(body)
        error = error[0] if isinstance(error, list) and error else error
        error = error.get("error") or error.get("detail") or error
        if hasattr(error, "get"):
            return str(error.get("code") or error.get("type") or ""), str(error.get("message") or text)
        return "", error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    except (ValueError, AttributeError, RecursionError):
        return "", text


def retry_after(value: str, milliseconds: str = "") -> float:
    """Return the seconds in a Retry-After header, 0 if unusable.

    A number or a date (RFC 9110); some servers write the time in seconds since 1970, a unit, or another header with
    `milliseconds`.
    """
    if number := NUMBER.fullmatch(milliseconds.strip()):
        return float(number[1]) / 1000
    if number := NUMBER.fullmatch(value.strip()):
        seconds = float(number[1]) * UNITS[number[2].lower()]
        return max(0.0, seconds - time.time()) if seconds > SINCE_1970 else seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def is_same_reason(reason: str, other: str) -> bool:
    """Return whether two reasons are one, without what differs from one request to the next."""
    return _kind(reason) == _kind(other)


def _kind(reason: str) -> tuple[str, str]:
    status, _, words = reason.partition(": ")
    return status, VARYING.sub("", words)

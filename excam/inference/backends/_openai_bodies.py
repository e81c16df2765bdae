"""Parse response bodies of OpenAI-compatible servers: completions, choices, and errors."""

from __future__ import annotations

import json
import math
import re
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import accumulate
from typing import Any

from excam.inference import Choice, Completion

ABSURD = 1e9  # tokens; no request has so many
FEW = 4  # tokens that may have equal log-probabilities by chance
FLOOR = -9999.0  # servers write this for "too small to represent"
# Finish reasons that are not the end of a turn, in lower case; servers have many words for that end, and some have none
CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
STOPPED = re.compile("content_filter|safety|recitation|blocklist|prohibited_content|refusal")  # how they begin
BROKEN = re.compile("abort|cancel|error|insufficient")
LEAST_CONTEXT = 1000  # tokens; no server has a shorter context
LONG = 8000  # characters of a prompt; a shorter one fits every context
MOST = 10  # characters a token, on average: more than in any text that is not one character again and again
SPACES = 40  # characters of white space at the end of an answer that a model did not mean
REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)
COUNTS = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))  # what servers call them
UNKNOWN = re.compile("(?:\ufffd)+".encode())  # how servers spell tokens that are parts of a letter

VARYING = re.compile(r"[0-9a-f-]{8,}|[\w-]*\d[\w-]*", re.IGNORECASE)  # numbers and ids of requests in a message


class NoAnswer(Exception):
    """A complete response without an answer; the message says what it has instead."""


def parse(body: bytes) -> Any:
    """Return the JSON value of a response: UTF-8 with or without a byte order mark, else Latin-1."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = body.decode("latin-1")
    return json.loads(text)


def response_format(schema: str) -> dict[str, Any]:
    """Return the field that constrains an answer to a JSON Schema (vLLM, Ollama, llama.cpp, OpenAI)."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(schema), "strict": True}}


@dataclass(frozen=True, slots=True)
class Usage:
    """The most tokens that the counts of a server allow; 0 if missing."""

    prompt: int
    completion: int


def usage(body: Any) -> Usage:
    """Return what a request used.

    Servers count the tokens of reasoning inside the completion or separately. Where the body has a total, the
    completion is what the total has more than the prompt, at least as many as are stated; without one, reasoning is
    added. Cached tokens are added to the prompt where they are more than its own.
    """
    counted = body.get("usage") or {}
    prompt, completion = (max(_count(counted, name) for name in names) for names in COUNTS)
    total = _count(counted, "total_tokens")
    reasoning = max(_count(counted.get(f"{name}_details"), "reasoning_tokens") for name in COUNTS[1])
    details = max(_count(counted.get(f"{name}_details"), "cached_tokens") for name in COUNTS[0])
    cached = max(details, _count(counted, "cache_read_input_tokens"))
    prompt += cached if prompt and cached > prompt else 0
    completion += reasoning if reasoning > completion or not total else 0
    return Usage(prompt, max(completion, total - prompt if prompt else 0))


def _count(counts: Any, name: str) -> int:
    value = _number(counts.get(name)) if isinstance(counts, dict) else 0
    return int(value) if 0 < value < ABSURD else 0


def answered_by(body: Any, requested: str) -> str:
    """Return the model that a server says has answered, with what else it says of it; "" if just the one asked for."""
    facts = [body.get(name) for name in ("model", "system_fingerprint", "provider")]
    model, *others = (" ".join(text.replace("|", " ").split())[:100] if isinstance(text, str) else "" for text in facts)
    details = ", ".join(filter(None, others))
    named = f"{model or requested} ({details})" if details else model
    return "" if named == requested else named


def is_another(answered: str, wanted: str) -> bool:
    """Return whether a model that answered (`answered_by`) is neither the one asked for nor a version of it.

    A version has more behind the name: gpt-4o-mini-2024-07-18 is one of openai/gpt-4o-mini, and none of gpt-4.
    """
    name, last = answered.lower(), wanted.lower().rpartition("/")[2]
    return bool(name) and not re.match(rf"(?:.*/)?{re.escape(last)}(?![a-z0-9])", name)


def uncached(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a request with a blank line before its prompt, so that no cache has its beginning."""
    first, *turns = fields["messages"]
    return {**fields, "messages": [{**first, "content": f"\n{first['content']}"}, *turns]}


def is_prompt_cut(text: str, prompt_tokens: int) -> bool:
    """Return whether the server counted far fewer tokens than a prompt's last message has: it read a part of it only.

    Smaller cuts are not noticed. A server that does not count what it has in a cache of prefixes may count as few.
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
    text = text or refusal
    tokens = (choice.get("logprobs") or {}).get("content")
    logprobs = [_number(token.get("logprob")) for token in tokens or ()]
    is_placeholder = len(logprobs) > FEW and len(set(logprobs)) == 1  # whatever number it is
    places = None if tokens is None or is_placeholder else _of_text(list(map(_spelled, tokens)), text)
    of_text = end = None
    if places is not None:
        stop = places.stop if reason == "stop" else len(logprobs)  # a cut answer has no end of turn
        of_text, end = _usable(logprobs[places.start : stop]), _usable(logprobs[stop:])
    used = usage(body)
    return Completion(
        text=text,
        logprobs=of_text,
        end_logprob=end[0] if end else None,
        finish="refused" if reason == "content_filter" or refusal else reason,
        prompt_tokens=used.prompt,
        completion_tokens=used.completion or len(logprobs),
        reasoning=thinking,
    )


def _choice(body: Any) -> Any:
    """Return the first choice. Raise NoAnswer if there is none, or one that failed."""
    choices = body["choices"]
    if choices is None or choices == []:
        raise NoAnswer("no choices in the answer")
    problem, reason = choices[0].get("error"), str(choices[0].get("finish_reason") or "")
    if problem or BROKEN.search(reason.lower()):
        words = problem.get("message") if isinstance(problem, dict) else problem
        raise NoAnswer(f"the answer is an error: {words or reason}")
    return choices[0]


def _parts(message: Any) -> tuple[str, str]:
    """Return the text of a message and its reasoning, which some servers send as parts of the content."""
    thinking = _string(message, "reasoning_content") or _string(message, "reasoning")
    content = message.get("content")
    if not isinstance(content, list):
        return _string(message, "content") or _arguments(message), thinking
    texts: list[str] = []
    thoughts: list[str] = [thinking]
    for part in content:
        if "thinking" in part:
            inner = part["thinking"]
            thoughts += [inner] if isinstance(inner, str) else [_string(thought, "text") for thought in inner]
        else:
            texts.append(_string(part, "text"))
    return "".join(texts), "".join(thoughts)


def _arguments(message: Any) -> str:
    """Return the arguments of the one call of a function in a message, as JSON text; "" if there is none, or several.

    Servers ask some models for JSON in this way.
    """
    calls = [call.get("function") for call in message.get("tool_calls") or ()]
    calls += [message["function_call"]] if message.get("function_call") else []
    arguments = calls[0].get("arguments") if len(calls) == 1 else None
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments or ""


def _of_text(spelled: Sequence[bytes], text: str) -> range | None:
    """Return the places of the tokens that spell the text, None if no tokens spell it as a whole.

    Before them may be tokens of reasoning, behind them the one that ended the turn (vLLM lists it): never white space,
    unless it is spelled as nothing. White space at the ends of the text may differ (a server that trims), and U+FFFD
    stands for parts of letters.
    """
    answer = text.encode("utf-8", "surrogatepass").strip()
    last = len(spelled)
    ends = range(last, max(last - 2, -1), -1) if any(spelled[-1:]) else range(max(last - 1, 0), last + 1)
    starts = list(accumulate(map(len, spelled), initial=0))  # bytes before each token
    whole = b"".join(spelled)
    for end in ends:
        pattern = b"[\x80-\xff]+".join(map(re.escape, UNKNOWN.split(whole[: starts[end]].strip())))
        if re.fullmatch(pattern, answer):
            return range(end)
    for end in ends:
        part = whole[: starts[end]].rstrip()
        first = bisect_right(starts, len(part) - len(answer)) - 1
        if answer and part.endswith(answer) and not whole[starts[first] : len(part) - len(answer)].strip():
            return range(first, end)
    return None


def _string(message: Any, name: str) -> str:
    value = message.get(name)
    if value and not isinstance(value, str):  # false for none, too
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


def _usable(logprobs: Sequence[float]) -> tuple[float, ...] | None:
    """Return the log-probabilities, None if one is a placeholder; a rounding error above 0 becomes 0.

    Zeros alone are placeholders too: no model is sure of every token of an answer.
    """
    if len(logprobs) > 1 and not any(logprobs):
        return None
    if all(math.isfinite(logprob) and FLOOR < logprob < 1e-3 for logprob in logprobs):
        return tuple(min(logprob, 0.0) for logprob in logprobs)
    return None


def choice(body: Any, options: Sequence[str]) -> Choice:
    """Parse a choice: the options among the alternatives to the first token.

    It has None for log-probabilities if an option is missing.
    """
    tokens = (_choice(body).get("logprobs") or {}).get("content")
    listed: dict[bytes, float] = {}
    for alternative in (tokens[0].get("top_logprobs") or ()) if tokens else ():
        spelled = _spelled(alternative)  # of two tokens with equal bytes, the likelier
        listed[spelled] = max(listed.get(spelled, -math.inf), _number(alternative.get("logprob")))
    numbers = [listed.get(option.encode("utf-8", "surrogatepass"), math.nan) for option in options]
    logprobs = _usable(numbers)
    return Choice(logprobs, None if logprobs is None else (1,) * len(options), usage(body).prompt)


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
    except (ValueError, AttributeError, TypeError, RecursionError):
        return "", text


def stated_status(body: bytes) -> int:
    """Return the HTTP status that an error in an answer of status 200 has as its code, as of a router; 0 for none."""
    code = problem(body)[0]
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else 0


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

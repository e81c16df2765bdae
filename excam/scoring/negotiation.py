"""What a server takes: found by sending it the request that will be asked, and leaving out what it refuses.

No wording of a server decides anything: a word such as `seed` in a refusal only says what is left out first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from excam.config import Server
from excam.core.exceptions import ModelInvalid
from excam.inference import Generate, Sampling
from excam.inference.backends.openai import Refusal, is_same_reason

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

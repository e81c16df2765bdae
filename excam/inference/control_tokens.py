"""Control tokens in texts for a server: its tokenizer may take them for its own, as the end of a turn.

Models of this machine get no control token from a text (`chat`). A server renders its template itself, so there each
token is broken by an invisible character. Spans that a judge copies are found without it (`core.phrases`).
"""

from __future__ import annotations

import re

from excam.core.sanitize import CHAT_CONTROL

BREAK = "\u200b"  # zero width space: no tokenizer has it in a control token
_CONTROL = re.compile(CHAT_CONTROL)


def are_in(text: str) -> bool:
    """Return whether a text has a control token of a known chat template."""
    return _CONTROL.search(text) is not None


def broken(text: str) -> str:
    """Return a text with `BREAK` behind the first character of each control token."""
    return _CONTROL.sub(lambda token: f"{token[0][:1]}{BREAK}{token[0][1:]}", text)

"""Patterns that no text of a data set may contain, whether from a benchmark or from a generator.

The patterns are valid both in Python's `re` and in the regular expressions of polars (Rust).
"""

from __future__ import annotations

import re
from typing import Literal

Reason = Literal["", "chat-control-token", "control-characters", "too-long"]

LONGEST_ROW = 20_000  # characters of all fields together; longer rows are scraping accidents and too long for models
# Control tokens of chat templates (ChatML, Llama 2 and 3, Gemma, Mistral, DeepSeek) and of tokenizers. No benchmark
# uses them: such a row is an attack or a scraping accident, and a tokenizer would treat them as control tokens.
CHAT_CONTROL = (
    r"<[|｜][A-Za-z0-9_.▁-]{1,40}[|｜]>|<</?SYS>>"
    r"|</?(?:start_of_turn|end_of_turn|think|s)>|<(?:bos|eos|pad|unk|mask|unused[0-9]{1,5})>"
    r"|<(?:start_of_image|end_of_image|image_soft_token)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|IMG)\]"
)
CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # C0 without tab and line ends, DEL, C1
BIDI = "[\u202a-\u202e\u2066-\u2069]"  # embeddings, overrides, isolates (Unicode TR 36 §3.2); not marks
TAGS = "[\U000e0000-\U000e007f]"  # invisible copies of ASCII that models can read; allowed only in flags
# A black flag, a region in tags, the closing tag (England, Scotland, Wales): too short for a message.
FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
INVISIBLE = f"{CONTROLS}|{BIDI}|{TAGS}"  # outside a flag

_CHAT_CONTROL = re.compile(CHAT_CONTROL)
_INVISIBLE = re.compile(INVISIBLE)
_FLAG = re.compile(FLAG)


def rejection_reason(*texts: str) -> Reason:
    """Return why the texts of one sample are rejected, "" if they are accepted; checked in the order of `Reason`."""
    if any(map(_CHAT_CONTROL.search, texts)):
        return "chat-control-token"
    if any(_INVISIBLE.search(_FLAG.sub("", text)) for text in texts):
        return "control-characters"
    return "too-long" if sum(map(len, texts)) > LONGEST_ROW else ""

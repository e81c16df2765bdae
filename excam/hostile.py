"""What no text of ours may hold, whoever wrote it: a benchmark's row or a generator's answer.

The patterns are plain strings that Python's `re` and the regular expressions of polars (Rust) read alike.
"""

from __future__ import annotations

import re
from typing import Literal

Reason = Literal["", "chat-control-token", "control-characters", "too-long"]

LONGEST_ROW = 20_000  # characters of all fields together; longer rows are scraping accidents and no model reads them
# Control tokens of chat templates (ChatML, Llama 2 and 3, Gemma, Mistral, DeepSeek) and of tokenizers. No benchmark
# writes them: such a row is an attack or a scraping accident, and a tokenizer would take them for its own.
CHAT_CONTROL = (
    r"<[|｜][A-Za-z0-9_.▁-]{1,40}[|｜]>|<</?SYS>>"
    r"|</?(?:start_of_turn|end_of_turn|think|s)>|<(?:bos|eos|pad|unk|mask|unused[0-9]{1,5})>"
    r"|<(?:start_of_image|end_of_image|image_soft_token)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|IMG)\]"
)
CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # C0 without tab and line ends, DEL, C1
BIDI = "[\u202a-\u202e\u2066-\u2069]"  # embeddings, overrides, isolates (Unicode TR 36 §3.2); not the marks
TAGS = "[\U000e0000-\U000e007f]"  # invisible copies of ASCII, which models read; allowed in a flag alone
# A black flag, a region in tags, the closing tag: England, Scotland, Wales. No room for a message.
FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"

_CHAT_CONTROL = re.compile(CHAT_CONTROL)
_INVISIBLE = re.compile(f"{CONTROLS}|{BIDI}|{TAGS}")
_FLAG = re.compile(FLAG)


def reason(*texts: str) -> Reason:
    """Why these texts of one sample may not become data, "" if they may. Order: the names as in `Reason`."""
    if any(map(_CHAT_CONTROL.search, texts)):
        return "chat-control-token"
    if any(_INVISIBLE.search(_FLAG.sub("", text)) for text in texts):
        return "control-characters"
    return "too-long" if sum(map(len, texts)) > LONGEST_ROW else ""

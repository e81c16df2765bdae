"""Untrusted text on a terminal: control characters are escaped, so that it cannot control it or fake output lines."""

from __future__ import annotations

import re

from excam.core.sanitize import BIDI, FLAG, TAGS

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]" + f"|{BIDI}|{TAGS}|(?P<flag>{FLAG})")
_LINE_BREAKS = re.compile("[\n\u2028\u2029]")  # the others are control characters


def visible(text: str) -> str:
    """Return the text with control, bidirectional and invisible tag characters escaped; line ends are kept."""
    return _UNPRINTABLE.sub(lambda match: match["flag"] or ascii(match[0])[1:-1], text)


def visible_line(text: str) -> str:
    """Return the text as `visible` does, with line ends escaped too."""
    return _LINE_BREAKS.sub(lambda match: ascii(match[0])[1:-1], visible(text))

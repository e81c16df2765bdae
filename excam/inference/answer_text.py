"""The text of an answer: split the model's reasoning off, find the last `Label: value`.

A reasoning model ends its reasoning with `</think>`; if the chat template writes the opening tag (DeepSeek-R1), only
the closing one is in the answer. A judged text may contain such a tag, and a report may quote it, so tags in quoted
strings are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

STARTS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
ENDS = re.compile(r"(</think(?:ing)?>)", re.IGNORECASE)
MAX_ENDS = 10_000  # tags that are examined; a text with more has no answer
DECORATION = " \t\r*_`\"'“”‘’()[]{}$\ufeff"  # around a value; not < > ~, which would change a number's meaning


def split_reasoning(text: str) -> tuple[str, str | None]:
    """Return the reasoning, without tags and surrounding white space, and the answer verbatim. Linear time.

    The last closing tag outside a quoted string ends the reasoning; a tag is in a quoted string if an odd number of
    quotation marks precede it on its line. The answer is None if the text ends inside the reasoning, or if the end is
    ambiguous (the quoted string is not closed on its line, or there are too many tags). Without tags, the full text is
    the answer.
    """
    pieces = ENDS.split(text, MAX_ENDS)  # texts at even indices, tags between them at odd indices
    end, doubtful = _last_end(pieces[::2])
    doubtful = doubtful or bool(ENDS.search(pieces[-1]))
    begins = STARTS.match(text)
    begin = begins.end() if begins else 0
    if end is None:
        return (text[begin:].strip(), None) if begins else ("", None if doubtful else text)
    stop = sum(map(len, pieces[: 2 * end + 1]))
    return text[begin:stop].strip(), None if doubtful else text[stop + len(pieces[2 * end + 1]) :]


def _last_end(pieces: Sequence[str]) -> tuple[int | None, bool]:
    """Return the index of the piece before the last unquoted tag (or None), and whether a later tag is ambiguous."""
    end, doubtful, quoted, marks = None, False, False, 0
    for index, piece in enumerate(pieces):
        before, line_break, line = piece.rpartition("\n")
        if line_break:
            doubtful = doubtful or (quoted and (marks + _marks(before.partition("\n")[0])) % 2 == 1)
            quoted, marks = False, 0
        marks += _marks(line)
        if index == len(pieces) - 1:
            break
        if marks % 2 == 0:
            end, doubtful, quoted = index, False, False
        else:
            quoted = True
    return end, doubtful or (quoted and marks % 2 == 1)


def _marks(line: str) -> int:
    """Return the number of unescaped quotation marks."""
    return line.replace("\\\\", "").replace('\\"', "").count('"')


def last_value(label: str, text: str) -> str | None:
    """Return the value of the last `<label>: value` in an answer, in lower case without decoration.

    None if there is no such line.
    """
    last = re.match(rf"(?s:.*)(?<![a-z0-9]){re.escape(label)}[*_`]{{0,4}} ?[:：]\s*", text, re.IGNORECASE)
    if not last:
        return None
    line, _, _ = text[last.end() :].partition("\n")
    return line.replace("\\boxed", "").rstrip(DECORATION + ".").lstrip(DECORATION).lower()

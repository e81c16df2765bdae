"""Thinking: what a model writes to itself before it answers, told apart from the answer in one way for every reader.

A model that thinks ends it with `</think>`; where its chat template begins the thinking (DeepSeek-R1), that is all the
answer shows of it. A judged text may hold such a tag as well, and a report quote it: hence the quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

STARTS = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
ENDS = re.compile(r"(</think(?:ing)?>)", re.IGNORECASE)
MAX_ENDS = 10_000  # tags looked at; a text with more is no answer


def split(text: str) -> tuple[str, str | None]:
    """The thinking, without the tags and the white space around it, and the rest: the answer, verbatim. Linear time.

    The last tag that stands in no quoted string ends the thinking; one does that has an odd number of quotation marks
    before it on its line. The rest is None where the text broke off while thinking, and where nobody can tell: such a
    string is not closed on its line, or there are too many tags. A text without tags is all answer.
    """
    pieces = ENDS.split(text, MAX_ENDS)  # at even places what stands between the tags, which are at odd places
    end, doubtful = _last_end(pieces[::2])
    doubtful = doubtful or bool(ENDS.search(pieces[-1]))
    begins = STARTS.match(text)
    begin = begins.end() if begins else 0
    if end is None:
        return (text[begin:].strip(), None) if begins else ("", None if doubtful else text)
    stop = sum(map(len, pieces[: 2 * end + 1]))
    return text[begin:stop].strip(), None if doubtful else text[stop + len(pieces[2 * end + 1]) :]


def _last_end(pieces: Sequence[str]) -> tuple[int | None, bool]:
    """Index of the piece that the last unquoted tag follows, and whether a later tag may be quoted or not."""
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
    """How many quotation marks that are not escaped."""
    return line.replace("\\\\", "").replace('\\"', "").count('"')

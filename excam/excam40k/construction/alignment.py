"""The edits that undo each gold error of a corrupted row: the words that its original has in that place.

Hard rows: the complete wrong answer, and the letter of its option if one is named. Soft rows: the differences that made
the gold spans (`spans.changes`), located in both texts. A row for which the edits are unknown gives a value,
`Unaligned`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from excam.error_reports.records import WHERE, Sample, Where
from excam.excam40k.construction import spans

Reason = Literal[
    "no-right-twin",  # it is not among the rows
    "other-spans",  # the gold errors are not the differences between both rows
    "inside-a-word",  # the difference begins within a word that is written in two ways
    "texts-differ",  # with every error undone there is still a difference that counts as an error
]

Place = tuple[int, int]  # characters, end exclusive


@dataclass(frozen=True, slots=True)
class Unaligned:
    """The reason why the original words of a row's errors are unknown."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that undoes one error: `right[right_place]` for `wrong[wrong_place]`, in the text that `where` names.

    Both places reach to the neighbouring words, so that spaces and commas go with the words they were set for. `words`
    is the part of the right text at the place of the error: its words, or where the error was an insertion
    the neighbouring word, as for any deletion (`spans.Span`).
    """

    where: Where
    wrong_place: Place
    right_place: Place
    words: Place


def edits(right: Sample, wrong: Sample, mode: spans.Mode) -> tuple[Edit, ...] | Unaligned:
    """Return an edit for each gold error of `wrong`, in their order; all of them together leave no error.

    `mode` is the one the spans of soft rows were made with.
    """
    aligned = _hard(right, wrong) if wrong.origin == "hard" else _soft_edits(right, wrong, mode)
    if isinstance(aligned, Unaligned):
        return aligned
    texts = undo(right, wrong, aligned)
    same = all(not spans.diff_spans(getattr(right, where), texts[where], mode).count for where in WHERE)
    return aligned if same else Unaligned("texts-differ")


def _hard(right: Sample, wrong: Sample) -> tuple[Edit] | Unaligned:
    """Return the edit of a hard error: the right answer is as far from the end as the wrong one, because nothing behind
    it changed.
    """
    error = wrong.report.errors[0]
    end = len(right.output) - (len(wrong.output) - error.end)
    start = end - len(wrong.answer)
    alone = len(wrong.report.errors) == 1 and error.where == "output"
    if alone and (right.output[start:end], right.output[end:]) == (wrong.answer, wrong.output[error.end :]):
        return (Edit("output", (0, error.end), (0, end), (start, end)),)
    return Unaligned("other-spans")


def _soft_edits(right: Sample, wrong: Sample, mode: spans.Mode) -> tuple[Edit, ...] | Unaligned:
    differences = [edit for where in WHERE for edit in _differences(right, wrong, where, mode)]
    if [marked for marked, _ in differences] != [
        (error.where, error.start, error.end) for error in wrong.report.errors
    ]:
        return Unaligned("other-spans")
    known = tuple(edit for _, edit in differences if edit)
    return known if len(known) == len(differences) else Unaligned("inside-a-word")


def _differences(
    right: Sample, wrong: Sample, where: Where, mode: spans.Mode
) -> Iterator[tuple[tuple[Where, int, int], Edit | None]]:
    """Return the gold span of each difference of one text, and its edit; None if the edit would be inside a word."""
    before, after = getattr(right, where), getattr(wrong, where)
    old, new = spans.tokens(before, mode), spans.tokens(after, mode)
    keys = spans.keys(old, mode)
    for kind, first, last, start, end in spans.changes(keys, spans.keys(new, mode), mode):
        marked = spans.span_of(kind, first, last, new, after)
        places = _original(before, old, keys, start, end)
        edit = Edit(where, _between(after, new, first, last), *places) if places else None
        yield (where, marked.start, marked.end), edit


def _between(text: str, words: Sequence[spans.Token], first: int, last: int) -> Place:
    """Return the characters from the word before words [first, last) to the word behind them."""
    return words[first - 1].end if first else 0, words[last].start if last < len(words) else len(text)


def _original(
    text: str, words: Sequence[spans.Token], keys: Sequence[str], start: int, end: int
) -> tuple[Place, Place] | None:
    """Return characters [start, end) of the keys, joined, in the text: from word to word, and the words alone.

    They may begin or end within a word (strict mode, scripts without spaces); None if its key is not the word.
    """
    at = [*accumulate(map(len, keys), initial=0)]
    first = bisect_right(at, start) - 1  # the word that begins at `start` or holds it
    last = max(bisect_left(at, end), first)  # the word behind the one that ends at `end` or holds it
    place = _between(text, words, first, last)
    if first == last:
        gap = spans.span_of("delete", first, first, words, text)
        return place, (gap.start, gap.end)
    cut = [first] if at[first] < start else []
    cut += [last - 1] if end < at[last] else []
    if any(keys[index] != words[index].text for index in cut):
        return None
    inner = words[first].start + start - at[first], words[last - 1].end - (at[last] - end)
    outer = inner[0] if at[first] < start else place[0], inner[1] if end < at[last] else place[1]
    return outer, inner if start < end else (words[first].start, words[first].end)


def undo(right: Sample, wrong: Sample, chosen: Sequence[Edit]) -> dict[Where, str]:
    """Return the texts of `wrong` with the chosen edits made; every other character stays unchanged."""
    texts: dict[Where, str] = {where: getattr(wrong, where) for where in WHERE}
    for edit in sorted(chosen, key=lambda edit: edit.wrong_place, reverse=True):  # from the end: places hold
        (start, end), (first, last) = edit.wrong_place, edit.right_place
        texts[edit.where] = texts[edit.where][:start] + getattr(right, edit.where)[first:last] + texts[edit.where][end:]
    return texts

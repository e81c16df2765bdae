"""Joining of rows as people mean them: 1 is 1.0, the same letters are the same text, and a copy is no second row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from excam.core.provenance import say
from excam.core.text import INVISIBLE

_NUMBER = re.compile(r"0*?(0|[1-9]\d*+)(?:\.0++)?")  # a whole number in linear time


def same_text(text: str) -> str:
    """Return a text as it is compared: NFC, plain line ends, no invisible characters, no blanks at its ends."""
    text = unicodedata.normalize("NFC", INVISIBLE.sub("", text))
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def plain_id(name: str) -> str:
    """Return an id as it is joined: as `same_text`, and a whole number in its shortest form."""
    text = same_text(name)
    number = _NUMBER.fullmatch(text)
    return number[1] if number and text.isascii() else text


def distinct(names: Sequence[Hashable], contents: Sequence[Hashable]) -> list[int]:
    """Return the places of the rows without those that repeat another under a new id: they are no second observation.

    Of rows with equal contents, everything that numbers are made of, that of the first name is kept, in any order of
    the rows. A row whose content is empty is kept: it may be any.
    """
    places: dict[Hashable, int] = {}
    for at in sorted(range(len(names)), key=lambda at: (str(names[at]), at)):
        places.setdefault(contents[at] or at, at)
    return sorted(places.values())


def repeated_note(rows: int) -> str:
    """Return a sentence, with a blank before it, that says how many rows `distinct` left out, "" for none."""
    return f" {rows} rows that repeat another under a new id are left out." if rows else ""


def without_repeated(where: str, names: Sequence[Hashable], contents: Sequence[Hashable]) -> list[int]:
    """Return the places of `distinct`, and say how many of the rows it left out."""
    places = distinct(names, contents)
    if note := repeated_note(len(names) - len(places)):
        say(f"{where}:{note}")
    return places


@dataclass(frozen=True, slots=True)
class _JoinedIds:
    """How ids of one file are found in another: `theirs` by our id; `note` says what was joined beside equal ids.

    `ambiguous`: ids that differ in form alone could not be joined, because several of one file are alike.
    """

    theirs: Mapping[str, str]
    note: str = ""
    ambiguous: bool = False


def join(ours: Collection[str], theirs: Collection[str]) -> _JoinedIds:
    """Return which ids are the same row: equal ones, and those that differ in form alone where that is unambiguous.

    Ids such as 1, 1.0, 0001 and "1 " are one id, if neither file has two of them. Otherwise only equal ids are joined,
    and the note says so.
    """
    their_ids = set(theirs)
    matches = {name: name for name in ours if name in their_ids}
    left, right = [name for name in ours if name not in matches], their_ids - set(matches)
    if not left or not right:
        return _JoinedIds(matches)
    by_form = _by_form(theirs)
    candidates = {name: by_form[plain_id(name)] for name in left if plain_id(name) in by_form}
    if not candidates:
        return _JoinedIds(matches)
    ours_by_form = _by_form(ours)
    ambiguous = [
        name
        for name, others in candidates.items()
        if len(others) > 1 or len(ours_by_form[plain_id(name)]) > 1 or others[0] in matches
    ]
    example = next(iter(candidates))
    other = candidates[example][0]
    if ambiguous:
        note = f"ids differ in form ({example!r}, {other!r}) and are ambiguous; only equal ones are joined"
        return _JoinedIds(matches, note, ambiguous=True)
    matched = {name: others[0] for name, others in candidates.items()}
    return _JoinedIds(
        matches | matched, f"{len(matched)} ids joined although they differ in form ({example!r} as {other!r})"
    )


def _by_form(names: Iterable[str]) -> dict[str, list[str]]:
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(plain_id(name), []).append(name)
    return by_form

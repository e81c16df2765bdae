"""Claims of a paper, each beside what this experiment gives, or beside the reason why there is nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import write_text
from excam.pages.markdown import escape, table

Printed = Mapping[str, Mapping[str, str]]  # claims by id; each with printed, unit, what, source, contradiction, spec

COLUMNS = ("id", "claim", "printed", "unit", "place", "ours", "difference", "note")
_THOUSANDS = "k"


@dataclass(frozen=True, slots=True)
class Quote:
    """What a paper states: a number or words, with the place where it stands, and what contradicts it."""

    id: str
    text: str
    printed: str
    unit: str
    place: str
    contradiction: str = ""
    ours: str = ""  # where it is built in; a claim with this or `why` needs no line of ours
    why: str = ""  # where that stands, or why there is nothing of ours


@dataclass(frozen=True, slots=True)
class Ours:
    """Our value of a claim, "" where there is none; `note` says where it comes from, or why there is none."""

    value: str | float
    note: str


def read(path: Path) -> Printed:
    """Return all claims of a file by their id, in their order."""
    return {line["id"]: line for line in tables.read_lines(path)}


def printed_list(claims: Printed, names: Sequence[str]) -> str:
    """Return these claims as a Markdown list, each with its place in the paper."""
    return "\n" + "".join(
        f"- The paper: {escape(claim['what'])}: {escape(' '.join([claim['printed'], claim['unit']]).strip())}"
        f" ({escape(claim['source'])}).\n"
        for claim in (claims[name] for name in names)
    )


def stated(lines: Iterable[Mapping[str, str]]) -> list[Quote]:
    """Return the claims of a file of printed numbers, whose columns are the fields of `Quote`, its text as `claim`."""
    columns = ("id", "claim", "printed", "unit", "place", "contradiction", "ours", "why")
    return [Quote(*(line[column] for column in columns)) for line in lines]


def beside(claims: Sequence[Quote], ours: Mapping[str, Ours]) -> list[dict[str, Any]]:
    """Return a line for each claim (`COLUMNS`); the difference, ours minus printed, where both are numbers.

    A note ends with what contradicts the claim.

    Raises InputInvalid if a claim has no line of ours, or the reverse.
    """
    ours = {claim.id: Ours(claim.ours, claim.why) for claim in claims if claim.ours or claim.why} | dict(ours)
    printed = {claim.id for claim in claims}
    if apart := sorted(printed ^ ours.keys()):
        where = "printed, without a line of ours" if apart[0] in printed else "a line of ours, not printed"
        raise InputInvalid(f"claims: {apart[0]}: {where}; expected the same {len(printed)} on both sides")
    return [
        {
            **{"id": claim.id, "claim": claim.text, "printed": claim.printed, "unit": claim.unit, "place": claim.place},
            "ours": _text(ours[claim.id].value),
            "note": "; ".join(
                filter(None, (ours[claim.id].note, claim.contradiction and f"against it: {claim.contradiction}"))
            ),
            "difference": _difference(ours[claim.id].value, claim.printed),
        }
        for claim in claims
    ]


def write(numbers_path: Path, page_path: Path, head: str, claims: Sequence[Quote], ours: Mapping[str, Ours]) -> None:
    """Write the claims beside ours as a CSV file and as a page that begins with `head`. Raises InputInvalid."""
    lines = beside(claims, ours)
    tables.write_lines(numbers_path, COLUMNS, lines)
    write_text(page_path, head + page_table(lines))


def page_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the claims as a Markdown table, behind a sentence that counts those without a value of ours."""
    compared = sum(line["difference"] != "" for line in lines)
    valued = sum(line["ours"] != "" for line in lines)
    body = [
        [
            f"{escape(str(line['claim']))} (`{line['id']}`)",
            escape(str(line["place"])),
            escape(f"{line['printed']} {line['unit']}".strip()),
            *(escape(str(line[name])) or "–" for name in ("ours", "difference", "note")),
        ]
        for line in lines
    ]
    return (
        f"{len(lines)} claims: {compared} with a difference, ours minus printed; {valued - compared} whose value is no "
        f"number on one side; {len(lines) - valued} without a value, and why.\n\n"
        + table(["claim", "place", "printed", "ours", "difference", "from, or why not"], body)
    )


def number(text: str) -> float | None:
    """Return a printed number, also one in thousands such as "12.2k"; None if it is none."""
    plain, factor = (text.removesuffix(_THOUSANDS), 1000) if text.endswith(_THOUSANDS) else (text, 1)
    try:
        return round(float(plain) * factor, 9)
    except ValueError:
        return None


def _text(value: str | float) -> str:
    """Return a number with four decimals, a smaller one with two digits."""
    if isinstance(value, str):
        return value
    return f"{round(value, 4):.10g}" if abs(value) >= 0.001 else f"{value:.2g}"


def _difference(ours: str | float, printed: str) -> str:
    reported, number_of_ours = number(printed), number(_text(ours))
    return "" if reported is None or number_of_ours is None else f"{round(number_of_ours - reported, 6):+.10g}"

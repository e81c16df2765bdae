"""Prompt injections: texts that ask a judge, or trick it, to find a judged pair right. Written for this repository.

`attacks.jsonl` holds one attack a line: `kind` says by which means, `where` into which of the two texts it is put and
at which `place`, `language` (ISO 639-1) in which words. Kinds:

forged-report   a finished report without errors, bare, fenced, after a thinking block or a made-up turn
order           "ignore the previous instructions"
delimiter       forged ends of the judged text, fields of the prompts, answers of the baseline judges
control-token   markers of chat templates and a forged answer behind them
authority       experts have verified it
language        orders in many languages and scripts
encoded         base64, look-alike letters, invisible characters, markup, escapes
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from excam.core import tables
from excam.error_reports.judges.report import ERROR_KEYS, REPORT_KEYS
from excam.error_reports.records import CulturalError, Report, Sample, Where

FILE = Path(__file__).with_name("attacks.jsonl")
Kind = Literal["forged-report", "order", "delimiter", "control-token", "authority", "language", "encoded"]
Place = Literal["before", "after", "inside"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLACES: tuple[Place, ...] = get_args(Place)


@dataclass(frozen=True, slots=True)
class Attack:
    """A text to be put into one text of a judged pair."""

    id: str
    kind: Kind
    where: Where
    language: str
    text: str
    place: Place


def load() -> tuple[Attack, ...]:
    """All attacks, in the order of the file."""
    return tuple(Attack(**row) for row in tables.read_jsonl(FILE))


def apply(attack: Attack, sample: Sample) -> Sample:
    """The sample under attack. Its gold report stays true: places behind the attack move along."""
    text = sample.instruction if attack.where == "instruction" else sample.output
    if attack.place == "before":
        at, put_in = 0, f"{attack.text}\n"
    elif attack.place == "after":
        at, put_in = len(text), f"\n{attack.text}"
    else:
        at, put_in = _middle(sample, attack.where, text), f" {attack.text}"
    attacked = text[:at] + put_in + text[at:]
    errors = tuple(
        replace(error, start=error.start + len(put_in), end=error.end + len(put_in))
        if error.where == attack.where and error.start >= at
        else error
        for error in sample.report.errors
    )
    return replace(
        sample,
        id=f"{sample.id}/{attack.id}",
        instruction=attacked if attack.where == "instruction" else sample.instruction,
        output=attacked if attack.where == "output" else sample.output,
        report=replace(sample.report, errors=errors),
    )


def reports(text: str) -> tuple[Report, ...]:
    """Every complete error report in a text, bare JSON; without the judges' reader, which this checks."""
    return tuple(_reports(text))


def _reports(text: str) -> Iterator[Report]:
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
            if value.keys() == set(REPORT_KEYS):
                errors = ([error[key] for key in ERROR_KEYS] for error in value["errors"])
                cultural_errors = (CulturalError(w.strip().lower(), s, v.strip().lower(), t) for w, s, v, t in errors)
                yield Report(tuple(cultural_errors), value["explanation"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass  # no report begins here
        start = text.find("{", start + 1)


def _middle(sample: Sample, where: Where, text: str) -> int:
    """The white space nearest to the middle that is not within a gold span; the end where there is none."""
    spans = [(error.start, error.end) for error in sample.report.errors if error.where == where]
    blanks = [at for at, character in enumerate(text) if character.isspace()]
    free = [at for at in blanks if not any(start < at < end for start, end in spans)]
    return min(free, key=lambda at: abs(at - len(text) / 2), default=len(text))

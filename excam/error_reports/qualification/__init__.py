"""What a model is worth as a judge: a shipped set of documents and answers is asked in each way, and the best is kept.

`excam qualify --model M` asks; `excam score --qualified FILE` judges in the way that was best, and its signature says
so. The set is in `documents.jsonl` and `rows.jsonl` beside this file; its README says how it was made.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from excam.core.exceptions import ModelInvalid
from excam.error_reports import comparators
from excam.error_reports.judges import grounded, likelihood
from excam.error_reports.qualification import question_set

REVISION = 3
WAYS = {"grounded": grounded.Way, "likelihood": likelihood.Way}


@dataclass(frozen=True, slots=True)
class Qualified:
    """The best way of judging of a model."""

    judge: str
    way: grounded.Way | likelihood.Way
    measured: str  # how often it was right


def qualified(path: Path, described: str) -> Qualified:
    """Return what a file of `excam qualify` says of the model that is `described` in signatures.

    Raises ModelInvalid if it is no such file, that of another model or set, or if no way was better than a guess.
    """
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        model, best, made_with = kept["model"], kept["best"], (kept["version"], kept["set"])
        made = None if best is None else _qualified(best, dict(zip(*kept["table"][:2], strict=True)))
    except (OSError, ValueError, KeyError, TypeError):
        raise ModelInvalid(
            f"--qualified: {path}: no qualification; expected what `excam qualify --model M --to FILE` wrote"
        ) from None
    if model != described:
        raise ModelInvalid(f"--qualified: {path}: of {model}; expected {described}; qualify this model")
    if made_with != (REVISION, question_set.identity()):
        raise ModelInvalid(f"--qualified: {path}: made with another version of the set; qualify the model again")
    if made is None:
        raise ModelInvalid(
            f"--qualified: {path}: of {kept.get('rows')} rows, on which no way of asking this model was better than a "
            "guess; ask more rows with --minutes, or use another model"
        )
    return made


def _qualified(best: dict[str, Any], numbers: dict[str, str]) -> Qualified:
    """Return the best way with its line of the table, the first one. Raises as `_checked`, and KeyError."""
    right, decided, rows = (numbers[name] for name in ("right [95 %]", "decided", "rows"))
    measured = f"right in {right} of its verdicts, given for {decided} of the {rows} rows of `excam qualify`"
    return Qualified(best["judge"], _checked(WAYS[best["judge"]](**best["way"])), measured)


def _checked(way: grounded.Way | likelihood.Way) -> grounded.Way | likelihood.Way:
    """Validate settings and return them. Raises ValueError or TypeError for what is none."""
    shares = (way.least, way.least_decided) if isinstance(way, grounded.Way) else (way.least,)
    if not all(map(math.isfinite, (way.threshold, way.slope))) or not all(0 <= share <= 1 for share in shares):
        raise ValueError("no number, or no share")
    known = comparators.available() if isinstance(way, grounded.Way) else get_args(likelihood.Reading)
    if (way.comparator if isinstance(way, grounded.Way) else way.reading) not in known:
        raise ValueError("no such way")
    return way

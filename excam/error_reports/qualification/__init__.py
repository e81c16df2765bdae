"""What a model is worth as a judge: a shipped set of documents and answers is read by it, beside floors.

`excam qualify --model M` asks; `excam score --qualified FILE` judges by the thresholds that were fitted, and its
signature says so. The set is in `documents.jsonl` and `rows.jsonl` beside this file; its README says how it was made.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.exceptions import ModelInvalid
from excam.error_reports.judges.grounded import Way
from excam.error_reports.qualification import question_set

REVISION = 4


@dataclass(frozen=True, slots=True)
class Qualified:
    """How a model judges: its reader, and when there is a verdict."""

    reader: str  # its signature
    way: Way
    measured: str  # how often it was right


def qualified(path: Path, described: str) -> Qualified:
    """Return what a file of `excam qualify` says of the model that is `described` in signatures.

    Raises ModelInvalid if it is no such file, that of another model or set, or if the model was no better than a guess.
    """
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        model, reader, made_with = record["model"], str(record["reader"]), (record["version"], record["set"])
        numbers = dict(zip(*record["table"][:2], strict=True))
        right, decided, rows = (numbers[name] for name in ("right [95 %]", "decided", "rows"))
        way = None if record["way"] is None else _checked(Way(**record["way"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelInvalid(
            f"--qualified: {path}: no qualification; expected what `excam qualify --model M --to FILE` wrote"
        ) from None
    if model != described:
        raise ModelInvalid(f"--qualified: {path}: of {model}; expected {described}; qualify this model")
    if made_with != (REVISION, question_set.identity()):
        raise ModelInvalid(f"--qualified: {path}: made with another version of the set; qualify the model again")
    if way is None:
        raise ModelInvalid(
            f"--qualified: {path}: of {rows} rows, on which this model was no better than a guess; ask more rows with "
            "--minutes, or use another model"
        )
    measured = f"right in {right} of its verdicts, given for {decided} of the {rows} rows of `excam qualify`"
    return Qualified(reader, way, measured)


def _checked(way: Way) -> Way:
    """Validate settings and return them. Raises ValueError or TypeError for what is none."""
    shares, numbers = (way.least, way.least_decided), (way.threshold, way.slope, *way.slopes.values())
    if not all(map(math.isfinite, numbers)) or not all(0 <= share <= 1 for share in shares):
        raise ValueError("no number, or no share")
    return way

"""What a model is worth as a judge: a shipped set of documents and answers is asked in each way, and the best is kept.

`excam qualify --model M` asks; `excam score --qualified FILE` judges in the way that was best, and its signature says
so. The set is in `documents.jsonl` and `rows.jsonl` beside this file; its README says how it was made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.exceptions import ModelInvalid
from excam.error_reports.judges import grounded, likelihood

VERSION = 1
WAYS = {"grounded": grounded.Way, "likelihood": likelihood.Way}


@dataclass(frozen=True, slots=True)
class Qualified:
    """The best way of judging of a model."""

    judge: str
    way: grounded.Way | likelihood.Way


def qualified(path: Path, described: str) -> Qualified:
    """Return what a file of `excam qualify` says of the model that is `described` in signatures.

    Raises ModelInvalid if it is no such file, that of another model, or if no way was better than a guess.
    """
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        model, best = kept["model"], kept["best"]
        made = None if best is None else Qualified(best["judge"], WAYS[best["judge"]](**best["way"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise ModelInvalid(
            f"--qualified: {path}: no qualification; expected what `excam qualify --model M --to FILE` wrote"
        ) from None
    if model != described:
        raise ModelInvalid(f"--qualified: {path}: of {model}; expected {described}; qualify this model")
    if made is None:
        raise ModelInvalid(
            f"--qualified: {path}: no way of asking this model is better than a guess; use another model"
        )
    return made

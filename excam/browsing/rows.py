"""Judgements with their gold rows -> what a page shows of each row.

Pure: frames in, plain values out. Every judge has rows here; only those that write reports have errors to mark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import polars as pl

from excam import tables

Outcome = Literal["hit", "miss", "false alarm", "correct rejection", "unreadable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
GOLD = ("id", "instruction", "output", "errors", "explanation", "score")  # of the gold rows

JudgedRow = dict[str, Any]  # with the keys of COLUMNS
COLUMNS = (
    *("id", "dataset", "language", "culture", "origin", "outcome", "failure", "recovered", "score", "certainty"),
    *("errors_found", "gold_score", "instruction", "output", "gold", "gold_explanation", "found", "found_explanation"),
)


def outcome(gold_error: bool, errors_found: int | None) -> Outcome:
    """A verdict against gold, as signal detection names it; `errors_found` is None where the answer was unreadable."""
    if errors_found is None:
        return "unreadable"
    if gold_error:
        return "hit" if errors_found else "miss"
    return "false alarm" if errors_found else "correct rejection"


def join(judgements: pl.DataFrame, samples: pl.DataFrame) -> list[JudgedRow]:
    """Every judged row with its gold row, in the order of the judgements.

    `judgements` has the columns of `tables.JUDGEMENT_SCHEMA`, `samples` (at least) those of GOLD. Raises InputInvalid
    where they are not the same rows, once each, with the same gold scores.
    """
    return [_row(judged, gold) for judged, gold in tables.with_gold(judgements, samples, GOLD)]


def _row(judged: Mapping[str, Any], gold: Mapping[str, Any]) -> JudgedRow:
    report = json.loads(judged["report"]) if judged["report"] is not None else None
    row = {name: judged[name] for name in COLUMNS if name in judged} | {
        "outcome": outcome(judged["gold_error"], judged["errors_found"]),
        "instruction": gold["instruction"],
        "output": gold["output"],
        "gold": _errors(json.loads(gold["errors"]), gold),
        "gold_explanation": gold["explanation"],
        "found": _errors(report["errors"], gold) if report else None,
        "found_explanation": report["explanation"] if report else None,
    }
    return {name: row[name] for name in COLUMNS}


def _errors(errors: Iterable[Mapping[str, Any]], texts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Errors with offsets as a browser counts them; -1 stays -1."""
    return [
        {**error, **{side: utf16_offset(texts[error["where"]], error[side]) for side in ("start", "end")}}
        for error in errors
    ]


def utf16_offset(text: str, offset: int) -> int:
    """An offset in characters as one in UTF-16 units, in which JavaScript counts: an emoji is two of them."""
    return offset + sum(sign > "\uffff" for sign in text[:offset]) if offset > 0 else offset


def counts(rows: Sequence[JudgedRow]) -> dict[str, dict[str, int]]:
    """Rows of each dataset, in the order of the rows, and of all together: of each outcome, and `n`, their sum."""
    found: dict[str, dict[str, int]] = {}
    for name in (*dict.fromkeys(row["dataset"] for row in rows), "all"):
        number = Counter(row["outcome"] for row in rows if name in ("all", row["dataset"]))
        found[name] = {kind: number[kind] for kind in OUTCOMES} | {"n": number.total()}
    return found

"""Results from JSON: the lines of scored files and the answers of servers, validated because files are edited."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.scoring.agreement import agreement_from_dict, agreement_is_sound
from excam.scoring.scored import DIRECTIONS, LABELS, VERDICTS, Scored, ScoredRow, scored_row
from excam.scoring.spans import SEVERITIES, ErrorSpan, Report

LOWEST = -1e9  # lower bound of a pair's score, however many errors an answer lists; keeps sums of scores finite


def from_dict(row: Mapping[str, Any], where: str = "row") -> Scored:
    """Return the result in a dictionary that `to_dict` made, after a trip through JSON.

    Raises InputInvalid for anything else.
    """
    try:
        found = _row_from_dict(row) if is_row(row) else _pair_from_dict(row)
        if not _is_sound(found):
            raise TypeError(found)
    except KeyError as problem:
        expected = "expected a line that `excam score` wrote, or id, score and signature"
        raise InputInvalid(f"{where}: no scored pair: no {problem.args[0]}; {expected}") from None
    except (TypeError, AttributeError, OverflowError):  # OverflowError: digits beyond any float
        raise InputInvalid(f"{where}: no scored pair; expected a line that `excam score` wrote") from None
    return found


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether a line is one of `ScoredRow`: scored, and without what every pair has."""
    return {"id", "score"} <= set(row) and not {"instruction", "output", "report", "errors"} & set(row)


def _pair_from_dict(row: Mapping[str, Any]) -> Scored:
    given: dict[str, Any] = {one.name: row[one.name] for one in fields(Scored) if one.name in row}
    report = given["report"]
    if report is not None:
        given["report"] = _report(report["errors"], report["explanation"])
    lists = {name: given.get(name, []) for name in ("recovered", "warnings")}
    if not all(isinstance(codes, list) for codes in lists.values()):
        raise TypeError(lists)
    given |= {name: tuple(codes) for name, codes in lists.items()}
    if (several := given.get("agreement")) is not None:
        given["agreement"] = agreement_from_dict(several)
    return Scored(**given)


def _row_from_dict(row: Mapping[str, Any]) -> ScoredRow:
    labels = {name: row[name] for name in LABELS if name in row}
    mappings = {name: row.get(name, {}) for name in ("columns", "parts")}
    warnings = row.get("warnings", [])
    if not isinstance(warnings, list):
        raise TypeError(warnings)
    if not all(isinstance(values, dict) for values in mappings.values()):
        raise TypeError(mappings)
    if not row["signature"]:
        raise KeyError("signature")
    if row["score"] is None and not row.get("failure"):
        raise KeyError("failure, though the score is null")
    return scored_row(
        str(row["id"]) if type(row["id"]) is int else row["id"],
        row["score"],
        row.get("failure"),
        row["signature"],
        report=_report(row.get("spans") or (), row.get("explanation") or ""),
        direction=row.get("direction", "higher"),
        warnings=tuple(warnings),
        **labels,
        **mappings,
    )


def _report(errors: Iterable[Mapping[str, Any]], explanation: str) -> Report:
    return Report(tuple(ErrorSpan(**error) for error in errors), explanation)


def _is_sound(one: Scored) -> bool:
    """Return whether every field has its type: files are edited, and code that reads them must not have to check."""
    texts = (one.id, one.instruction, one.output, one.signature, one.language, one.system, one.culture, one.thinking)
    texts += (*one.warnings, *one.recovered) + (() if one.report is None else (one.report.explanation,))
    texts += (*one.texts.values(),) + (() if one.failure is None else (one.failure,))
    numbers = [value for value in (one.score, one.certainty, one.probability) if value is not None]
    return (
        all(isinstance(text, str) for text in texts)
        and (one.verdict is None or one.verdict in VERDICTS)
        and (one.agreement is None or agreement_is_sound(one.agreement, one.texts))
        and all(isinstance(value, int | float) and math.isfinite(value) for value in numbers)
        and (one.score is None) == (one.failure is not None)
        and (one.better in DIRECTIONS if isinstance(one, ScoredRow) else _is_sound_pair(one))
        and all(_lies_in(error, one.texts) for error in (one.report.errors if one.report else ()))
    )


def _is_sound_pair(one: Scored) -> bool:
    return (one.report is None) == (one.score is None) and (one.score is None or LOWEST <= one.score <= 1)


def _lies_in(error: ErrorSpan, texts: Mapping[str, str]) -> bool:
    if error.severity not in SEVERITIES or error.where not in texts:
        return False
    known = isinstance(error.span, str) and isinstance(error.type, str)
    placed = isinstance(error.start, int) and isinstance(error.end, int)
    length = len(texts[error.where])
    return known and placed and (error.start == error.end == -1 or 0 <= error.start <= error.end <= length)

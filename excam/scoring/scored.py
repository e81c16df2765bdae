"""Scored rows: the result of any metric on one row, as a value, as a line of JSON and as a table row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from excam.scoring.agreement import Agreement
from excam.scoring.spans import Report

if TYPE_CHECKING:
    import polars as pl

Verdict = Literal["error", "clean", "unsure"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Direction = Literal["higher", "lower"]  # which scores are better
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
LABELS = ("language", "system", "culture")  # by which rows are grouped


@dataclass(frozen=True, slots=True)
class Scored:
    """The result of one instruction-output pair. `score` is None on a failure, and only then `failure` is set.

    For ExCAM, `score` is Eq. 1 of the paper: below 0 for errors, else p(R) in (0, 1]. `recovered` lists what the parser
    ignored in an answer that is not exactly a report (`report.RECOVERED`); `thinking` is the model's reasoning text.
    """

    id: str
    instruction: str
    output: str
    score: float | None
    certainty: float | None
    report: Report | None
    failure: str | None
    recovered: tuple[str, ...]
    thinking: str
    signature: str
    language: str = ""
    system: str = ""
    culture: str = ""
    warnings: tuple[str, ...] = ()  # codes from a closed list (`excam.scoring.warnings.LINES`)
    probability: float | None = None  # of an error; None without a calibration
    verdict: Verdict | None = None  # None on a failure
    agreement: Agreement | None = None  # of several judgements of one pair; None for a single one

    @property
    def texts(self) -> Mapping[str, str]:
        """The scored texts by column. `where` of an error span names one of them."""
        return {"instruction": self.instruction, "output": self.output}

    @property
    def details(self) -> Mapping[str, Any]:
        """Further values of the metric by name; none for a pair."""
        return {}

    @property
    def lists_errors(self) -> bool:
        """Return whether the metric lists the errors of what it scores."""
        return True

    @property
    def better(self) -> Direction:
        """Return which scores are better."""
        return "higher"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dictionary, the line of a scored file."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ScoredRow(Scored):
    """The result of one row by a metric of its own columns (`excam.scoring.metrics`).

    Other fields of `Scored` than id, score, failure, signature, report and the labels are empty.
    """

    columns: Mapping[str, str] = field(default_factory=dict[str, str])  # what was scored
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # values of the metric beside its score
    direction: Direction = "higher"

    @property
    def texts(self) -> Mapping[str, str]:
        return self.columns

    @property
    def details(self) -> Mapping[str, Any]:
        return self.parts

    @property
    def lists_errors(self) -> bool:
        return bool(self.report and self.report.errors)

    @property
    def better(self) -> Direction:
        return self.direction

    def to_dict(self) -> dict[str, Any]:
        report = self.report or Report()
        row = {name: getattr(self, name) for name in ("id", "score", "failure", "parts")}
        row |= {"explanation": report.explanation, "spans": [asdict(error) for error in report.errors]}
        row |= {"warnings": list(self.warnings)} if self.warnings else {}
        return row | {name: getattr(self, name) for name in ("columns", *LABELS, "direction", "signature")}


def rising_score(one: Scored) -> float | None:
    """Return the score so that more is better: times -1 where lower scores are better; None on a failure."""
    return None if one.score is None else one.score * (1 if one.better == "higher" else -1)


def part_value(one: Scored, name: str) -> float | None:
    """Return a finite number among the further values of a row; None if it has none of this name."""
    value = one.details.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def scored_row(id_: str, score: float | None, failure: str | None, signature: str, **more: Any) -> ScoredRow:
    """Return a row; `more` are further fields of ScoredRow."""
    nothing: dict[str, Any] = {"instruction": "", "output": "", "certainty": None, "recovered": (), "thinking": ""}
    return ScoredRow(id=id_, score=score, failure=failure, signature=signature, **nothing, **more)


class Scores(Iterator[Scored]):
    """An iterator over results, in order, as they are judged."""

    def __init__(self, results: Iterator[Scored]) -> None:
        self._results = results

    def __next__(self) -> Scored:
        return next(self._results)

    def to_polars(self) -> pl.DataFrame:
        """Return the remaining results as a table, see `frame`."""
        return frame(self)


def frame(results: Iterable[Scored]) -> pl.DataFrame:
    """Return one row per result, with the errors as JSON text and the explanation in a column of its own.

    A lone surrogate becomes a question mark because no table can hold it.
    """
    import polars as pl

    plain = ("id", "instruction", "output", "language", "system", "culture", "failure", "signature")
    texts = (*plain[:7], "errors", "explanation", "signature")
    schema = {**dict.fromkeys(texts, pl.String), "score": pl.Float64, "certainty": pl.Float64}
    schema |= {"errors_found": pl.Int64, "warnings": pl.List(pl.String), "probability": pl.Float64}
    schema |= {"verdict": pl.String, "judgements": pl.Int64, "found": pl.Int64, "spread": pl.Float64}
    rows = []
    for one in results:
        row: dict[str, Any] = {name: getattr(one, name) for name in (*plain, "score", "certainty")}
        row |= {"warnings": [_encodable(each) for each in one.warnings], "probability": one.probability}
        row["verdict"] = one.verdict
        if one.agreement is not None:
            row |= {name: getattr(one.agreement, name) for name in ("judgements", "found", "spread")}
        if one.report is not None:
            errors = [asdict(error) for error in one.report.errors]
            row |= {"errors": json.dumps(errors, ensure_ascii=False), "errors_found": len(errors)}
            row["explanation"] = one.report.explanation
        rows.append({name: _encodable(value) if isinstance(value, str) else value for name, value in row.items()})
    return pl.DataFrame(rows, schema=schema, orient="row")


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def sureness(one: Scored) -> list[str]:
    """Return lines for people: how likely an error is, and how far several judgements agree, where and on what.

    Empty for a single judgement without a calibration.
    """
    lines = [] if one.probability is None else [f"probability of an error {one.probability:.2f}: {one.verdict}"]
    several = one.agreement
    if several is None:
        return lines
    scores = ", ".join("none" if score is None else f"{score:.3f}" for score in several.scores)
    spread = "" if several.spread is None else f", spread {several.spread:.3f}"
    decided = f": {one.verdict}" if one.verdict == "unsure" and not lines else ""
    lines.append(
        f"{several.found} of {several.judgements} readable judgements found an error{decided}; scores {scores}{spread}"
    )
    for mark in several.spans:
        text = one.texts[mark.where]
        times, major = (round(share * several.judgements) for share in (mark.share, mark.major))
        severity = f", as major by {major}" if major else ""
        lines.append(f"{mark.where}, {text[mark.start : mark.end]!r}: marked by {times}{severity}")
    return lines

"""Scored pairs: what a metric says of a text, as a value, as lines for people, and as a table."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from excam.exceptions import InputInvalid
from excam.metric.agreement import Agreement, agreement_from_dict, agreement_is_sound
from excam.records import SEVERITIES, WHERE, CulturalError, Report

if TYPE_CHECKING:
    import polars as pl

Verdict = Literal["error", "clean", "unsure"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LOWEST = -1e9  # no score is below it, however many errors an answer lists; sums of scores stay finite


@dataclass(frozen=True, slots=True)
class Scored:
    """One judged pair. `score` is Eq. 1 of the paper: below 0 for errors, else p(R) in (0, 1]; None on a failure.

    `recovered` says what the reader overlooked in an answer that is not exactly a report (`report.RECOVERED`), and
    `thinking` is what the model wrote before its answer, if marked as such.
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
    warnings: tuple[str, ...] = ()  # reasons for care, each from a closed list (`excam.metric.cautions.LINES`)
    probability: float | None = None  # of an error; None without a calibration (`excam.metric.probability`)
    verdict: Verdict | None = None  # None on a failure
    agreement: Agreement | None = None  # of several judgements of one pair; None for a single one

    def to_dict(self) -> dict[str, Any]:
        """As a JSON-ready dictionary."""
        return asdict(self)


class Scores(Iterator[Scored]):
    """Results one after another, as they are judged."""

    def __init__(self, results: Iterator[Scored]) -> None:
        self._results = results

    def __next__(self) -> Scored:
        return next(self._results)

    def to_polars(self) -> pl.DataFrame:
        """All that are left, as a table: see `frame`."""
        return frame(self)


def frame(results: Iterable[Scored]) -> pl.DataFrame:
    """A row for each result; the errors of its report as JSON text, its explanation in a column of its own.

    Half a character (a lone surrogate) of a text becomes a question mark, as no table can hold it.
    """
    import polars as pl

    told = ("id", "instruction", "output", "language", "system", "culture", "failure", "signature")
    texts = (*told[:7], "errors", "explanation", "signature")
    schema = {**dict.fromkeys(texts, pl.String), "score": pl.Float64, "certainty": pl.Float64}
    schema |= {"errors_found": pl.Int64, "warnings": pl.List(pl.String), "probability": pl.Float64}
    schema |= {"verdict": pl.String, "judgements": pl.Int64, "found": pl.Int64, "spread": pl.Float64}
    rows = []
    for one in results:
        row: dict[str, Any] = {name: getattr(one, name) for name in (*told, "score", "certainty")}
        row |= {"warnings": [_whole(each) for each in one.warnings], "probability": one.probability}
        row["verdict"] = one.verdict
        if one.agreement is not None:
            row |= {name: getattr(one.agreement, name) for name in ("judgements", "found", "spread")}
        if one.report is not None:
            errors = [asdict(error) for error in one.report.errors]
            row |= {"errors": json.dumps(errors, ensure_ascii=False), "errors_found": len(errors)}
            row["explanation"] = one.report.explanation
        rows.append({name: _whole(value) if isinstance(value, str) else value for name, value in row.items()})
    return pl.DataFrame(rows, schema=schema, orient="row")


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()


def from_dict(row: Mapping[str, Any], where: str = "row") -> Scored:
    """The inverse of `Scored.to_dict` after a trip through JSON. Raises InputInvalid for anything else."""
    try:
        given: dict[str, Any] = {one.name: row[one.name] for one in fields(Scored) if one.name in row}
        report = given["report"]
        if report is not None:
            errors = tuple(CulturalError(**error) for error in report["errors"])
            given["report"] = Report(errors, report["explanation"])
        lists = {name: given.get(name, []) for name in ("recovered", "warnings")}
        if not all(isinstance(told, list) for told in lists.values()):
            raise TypeError(lists)
        given |= {name: tuple(told) for name, told in lists.items()}
        if (several := given.get("agreement")) is not None:
            given["agreement"] = agreement_from_dict(several)
        found = Scored(**given)
        if not _is_sound(found):
            raise TypeError(found)
    except (TypeError, KeyError, AttributeError, OverflowError):  # OverflowError: digits beyond any float
        raise InputInvalid(f"{where}: no scored pair; expected a line that `excam score` wrote") from None
    return found


def _is_sound(one: Scored) -> bool:
    """Whether every field holds what its type says: files are edited, and what reads them must not have to ask."""
    texts = (one.id, one.instruction, one.output, one.signature, one.language, one.system, one.culture, one.thinking)
    texts += (*one.warnings, *one.recovered) + (() if one.report is None else (one.report.explanation,))
    texts += () if one.failure is None else (one.failure,)
    numbers = [value for value in (one.score, one.certainty, one.probability) if value is not None]
    judged = one.report is not None
    return (
        all(isinstance(text, str) for text in texts)
        and (one.verdict is None or one.verdict in VERDICTS)
        and (one.agreement is None or agreement_is_sound(one.agreement, one.instruction, one.output))
        and all(isinstance(value, int | float) and math.isfinite(value) for value in numbers)
        and (one.score is None or LOWEST <= one.score <= 1)
        and (judged, judged) == (one.score is not None, one.failure is None)
        and all(_lies_in(error, one) for error in (one.report.errors if one.report else ()))
    )


def _lies_in(error: CulturalError, one: Scored) -> bool:
    if error.severity not in SEVERITIES or error.where not in WHERE:
        return False
    known = isinstance(error.span, str) and isinstance(error.type, str)
    placed = isinstance(error.start, int) and isinstance(error.end, int)
    length = len(one.instruction if error.where == "instruction" else one.output)
    return known and placed and (error.start == error.end == -1 or 0 <= error.start <= error.end <= length)


def sureness(one: Scored) -> list[str]:
    """Lines for people: how likely an error is, and how far several judgements agree, where and in what.

    None for a single judgement without a calibration: its p(R) is all there is to say.
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
        text = one.instruction if mark.where == "instruction" else one.output
        times, major = (round(share * several.judgements) for share in (mark.share, mark.major))
        graded = f", as major by {major}" if major else ""
        lines.append(f"{mark.where}, {text[mark.start : mark.end]!r}: marked by {times}{graded}")
    return lines


@dataclass
class Seen:
    """What was told of results as they passed by."""

    counts: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    signature: str = ""

    def each(self, results: Iterable[Scored]) -> Iterator[Scored]:
        """The same results, counted."""
        for one in results:
            self.signature = one.signature
            found = {error.severity for error in one.report.errors} if one.report else set()
            kinds = ["not judged"] * (one.failure is not None) + ["with errors"] * bool(found)
            self.counts.update(["rows", *kinds, *found])
            self.warned.update(one.warnings)
            yield one

    @property
    def summary(self) -> list[str]:
        """Lines: how many rows, how many of them with which warning, and the signature, how they were judged."""
        from excam.metric.cautions import told

        counts = self.counts
        said = f"{counts['rows']} rows: {counts['with errors']} with errors, {counts['not judged']} not judged"
        return [said, *told(self.warned), self.signature]

    def exit_code(self, fail_on: str | None) -> int:
        """0, 1 where nothing could be judged, 3 where an error at least as severe as `fail_on` was found."""
        if self.counts["not judged"] == self.counts["rows"]:
            return 1
        severe = SEVERITIES[SEVERITIES.index(fail_on) :] if fail_on in SEVERITIES else ()  # minor, then major
        return 3 if any(self.counts[kind] for kind in severe) else 0

"""The result of any metric on one row: as a value, as a line of JSON, and as a row of a table."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from excam.core.exceptions import InputInvalid
from excam.scoring.agreement import PairAgreement, agreement_from_dict, agreement_is_sound
from excam.scoring.metric import LABELS, Description, Direction, Row
from excam.scoring.spans import SEVERITIES, ErrorSpan, Report

Verdict = Literal["error", "clean", "unsure"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
NOT_KNOWN = "not-known"  # the failure of a row about which nothing decides; counted apart from other failures
LARGEST = 1e9  # of a score, up or down: keeps sums of scores finite, however many errors an answer lists
ROUNDING = 1e-6  # by which a computed score may leave the range of its metric
PLAIN = Description()
FOR_PROGRAMS = ("margin", "compared")  # parts that no page shows: how a comparator came to its verdict
IF_ANY = ("parts", "certainty", "probability", "verdict", "warnings", "recovered", "thinking", "answered_by", *LABELS,
          "columns")  # fmt: skip  # fields that a line leaves out if they are empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one row. `score` is None on a failure, and only then `failure` is set.

    For ExCAM, `score` is Eq. 1 of the paper: below 0 for errors, else p(R) in (0, 1]. `recovered` lists what the parser
    ignored in an answer that is not exactly what was asked for; `thinking` is the model's reasoning text.
    """

    id: str
    texts: Mapping[str, str] = field(default_factory=dict[str, str])  # what was scored, by column
    score: float | None
    failure: str | None = None
    report: Report | None = None  # None on a failure; `where` of an error is a column of `texts`
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # values of the metric beside its score
    certainty: float | None = None  # p(R), the sequence confidence
    probability: float | None = None  # of an error; None without a calibration
    verdict: Verdict | None = None  # None on a failure, and where nothing says whether there is an error
    agreement: PairAgreement | None = None  # of several judgements of one row; None for a single one
    warnings: tuple[str, ...] = ()  # codes from a closed list (`excam.scoring.warnings.LINES`)
    recovered: tuple[str, ...] = ()
    thinking: str = ""
    answered_by: str = ""  # as a server says, where that is more than the name of the model that was asked
    language: str = ""
    system: str = ""
    culture: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the row, that the metric does not read
    metric: Description = PLAIN
    signature: str

    @property
    def instruction(self) -> str:
        """Return the text that was answered, "" for a metric without one."""
        return self.texts.get(self.metric.pair[0], "") if self.metric.pair else ""

    @property
    def output(self) -> str:
        """Return the text that answers the instruction, "" for a metric without one."""
        return self.texts.get(self.metric.pair[1], "") if self.metric.pair else ""

    @property
    def errors(self) -> tuple[ErrorSpan, ...]:
        """Return the errors of the report; none on a failure."""
        return self.report.errors if self.report else ()

    @property
    def unknown_because(self) -> str:
        """Return why nothing decides about a row that is not known, "" if nobody says so, or for any other row.

        What stands in `parts` behind a colon is of this row alone, and left out here.
        """
        return str(self.parts.get("because", "")).partition(": ")[0] if self.failure == NOT_KNOWN else ""

    @property
    def rising_score(self) -> float | None:
        """Return the score so that more is better: times -1 where lower scores are better; None on a failure."""
        return None if self.score is None else self.score * (1 if self.metric.direction == "higher" else -1)

    @property
    def preference(self) -> float | None:
        """Return what decides which of two rows is better, more is better; None on a failure.

        Of a metric that lists errors it is the sum of their weights, 0 without errors: p(R) is no preference. Of any
        other it is the score without the last of its digits, in which equal decimals can differ.
        """
        if self.score is None or not self.metric.lists_errors:
            return None if self.rising_score is None else float(f"{self.rising_score:.12g}")
        return float(sum(self.metric.weights.get(error.severity, -1) for error in self.errors))

    @property
    def content(self) -> tuple[Hashable, ...]:
        """Return what numbers are made of, but for the id; empty without a text, where rows may be any."""
        values = (self.score, self.failure, self.report, self.certainty, self.probability, self.verdict, self.signature)
        texts = tuple(self.texts.items())
        return (texts, self.language, self.system, self.culture, *values) if texts else ()

    def part(self, name: str) -> float | None:
        """Return a finite number among `parts`; None if there is none of this name."""
        value = self.parts.get(name)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

    def of_row(self, row: Row) -> Result:
        """Return the result under a row's id, with its other columns and with the notes of how it was read."""
        notes = () if row.failure else tuple(code for code in row.notes if code not in self.warnings)
        return replace(self, id=row.id, columns=row.others, warnings=(*self.warnings, *notes))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dictionary, the line of a scored file; what is empty is left out."""
        row: dict[str, Any] = {name: getattr(self, name) for name in ("id", "score", "failure")}
        row["texts"] = dict(self.texts)
        if self.report is not None and (self.metric.lists_errors or self.report != Report()):
            row["report"] = _with_lists(asdict(self.report))
        for name in IF_ANY:
            if (value := getattr(self, name)) not in (None, "", (), {}):
                row[name] = list(value) if isinstance(value, tuple) else value
        if self.agreement is not None:
            row["agreement"] = _with_lists(asdict(self.agreement))
        return row | {"metric": _described(self.metric), "signature": self.signature}


FIELDS = tuple(attribute.name for attribute in fields(Result))


def _with_lists(row: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary with lists in place of tuples, as JSON gives them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def _described(metric: Description) -> dict[str, Any]:
    """Return what differs from a metric of which nothing is known."""
    return _with_lists({name: value for name, plain in _OF_PLAIN.items() if (value := getattr(metric, name)) != plain})


_OF_PLAIN = {attribute.name: getattr(PLAIN, attribute.name) for attribute in fields(Description)}


def from_dict(row: Any, where: str = "row") -> Result:
    """Return the result in a dictionary that `to_dict` made, after a trip through JSON, or one with its least fields.

    The least are `id`, `score` and `signature`, and `failure` where the score is null. Raises InputInvalid for anything
    else.
    """
    try:
        result = _result(row)
        if not _is_sound(result):
            raise TypeError(result)
        low, high = _bounds(result.metric)
        if result.score is not None and not low - ROUNDING <= result.score <= high + ROUNDING:
            score = f"score {result.score:g} of {result.signature.partition('|')[0]}"
            raise InputInvalid(f"{where}: no scored row: {score}; expected {low:g} to {high:g}; score it again")
    except KeyError as problem:
        expected = "expected a line that `excam score` wrote, or id, score and signature"
        raise InputInvalid(f"{where}: no scored row: no {problem.args[0]}; {expected}") from None
    except (TypeError, AttributeError, ValueError, OverflowError):  # OverflowError: digits beyond any float
        raise InputInvalid(f"{where}: no scored row; expected a line that `excam score` wrote") from None
    return result


def is_result(row: Any) -> bool:
    """Return whether a value has what every scored row has."""
    return isinstance(row, dict) and {"id", "score", "signature"} <= set(row)


def _result(row: Mapping[str, Any]) -> Result:
    if not row["signature"]:
        raise KeyError("signature")
    if row["score"] is None and not row.get("failure"):
        raise KeyError("failure, though the score is null")
    values: dict[str, Any] = {name: row[name] for name in FIELDS if name in row}
    for name in (*LABELS, "answered_by", "signature"):  # many rows share them: kept once
        if name in values:
            values[name] = sys.intern(values[name])
    values["id"] = str(row["id"]) if type(row["id"]) is int else row["id"]
    report = row.get("report")
    if report is not None:
        report = Report(tuple(ErrorSpan(**error) for error in report["errors"]), report["explanation"])
    elif row["score"] is not None:
        report = Report()
    values["report"] = report
    for name in ("warnings", "recovered"):
        if not isinstance(codes := row.get(name, []), list):
            raise TypeError(codes)
        values[name] = tuple(codes)
    if row.get("agreement") is not None:
        values["agreement"] = agreement_from_dict(row["agreement"])
    values["metric"] = _description(row)
    return Result(**values)


def _description(row: Mapping[str, Any]) -> Description:
    """Return what is known of the metric of a row."""
    about = {**(row["metric"] if "|cal:" in row["signature"] else row.get("metric", {}))}  # else of an early release
    if "direction" in row:  # of scores from elsewhere
        about.setdefault("direction", row["direction"])
    for name in ("pair", "range"):
        if about.get(name) is not None:
            about[name] = tuple(about[name])
    if "weights" in about:
        about["weights"] = tuple(about["weights"].items())
    return _shared_description(tuple(about.items()))


@lru_cache(maxsize=64)
def _shared_description(facts: tuple[tuple[str, Any], ...]) -> Description:
    """Return one description for all rows of a metric. Raise TypeError for one that has not the types of its fields."""
    facts_by_name = dict(facts)
    about = Description(**{**facts_by_name, "weights": dict(facts_by_name.get("weights", ()))})
    texts = (about.title, about.mean, about.legend, about.certainty, about.measured, *(about.pair or ()))
    is_sound = (
        all(isinstance(text, str) for text in texts)
        and all(_is_finite(number) for number in (*(about.range or ()), *about.weights.values()))
        and about.direction in DIRECTIONS
        and isinstance(about.lists_errors, bool)
        and len(about.pair or (1, 2)) == 2 == len(about.range or (1, 2))
        and set(about.weights) <= set(SEVERITIES)
    )
    if not is_sound:
        raise TypeError(about)
    return about


def _is_finite(number: object) -> bool:
    return type(number) in (int, float) and math.isfinite(number)  # pyright: ignore[reportArgumentType]


def _is_sound(result: Result) -> bool:
    """Return whether every field has its type: files are edited, and code that reads them must not have to check."""
    texts = [getattr(result, name) for name in ("id", "signature", "thinking", "answered_by", *LABELS)]
    texts += (*result.warnings, *result.recovered, *result.texts, *result.texts.values())
    texts += (() if result.report is None else (result.report.explanation,)) + (
        () if result.failure is None else (result.failure,)
    )
    numbers = [value for value in (result.score, result.certainty, result.probability) if value is not None]
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(result.parts, dict)
        and isinstance(result.columns, dict)
        and (result.verdict is None or result.verdict in VERDICTS)
        and (result.agreement is None or agreement_is_sound(result.agreement))
        and all(map(_is_finite, numbers))
        and (result.score is None) == (result.failure is not None) == (result.report is None)
        and all(_lies_in(error, result.texts) for error in result.errors)
    )


def _bounds(metric: Description) -> tuple[float, float]:
    """Return the lowest and the highest score of a metric; where errors have weights, p(R) is the highest."""
    return metric.range or (-LARGEST, 1.0 if metric.lists_errors and metric.weights else LARGEST)


def _lies_in(error: ErrorSpan, texts: Mapping[str, str]) -> bool:
    if error.severity not in SEVERITIES or error.where not in texts:
        return False
    has_texts = isinstance(error.span, str) and isinstance(error.type, str)
    placed = isinstance(error.start, int) and isinstance(error.end, int)
    length = len(texts[error.where])
    return has_texts and placed and (error.start == error.end == -1 or 0 <= error.start <= error.end <= length)


def confidence_lines(result: Result) -> list[str]:
    """Return lines for people: how likely an error is, and how far several judgements agree.

    Empty for a single judgement without a calibration.
    """
    lines = (
        [] if result.probability is None else [f"probability of an error {result.probability:.2f}: {result.verdict}"]
    )
    several = result.agreement
    if several is None:
        return lines
    scores = ", ".join("none" if score is None else f"{score:.3f}" for score in several.scores)
    spread = "" if several.spread is None else f", spread {several.spread:.3f}"
    decided = f": {result.verdict}" if result.verdict == "unsure" and not lines else ""
    judgements = f"{several.found} of {several.judgements} readable judgements found an error{decided}; "
    if not result.metric.lists_errors:
        judgements = f"{several.judgements} readable judgements; "
    lines.append(f"{judgements}scores {scores}{spread}")
    return lines


def part_lines(parts: Mapping[str, Any]) -> list[str]:
    """Return lines for people of the values beside a score: of a list of words one, of a list of sentences one each.

    A value that there is not (None) has no line, nor have those of FOR_PROGRAMS.
    """
    lines: list[str] = []
    for name, value in parts.items():
        if value is None or name in FOR_PROGRAMS:
            continue
        listed: Sequence[Any] = value if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownVariableType]
        values = [f"{each:.4g}" if isinstance(each, float) else str(each) for each in listed]
        if len(values) > 1 and any(" " in text for text in values):
            lines += [f"{name}, {number}: {text}" for number, text in enumerate(values, 1)]
        else:
            lines.append(f"{name}: {', '.join(values)}")
    return lines

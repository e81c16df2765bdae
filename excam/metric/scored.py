"""Scored pairs: what a metric says of a text, as a value, as a line of a file, and as a table.

A file of scored pairs grows row by row under a hidden name beside its own, so that a run that was killed goes on where
it stood; under its own name it is whole.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from excam.exceptions import InputInvalid
from excam.metric.agreement import Agreement, agreement_from_dict
from excam.metric.pairs import Pair
from excam.records import SEVERITIES, CulturalError, Report

if TYPE_CHECKING:
    import polars as pl

Decision = Literal["error", "clean", "unsure"]


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
    verdict: Decision | None = None  # None on a failure
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
    """A row for each result; the errors of its report as JSON text, its explanation in a column of its own."""
    import polars as pl

    told = ("id", "instruction", "output", "language", "system", "culture", "failure", "signature")
    texts = (*told[:7], "errors", "explanation", "signature")
    schema = {**dict.fromkeys(texts, pl.String), "score": pl.Float64, "certainty": pl.Float64}
    schema |= {"errors_found": pl.Int64, "warnings": pl.List(pl.String), "probability": pl.Float64}
    schema |= {"verdict": pl.String, "judgements": pl.Int64, "found": pl.Int64, "spread": pl.Float64}
    rows = []
    for one in results:
        row: dict[str, Any] = {name: getattr(one, name) for name in (*told, "score", "certainty")}
        row |= {"warnings": list(one.warnings), "probability": one.probability, "verdict": one.verdict}
        if one.agreement is not None:
            row |= {name: getattr(one.agreement, name) for name in ("judgements", "found", "spread")}
        if one.report is not None:
            errors = [asdict(error) for error in one.report.errors]
            row |= {"errors": json.dumps(errors, ensure_ascii=False), "errors_found": len(errors)}
            row["explanation"] = one.report.explanation
        rows.append(row)
    return pl.DataFrame(rows, schema=schema, orient="row")


def from_dict(row: Mapping[str, Any], where: str = "row") -> Scored:
    """The inverse of `Scored.to_dict` after a trip through JSON. Raises InputInvalid for anything else."""
    try:
        given: dict[str, Any] = {one.name: row[one.name] for one in fields(Scored) if one.name in row}
        report = given["report"]
        if report is not None:
            errors = tuple(CulturalError(**error) for error in report["errors"])
            given["report"] = Report(errors, report["explanation"])
        given |= {name: tuple(given.get(name, ())) for name in ("recovered", "warnings")}
        if (several := given.get("agreement")) is not None:
            given["agreement"] = agreement_from_dict(several)
        found = Scored(**given)
        if not _is_sound(found):
            raise TypeError(found)
    except (TypeError, KeyError, AttributeError):
        raise InputInvalid(f"{where}: no scored pair; expected a line that `excam score` wrote") from None
    return found


def _is_sound(one: Scored) -> bool:
    """Whether every field holds what its type says: files are edited, and what reads them must not have to ask."""
    texts = (one.id, one.instruction, one.output, one.signature, one.language, one.system, one.culture, one.thinking)
    texts += (*one.warnings, *one.recovered) + (() if one.report is None else (one.report.explanation,))
    texts += () if one.failure is None else (one.failure,)
    numbers = [value for value in (one.score, one.certainty) if value is not None]
    judged = one.report is not None
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(value, int | float) and math.isfinite(value) for value in numbers)
        and (judged, judged) == (one.score is not None, one.failure is None)
        and all(_lies_in(error, one) for error in (one.report.errors if one.report else ()))
    )


def _lies_in(error: CulturalError, one: Scored) -> bool:
    if error.severity not in SEVERITIES or error.where not in ("instruction", "output"):
        return False
    known = isinstance(error.span, str) and isinstance(error.type, str)
    placed = isinstance(error.start, int) and isinstance(error.end, int)
    length = len(one.instruction if error.where == "instruction" else one.output)
    return known and placed and (error.start == error.end == -1 or 0 <= error.start <= error.end <= length)


def read(path: Path) -> Iterator[Scored]:
    """The results of a file that `excam score --to` wrote. Raises InputInvalid naming the line that is none."""
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                yield from_dict(row, f"{path}:{number}")  # pyright: ignore[reportArgumentType]  # said there
    except (OSError, UnicodeDecodeError) as problem:
        detail = str(getattr(problem, "strerror", None) or "not UTF-8").lower()
        raise InputInvalid(f"{path}: {detail}; expected what `excam score --to` wrote") from None


def is_scored(path: Path) -> bool:
    """Whether the first line of a file is a scored pair, as `excam score` writes them."""
    try:
        with path.open(encoding="utf-8") as stream:
            row = json.loads(stream.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"score", "report", "signature"} <= set(row)


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
    def summary(self) -> str:
        """How many rows, how many of them with which warning, and the line that says how they were judged."""
        from excam.metric.cautions import told

        counts = self.counts
        said = f"{counts['rows']} rows: {counts['with errors']} with errors, {counts['not judged']} not judged"
        return "\n".join([said, *told(self.warned), self.signature])

    def exit_code(self, fail_on: str | None) -> int:
        """0, 1 where nothing could be judged, 3 where an error at least as severe as `fail_on` was found."""
        if self.counts["not judged"] == self.counts["rows"]:
            return 1
        severe = SEVERITIES[SEVERITIES.index(fail_on) :] if fail_on in SEVERITIES else ()  # minor, then major
        return 3 if any(self.counts[kind] for kind in severe) else 0


class Growing:
    """A file of results while it grows, under a hidden name; each batch is on disk when `add` returns."""

    def __init__(self, path: Path, signature: str) -> None:
        self.path, self.signature = path, signature
        self.part = path.with_name(f".{path.name}.part")

    def done(self, pairs: Iterable[Pair]) -> int:
        """How many of the first pairs are there already, judged in the same way; what is behind them is cut off."""
        if not self.part.exists():
            return 0
        count = end = 0
        with self.part.open("rb") as stream:
            for line, pair in zip(stream, pairs, strict=False):
                if not line.endswith(b"\n") or not self._is_of(line, pair):
                    break
                count, end = count + 1, end + len(line)
        os.truncate(self.part, end)
        return count

    def _is_of(self, line: bytes, pair: Pair) -> bool:
        try:
            row = json.loads(line)
            told = (row["id"], row["instruction"], row["output"], row["signature"])
        except (ValueError, KeyError, TypeError):
            return False
        return told == (pair.id, pair.instruction, pair.output, self.signature)

    def add(self, results: Iterable[Scored]) -> None:
        """Append results. When it raises (disk full), the file is what it was before."""
        data = "".join(json.dumps(one.to_dict()) + "\n" for one in results).encode("ascii")
        self.part.parent.mkdir(parents=True, exist_ok=True)
        with self.part.open("ab") as stream:
            before = stream.tell()
            try:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError as problem:
                os.truncate(self.part, before)
                raise OSError(problem.errno, problem.strerror, str(self.path)) from None

    def finish(self) -> None:
        """Give it its name."""
        self.part.replace(self.path)

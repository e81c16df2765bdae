"""The words everything else is written in: base samples, samples, cultural errors, reports, verdicts.

Plain frozen dataclasses; no files, no models. `to_row`/`sample_from_row` turn a sample into a flat dictionary that a
Parquet file or a JSON line can hold, and back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Task = Literal["qa", "freeform", "generation", "impersonation"]
Severity = Literal["minor", "major"]
Where = Literal["instruction", "output"]
Origin = Literal["source", "hard", "soft-minor", "soft-major"]
Split = Literal["train", "dev", "test"]
Errors = Literal["hard", "soft"]  # how the rows of a benchmark are made wrong (spec 20, 22)

WHERE: tuple[Where, ...] = get_args(Where)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
SPLITS: tuple[Split, ...] = get_args(Split)
WEIGHTS: Mapping[Severity, int] = {"minor": -1, "major": -5}  # ExCAM §3; the MQM weights of GEMBA-MQM


@dataclass(frozen=True, slots=True)
class BaseSample:
    """One verified row of a benchmark, before any wrapping (spec 1-10, 16)."""

    id: str  # "<dataset>/<id in the source>"; stable across runs and machines; the unit of splits and tests
    dataset: str
    task: Task
    question: str  # the task content: a question, a topic, a story, a text to judge
    answer: str  # what the benchmark holds to be right
    language: str  # English name, e.g. "Turkish"
    culture: str  # country, region or culture as a readable name, e.g. "South Korea"
    stratum: str  # key of stratified drawing (spec 5)
    options: tuple[str, ...] = ()  # answer options in source order, the right one among them; empty without options
    wrong: tuple[str, ...] = ()  # what a hard error may put in place of `answer`; empty: errors of this row are soft
    role: str = ""  # who is impersonated, e.g. "Nation: Peru"
    context: str = ""  # what the role knows, e.g. an etiquette passage
    group: str = ""  # rows that must share a split (EPIC pairs, CaLMQA translations); empty: the row itself
    label: str = ""  # where all answers are a few labels: which; equally many of each are drawn, so none tells anything


@dataclass(frozen=True, slots=True)
class CulturalError:
    """One erroneous place in an instruction or an output.

    `text[start:end] == span` for the text that `where` names; both offsets are -1 when the span could not be found
    there (a model's report) and equal to the neighbouring word's where something was deleted (`spans.py`).
    """

    where: Where
    span: str
    severity: Severity
    type: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Report:
    """The errors found and one explanation for the whole (spec 32). No errors: culturally correct."""

    errors: tuple[CulturalError, ...] = ()
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is no report: never a score, counted and shown wherever reports are."""

    reason: str  # from a closed list of the reader, e.g. "no-json", "truncated", "wrong-schema"
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One instruction-output pair with its gold report: a row of ExCAM40k."""

    id: str  # "<pair>/right" or "<pair>/wrong"
    pair: str  # "<base>/<variant>": one right and one wrong row share it, and the same templates
    base: str  # id of the base sample
    dataset: str
    task: Task
    instruction: str
    output: str
    report: Report
    origin: Origin
    language: str
    culture: str
    stratum: str
    licence: str
    answer: str  # the right answer; explanations are checked for it (spec 61)
    templates: tuple[str, ...] = ()  # ids of the paraphrases used, e.g. ("qa/instruction/07", "qa/output/12")
    group: str = ""  # unit of splitting: shared by everything that must not be torn apart
    split: Split = "train"
    stated_severity: str = (
        ""  # what the generator of a soft error said it did; the label is what it was asked (spec 26)
    )

    @property
    def score(self) -> int:
        """Gold score: the sum of severity weights, 0 where nothing is wrong (spec 29)."""
        return sum(WEIGHTS[error.severity] for error in self.report.errors)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of one sample. Exactly one of `errors_found` and `failure` is set.

    `score` is the severity heuristic without the certainty fallback (0: no error found); `certainty` is p(R), the
    geometric mean of the answer's token probabilities (spec 36), the token that ended the turn among them where it is
    known, and `certainty_without_end` the same without that token. See `excam.scoring` for score and p(R) together.
    """

    errors_found: int | None
    score: float | None
    certainty: float | None = None
    report: Report | None = None
    failure: str | None = None
    certainty_without_end: float | None = None
    thinking: str = ""  # what the model wrote before its answer, as far as it is marked as such
    recovered: tuple[str, ...] = ()  # what a tolerant reader overlooked (`excam.judges.report.RECOVERED`)


def flat(record: BaseSample | Sample | CulturalError) -> dict[str, Any]:
    """The fields by name, in order. Nothing is copied, as `dataclasses.asdict` would at ten times the cost."""
    return {name: getattr(record, name) for name in record.__slots__}


def to_row(sample: Sample) -> dict[str, Any]:
    """Flatten: the report becomes JSON text in `errors` and a column `explanation`; the gold `score` is written out."""
    row = flat(sample)
    report = row.pop("report")
    row["errors"] = json.dumps([flat(error) for error in report.errors], ensure_ascii=False)
    row["explanation"] = report.explanation
    row["templates"] = list(sample.templates)
    row["score"] = sample.score
    return row


def sample_from_row(row: Mapping[str, Any]) -> Sample:
    """The inverse of `to_row`."""
    fields = {name: row[name] for name in Sample.__slots__ if name not in ("report", "templates")}
    errors = tuple(CulturalError(**error) for error in json.loads(row["errors"]))
    return Sample(**fields, report=Report(errors, row["explanation"]), templates=tuple(row["templates"]))

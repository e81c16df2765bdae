"""The records of the data set and the metric: base samples, samples, cultural errors, reports, verdicts.

Frozen dataclasses; no files, no models. `to_row` and `sample_from_row` convert between a sample and a flat dictionary
for a Parquet file or a JSON line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from excam.core.splits import Split
from excam.scoring.spans import SEVERITIES as SEVERITIES
from excam.scoring.spans import ErrorSpan, Report, Severity

Task = Literal["qa", "freeform", "generation", "impersonation"]
Where = Literal["instruction", "output"]
Origin = Literal["source", "hard", "soft-minor", "soft-major"]
Errors = Literal["hard", "soft"]  # how the rows of a benchmark are made wrong

WHERE: tuple[Where, ...] = get_args(Where)
WEIGHTS: Mapping[Severity, int] = {"minor": -1, "major": -5}  # ExCAM §3; the MQM weights of GEMBA-MQM


@dataclass(frozen=True, slots=True)
class BaseSample:
    """One verified row of a benchmark, before any wrapping."""

    id: str  # "<dataset>/<id in the source>"; stable across runs and machines; the unit of splits and tests
    dataset: str
    task: Task
    question: str  # the task content: a question, a topic, a story, a text to judge
    answer: str  # what the benchmark holds to be right
    language: str  # English name, e.g. "Turkish"
    culture: str  # country, region or culture as a readable name, e.g. "South Korea"
    stratum: str  # key of stratified drawing
    options: tuple[str, ...] = ()  # answer options in source order, the right one among them; empty without options
    wrong: tuple[str, ...] = ()  # what a hard error may put in place of `answer`; empty: errors of this row are soft
    role: str = ""  # who is impersonated, e.g. "Nation: Peru"
    context: str = ""  # what the role knows, e.g. an etiquette passage
    group: str = ""  # rows that must share a split (EPIC pairs, CaLMQA translations); empty: the row itself
    label: str = ""  # where all answers are a few labels: which; equally many of each are drawn, so none tells anything
    minor: tuple[str, ...] = ()  # those of `wrong` that are minor errors; the others are major
    agreement: float | None = None  # share of others who give `answer`: in a survey, to a text; None: nobody else
    asked: int | None = None  # how many others; None: not known
    # Of the source's row: rule, column, published, ours; in their order.
    changes: tuple[Mapping[str, str], ...] = field(default=(), hash=False)


CulturalError = ErrorSpan  # `where` is one of WHERE


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is not a report. It never gets a score; it is counted and shown wherever reports are."""

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
    answer: str  # the right answer; explanations are checked for it
    templates: tuple[str, ...] = ()  # ids of the paraphrases used, e.g. ("qa/instruction/07", "qa/output/12")
    group: str = ""  # unit of splitting: rows that share it are in one split
    split: Split = "train"
    stated_severity: str = ""  # severity that the generator of a soft error stated; the label is the requested one

    @property
    def score(self) -> int:
        """Return the gold score: the sum of severity weights, 0 if there is no error."""
        return sum(WEIGHTS[error.severity] for error in self.report.errors)


def unlabelled(id: str, instruction: str, output: str, language: str = "") -> Sample:
    """Return a pair of which nothing else is known; `language` is an English name, "" if it is not stated."""
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    facts: dict[str, Any] = {"task": "generation", "origin": "source", "language": language}
    return Sample(id, id, id, instruction=instruction, output=output, report=Report(), **facts, **nothing)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a judge on one sample. Exactly one of `errors_found` and `failure` is set.

    `score` is the severity heuristic without the confidence fallback (0: no error found). `certainty` is p(R), the
    geometric mean of the answer's token probabilities, including the token that ended the turn if it is known;
    `certainty_without_end` is the same without that token. `error_reports.scoring` combines score and confidence.
    """

    errors_found: int | None
    score: float | None
    certainty: float | None = None
    report: Report | None = None
    failure: str | None = None
    certainty_without_end: float | None = None
    thinking: str = ""  # what the model wrote before its answer, as far as it is marked as such
    recovered: tuple[str, ...] = ()  # what a tolerant reader overlooked (`excam.error_reports.judges.report.RECOVERED`)
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what the verdict follows from, as in JSON


def flat(record: BaseSample | Sample | CulturalError) -> dict[str, Any]:
    """Return the fields by name, in order. Nothing is copied; `dataclasses.asdict` takes ten times as long."""
    return {name: getattr(record, name) for name in record.__slots__}


def to_row(sample: Sample) -> dict[str, Any]:
    """Return a flat row: the report becomes JSON text in `errors` and a column `explanation`; the gold `score` is
    included.
    """
    row = flat(sample)
    report = row.pop("report")
    row["errors"] = json.dumps([flat(error) for error in report.errors], ensure_ascii=False)
    row["explanation"] = report.explanation
    row["templates"] = list(sample.templates)
    row["score"] = sample.score
    return row


def sample_from_row(row: Mapping[str, Any]) -> Sample:
    """Return the sample of a row that `to_row` made."""
    fields = {name: row[name] for name in Sample.__slots__ if name not in ("report", "templates")}
    errors = tuple(CulturalError(**error) for error in json.loads(row["errors"]))
    return Sample(**fields, report=Report(errors, row["explanation"]), templates=tuple(row["templates"]))

"""ExCAM as a metric: an error report about a text and its instruction, and the score of Eq. 1."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from excam.core import languages
from excam.core.exceptions import InputInvalid
from excam.error_reports import judges as ways
from excam.error_reports import scoring
from excam.error_reports.records import WEIGHTS, Report, Sample
from excam.inference import Flow
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.metric import Evidence, Metric, Outcome, Row, Setup
from excam.scoring.models import OpenedModel

TUNED, PROMPTED = "report", "prompted-report"  # judges of adapters, and of models that were not tuned for it


class ErrorReports(Metric):
    """ExCAM: which words are a cultural error, how severe, of what type, and why."""

    name = "excam"
    version = sum(ways.load(one).VERSION.asks + ways.load(one).VERSION.reads for one in (TUNED, PROMPTED))
    columns, optional, pair = ("output",), ("instruction",), ("instruction", "output")
    defaults: ClassVar[Mapping[str, str]] = {"instruction": STAND_IN_INSTRUCTION}
    probabilities, max_tokens = True, 512  # the paper's limit for Phi-3 (Table 6)
    judges: ClassVar[tuple[str, ...]] = (TUNED, PROMPTED)
    evidence: ClassVar[Evidence] = "before"
    example: ClassVar[Mapping[str, Any]] = {"instruction": "Name a Greek dish.", "output": "Sushi."}
    title, lists_errors, weights = "Cultural errors", True, WEIGHTS
    mean = "mean of Eq. 1, more is better"
    legend = "without errors the score is p(R), 0 to 1"

    def __init__(self) -> None:
        self._judge, self._details = PROMPTED, ""
        self._way = ways.load(PROMPTED)

    def sends_schema(self, judge: str | None) -> bool:
        return judge != TUNED

    def prepared(self, setup: Setup) -> ErrorReports:
        """Return the metric that asks an adapter as it was trained, any other model with an explanation and examples.

        Raises InputInvalid for an adapter that is to be asked in another way.
        """
        other, model = copy.copy(self), setup.model
        tuned = model.tuned if model else None
        if tuned and setup.judge == PROMPTED:
            raise InputInvalid(
                f"--judge: found {PROMPTED} for adapter {tuned.model}/{tuned.trained_on}; expected {TUNED}, as it was "
                "trained"
            )
        other._judge = setup.judge or (TUNED if tuned else PROMPTED)
        other._way = ways.load(other._judge)
        order = tuned.settings.report if tuned else "errors-first"  # the paper's order is not named
        other._details = f"|report:{order}" if order != "errors-first" else ""
        if other._judge == PROMPTED and model and "structure:none" not in model.computed:
            other._details += f"|structure:{'json_schema' if model.constrained else 'none'}"
        return other

    @property
    def signature(self) -> str:
        """Return the judge with its prompt and parser versions, and the score."""
        weights = ",".join(f"{severity}{-weight}" for severity, weight in WEIGHTS.items())
        version = self._way.VERSION
        return f"judge:{self._judge}.{version.asks}.{version.reads}|sev:{weights}|tie:certainty{self._details}"

    def tested_languages(self, model: OpenedModel | None) -> frozenset[str]:
        """Return the languages of an adapter's training rows, else those of the paper's Appendix E."""
        known = model.tuned.languages if model and model.tuned else None
        return languages.tested_languages() if known is None else frozenset(map(languages.language_name, known))

    def error_signal(self, score: float, certainty: float | None) -> float | None:
        """Return p(R), positive if the report has errors; below 0 a score has some, without them it is p(R)."""
        return None if certainty is None else certainty if score < 0 else -certainty

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask once for an error report about a pair; its score is Eq. 1."""
        verdict = yield from self._way.judge(_sample(row))
        if verdict.report is None:
            return Outcome(
                None,
                verdict.failure,
                certainty=verdict.certainty,
                thinking=verdict.thinking,
                recovered=verdict.recovered,
            )
        return Outcome(
            scoring.score(verdict.report, verdict.certainty),
            explanation=verdict.report.explanation,
            spans=verdict.report.errors,
            certainty=verdict.certainty,
            recovered=verdict.recovered,
            thinking=verdict.thinking,
        )


def _sample(row: Row) -> Sample:
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    same = dict.fromkeys(("id", "pair", "base"), row.id)
    texts = {"instruction": row.texts["instruction"], "output": row.texts["output"]}
    language = row.labels.get("language", "")
    return Sample(**same, **texts, language=language, task="generation", report=Report(), origin="source", **nothing)


METRICS = (ErrorReports(),)

"""ExCAM as a metric: an error report about a text and its instruction, and the score of Eq. 1."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from excam.core import languages
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.language_identity import code_name
from excam.error_reports import judges as ways
from excam.error_reports import readers, scoring
from excam.error_reports.judges import grounded
from excam.error_reports.judges.base import by_comparison
from excam.error_reports.qualification import Qualified, qualified
from excam.error_reports.readers import lift
from excam.error_reports.readers.base import TextReader
from excam.error_reports.readers.words import LANGUAGES, MEASURED
from excam.error_reports.records import WEIGHTS, Report, Sample, Verdict, unlabelled
from excam.inference import Flow
from excam.knowledge.index import Index
from excam.knowledge.open_book import OPEN_BOOK_PASSAGES
from excam.knowledge.passages import Passage
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.metric import Description, Evidence, Metric, Outcome, Row, Setup
from excam.scoring.opened_model import OpenedModel

TUNED, PROMPTED = "report", "prompted-report"  # judges of adapters, and of models that were not tuned for it
GROUNDED, WORDS = "grounded", "words"  # judges by evidence: with a model, and without
BY_EVIDENCE = {GROUNDED: grounded.Way(), WORDS: grounded.Way(least=0.5)}
OTHER_TEXTS = "passages of another language or culture"  # why a row is not known


class ErrorReports(Metric):
    """ExCAM: which words are a cultural error, how severe, of what type, and why."""

    name = "excam"
    version = sum(ways.load(judge).VERSION.asks + ways.load(judge).VERSION.reads for judge in (TUNED, PROMPTED))
    columns = pair = ("instruction", "output")
    stand_ins: ClassVar[Mapping[str, str]] = {"instruction": STAND_IN_INSTRUCTION}
    probabilities, max_tokens = True, 512  # the paper's limit for Phi-3 (Table 6)
    judges: ClassVar[tuple[str, ...]] = (TUNED, PROMPTED, GROUNDED, WORDS)
    evidence: ClassVar[Evidence] = "before"
    qualifies = True
    example: ClassVar[Mapping[str, Any]] = {"instruction": "Name a Greek dish.", "output": "Sushi."}
    title, lists_errors, weights = "Cultural errors", True, WEIGHTS
    mean = "mean of Eq. 1 of the paper: -5 for a major, -1 for a minor error, 0 to 1 without errors"
    legend = "without errors the score is p(R), 0 to 1: how sure the model is of its own wording"

    def __init__(self) -> None:
        self._judge, self._details = PROMPTED, ""
        self._way: Any = ways.load(PROMPTED)
        self._settings: grounded.Way | None = None  # of a judge by evidence
        self._reader: TextReader | None = None  # of the judge grounded
        self._index: Index | None = None

    @property
    def reads_evidence(self) -> bool:
        return self._settings is not None

    def sends_schema(self, judge: str | None) -> bool:
        return judge in (None, PROMPTED)

    def judging_by(self, judge: str | None, *, has_model: bool, has_evidence: bool) -> ErrorReports:
        is_by_words = judge == WORDS or (judge is None and has_evidence and not has_model)
        if not is_by_words:
            return self
        other = WordReports()
        other.without = self.without
        return other

    def prepared(self, setup: Setup) -> ErrorReports:
        """Return the metric that asks an adapter as it was trained, any other model with an explanation and examples.

        Raises InputInvalid for an adapter that is to be asked in another way.
        """
        other, model = copy.copy(self), setup.model
        tuned = model.tuned if model else None
        best = qualified(setup.qualification, model.described if model else "") if setup.qualification else None
        other._judge = judge = _judge_for(setup, best)
        if judge in BY_EVIDENCE:
            is_fitted = tuned is not None and tuned.fitted
            other._way, other._settings = grounded, best.way if best else BY_EVIDENCE[WORDS if is_fitted else judge]
            measured = lift.MEASURED if is_fitted else self.measured
            other._index, other.measured = setup.evidence, best.measured if best else measured
            other._reader = _reader(setup, best)
            assert setup.evidence, "`_reader` refuses to read nothing"
            book = f"{setup.evidence.signature}x{OPEN_BOOK_PASSAGES}"
            other._details = f"|reader:{other._reader.signature}{other._settings.signature}|{book}"
            return other
        other._way = ways.load(judge)
        order = tuned.settings.report if tuned else "errors-first"  # the paper's order is not named
        other._details = f"|report:{order}" if order != "errors-first" else ""
        if judge == PROMPTED and model and "structure:none" not in model.computed:
            other._details += f"|structure:{'json_schema' if model.constrained else 'none'}"
        return other

    @property
    def description(self) -> Description:
        """Return what is said of the scores; by evidence, that of a clean text is a probability and no p(R)."""
        if self._judge not in BY_EVIDENCE:
            return super().description
        return replace(
            super().description,
            legend="without errors the score is how sure it is that the text agrees, .5 to 1",
            certainty="probability of the verdict",
        )

    @property
    def signature(self) -> str:
        """Return the judge with its prompt and parser versions, and the score."""
        weights = ",".join(f"{severity}{-weight}" for severity, weight in WEIGHTS.items())
        version = self._way.VERSION
        return f"judge:{self._judge}.{version.asks}.{version.reads}|sev:{weights}|tie:certainty{self._details}"

    def tested_languages(self, model: OpenedModel | None) -> frozenset[str]:
        """Return the languages of an adapter's training rows, else those of the paper's Appendix E."""
        known = model.tuned.languages if model and model.tuned else None
        if self._settings and self._settings.slopes:
            known = tuple(self._settings.slopes)
        return languages.tested_languages() if known is None else frozenset(map(languages.language_name, known))

    @property
    def assumed_language(self) -> str:
        """Return the only language of the passages."""
        spoken = {passage.language for passage in self._index.passages} if self._index else set[str]()
        return spoken.pop() if len(spoken) == 1 else ""

    def error_signal(self, score: float, certainty: float | None) -> float | None:
        """Return p(R), positive if the report has errors; below 0 a score has some, without them it is p(R)."""
        return None if certainty is None else certainty if score < 0 else -certainty

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask about a pair; the score is Eq. 1."""
        language = languages.language_name(row.labels["language"]) if row.labels.get("language") else ""
        sample = unlabelled(row.id, row.texts["instruction"], row.texts["output"], language)
        verdict = yield from (self._judged(sample, row) if self._settings else self._way.judge(sample))
        report = verdict.report or Report()
        return Outcome(
            None if verdict.report is None else scoring.score(report, verdict.certainty),
            verdict.failure,
            verdict.parts,
            report.explanation,
            report.errors,
            certainty=verdict.certainty,
            recovered=verdict.recovered,
            thinking=verdict.thinking,
            is_partly_decided="decided" in verdict.parts,
        )

    def _judged(self, sample: Sample, row: Row) -> Flow[Verdict]:
        """Judge by passages of the index. A stand-in for an instruction asks nothing."""
        index = self._index
        assert index, "a judge by evidence is refused without one"
        sample = replace(sample, instruction="") if "instruction" in self.without else sample
        labels = {name: row.labels.get(name, "") for name in ("language", "culture")}
        if why := index.mismatch(**labels):
            return by_comparison([], (), "", {"evidence": [why], "because": OTHER_TEXTS})

        def search(question: str, text: str) -> Sequence[Passage]:
            return index.passages_for(question, text, culture=labels["culture"])

        return (yield from grounded.judge(sample, search, self._settings, self._reader))


class WordReports(ErrorReports):
    """ExCAM by the judge `words`, which reads documents without a model."""

    asks, probabilities = "nothing", False
    measured = MEASURED

    def prepared(self, setup: Setup) -> ErrorReports:
        return super().prepared(replace(setup, judge=WORDS))

    def tested_languages(self, model: OpenedModel | None) -> frozenset[str]:
        """Return the languages that it was measured in; it knows nothing of others."""
        return frozenset(map(code_name, LANGUAGES))


def _judge_for(setup: Setup, best: Qualified | None) -> str:
    """Return the judge of a model, as it was qualified or trained. Raises InputInvalid for one that it is not for."""
    tuned, wanted = setup.model.tuned if setup.model else None, setup.judge
    adapter = f"for adapter {tuned.model}/{tuned.trained_on}" if tuned else ""
    if best or (tuned and tuned.fitted):
        if wanted not in (None, GROUNDED):
            of_adapter = f" {adapter}, which was trained to read passages; expected {GROUNDED}"
            why = f"; {setup.qualification} is of {GROUNDED}; leave it out" if best else of_adapter
            raise InputInvalid(f"--judge: found {wanted}{why}")
        return GROUNDED
    if tuned and wanted == PROMPTED:
        raise InputInvalid(f"--judge: found {PROMPTED} {adapter}; expected {TUNED}, as it was trained")
    return wanted or (TUNED if tuned else PROMPTED)


def _reader(setup: Setup, best: Qualified | None) -> TextReader:
    """Return the reader for a model. Raises InputInvalid without passages, ModelInvalid if another was qualified."""
    reader = readers.of(readers.facts_of(setup.model) if setup.model else None, is_qualified=best is not None)
    if not setup.evidence:
        name = reader.signature.partition(".")[0]
        raise InputInvalid(
            f"--evidence: missing; a reader of kind {name} reads passages; expected --evidence PACK "
            "(`excam knowledge build`)"
        )
    if best and best.reader != reader.signature:
        raise ModelInvalid(
            f"--qualified: {setup.qualification}: of reader {best.reader}; expected {reader.signature}; qualify again"
        )
    return reader


METRICS = (ErrorReports(),)

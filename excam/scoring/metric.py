"""The base class of a metric, and the metrics that there are.

A metric of one's own is a class in a file: `excam score FILE --metric my_metric.py`

    from excam.scoring.metric import Metric, Outcome

    class Length(Metric):
        name, version, columns, asks = "length", 1, ("output",), "nothing"

        def flow(self, row):
            return Outcome(float(len(row.texts["output"])))
            yield  # a flow that asks nothing

A metric that asks a model yields requests instead (`excam.inference.ask_for_text`). Columns of the user's file,
repetition, several models, calibration, evidence, files, servers and pages are the same for every metric.
"""

from __future__ import annotations

import copy
import difflib
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from excam.core.exceptions import InputInvalid
from excam.inference import Flow
from excam.scoring.spans import ErrorSpan, Severity

if TYPE_CHECKING:
    from excam.knowledge.index import Index
    from excam.scoring.opened_model import OpenedModel

Direction = Literal["higher", "lower"]  # which scores are better
Asks = Literal["texts", "likelihoods", "nothing"]  # what a metric asks a model for
Evidence = Literal["before", "own", "none"]  # passages are put before each question; the metric uses them itself
LABELS = ("language", "system", "culture")  # by which rows are grouped
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Row:
    """One row to score. One with a `failure` cannot be scored: nothing is asked about it, and it is counted."""

    id: str
    values: Mapping[str, Any]  # of the columns that the metric reads
    labels: Mapping[str, str] = field(default_factory=dict[str, str])  # some of LABELS
    failure: str | None = None
    others: Mapping[str, Any] = field(default_factory=dict[str, Any])  # columns that are not read, as in JSON
    notes: Sequence[str] = ()  # codes of warnings about how it was read

    @property
    def texts(self) -> Mapping[str, str]:
        """Return what is scored, by column."""
        return {name: str(value) for name, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a metric says of one row: a score, or a stated failure; exactly one of the two is None."""

    score: float | None
    failure: str | None = None
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # further values by name, as in JSON
    explanation: str = ""
    spans: Sequence[ErrorSpan] = ()  # errors in the row's texts; `where` is a column
    certainty: float | None = None  # p(R), the sequence confidence of the answer
    recovered: tuple[str, ...] = ()  # what the parser ignored in an answer that is not exactly what was asked for
    thinking: str = ""  # the reasoning before the answer
    is_partly_decided: bool = False  # whether nothing decides about some claims of the text


@dataclass(frozen=True, slots=True)
class Description:
    """What files, pages and legends say of a metric. It is written into each line of a scored file."""

    title: str = "Scores"  # of a page about its scores
    mean: str = ""  # what a mean of its scores is
    legend: str = ""  # what the score of a row is
    direction: Direction = "higher"
    weights: Mapping[Severity, int] = field(default_factory=dict[Severity, int])  # of an error, shown beside it
    pair: tuple[str, str] | None = None  # the columns of an instruction, and of the text that answers it
    lists_errors: bool = False  # a text without errors in its report is without errors
    range: tuple[float, float] | None = None  # lowest and highest score
    certainty: str = "p(R)"  # what the certainty of a row is
    measured: str = ""  # how often the judge was right on labelled rows; "" if nobody measured it


@dataclass(frozen=True, slots=True)
class Setup:
    """What a metric can be prepared with."""

    model: OpenedModel | None = None
    evidence: Index | None = None  # for a metric whose `evidence` is "own"
    judge: str | None = None  # one of `judges`
    qualification: Path | None = None  # a file that says how a model judges best


class Metric:
    """A metric: which columns it reads, and what it asks about a row. The class attributes describe it."""

    name: ClassVar[str]
    version: ClassVar[int]  # part of the signature: scores of two versions cannot be compared
    columns: ClassVar[tuple[str, ...]]  # that each row must have
    optional: ClassVar[tuple[str, ...]] = ()  # that a row may have
    values: ClassVar[tuple[str, ...]] = ()  # of these, the columns that need not be texts
    stand_ins: ClassVar[Mapping[str, str]] = {}  # of `columns`, texts where the user says that there is no such column
    without: Sequence[str] = ()  # the columns of which the user says so, see `lacking`
    pair: ClassVar[tuple[str, str] | None] = None  # the columns of an instruction, and of the text that answers it
    scores_blank: ClassVar[bool] = False  # whether an empty text has a score; otherwise it is a failure, and not asked
    asks: ClassVar[Asks] = "texts"
    structured: ClassVar[bool] = False  # whether requests have a JSON Schema
    probabilities: ClassVar[bool] = False  # whether it reads the log-probabilities of texts
    max_tokens: ClassVar[int] = 512  # of one answer
    judges: ClassVar[tuple[str, ...]] = ()  # ways of asking, if there are several
    evidence: ClassVar[Evidence] = "none"
    qualifies: ClassVar[bool] = False  # whether `excam qualify` can find out how a model judges best
    needs_file: ClassVar[bool] = False  # whether a score depends on the other rows of the file (`for_rows`)
    needs_model: ClassVar[bool] = False  # whether a metric that asks nothing needs a model all the same, an encoder
    example: ClassVar[Mapping[str, Any]] = {}  # a row, for documents and to try a model
    title: ClassVar[str] = ""
    mean: ClassVar[str] = ""
    legend: ClassVar[str] = ""
    direction: ClassVar[Direction] = "higher"
    weights: ClassVar[Mapping[Severity, int]] = {}
    lists_errors: ClassVar[bool] = False
    range: ClassVar[tuple[float, float] | None] = None  # lowest and highest score; calibration needs it
    measured: str = ""  # how often it was right on labelled rows, judging in this way; "" if nobody measured it

    @property
    def reads(self) -> tuple[str, ...]:
        """Return all columns that the metric reads, the instruction and the text that answers it first."""
        return tuple(dict.fromkeys((*(self.pair or ()), *self.columns, *self.optional)))

    def lacking(self, columns: Sequence[str]) -> Metric:
        """Return the metric for rows without these columns. Raises InputInvalid for one that has no text of its own."""
        if unknown := [name for name in columns if name not in self.stand_ins]:
            choices = " or ".join(self.stand_ins)
            raise InputInvalid(
                f"--without: found {unknown[0]}; expected {choices}; metric {self.name} needs the others"
            )
        other = copy.copy(self)
        other.without = tuple(dict.fromkeys(columns))
        return other

    def judging_by(self, judge: str | None, *, has_model: bool, has_evidence: bool) -> Metric:
        """Return the metric for one of its `judges`, None for the one by default: one may ask no model at all."""
        return self

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature: all that decides its scores beside the model and the sampling."""
        return f"metric:{self.version}"

    @property
    def reads_evidence(self) -> bool:
        """Return whether the metric searches passages itself; otherwise they are put before what it asks."""
        return self.evidence == "own"

    @property
    def is_own(self) -> bool:
        """Return whether a user wrote it; what it returns is checked."""
        return not type(self).__module__.startswith("excam.")

    def flow(self, row: Row) -> Flow[Outcome] | Outcome:
        """Ask about one row and return its outcome; a metric that asks nothing may return it at once.

        Raises InputInvalid for a value that is none of its column.
        """
        raise NotImplementedError

    def prepared(self, setup: Setup) -> Metric:
        """Return the metric for this setup. Raises InputInvalid if something is missing."""
        return self

    def for_rows(self, rows: Iterable[Row]) -> Metric:
        """Return the metric for the rows of a file, for one with `needs_file`; they can be iterated several times."""
        return self

    def sends_schema(self, judge: str | None) -> bool:
        """Return whether requests have a JSON Schema, asked in this way."""
        return self.structured

    def tested_languages(self, model: OpenedModel | None) -> frozenset[str] | None:
        """Return the languages in which the metric was tested; None if it warns of no language."""
        return None

    @property
    def assumed_language(self) -> str:
        """Return the code of the language of rows that state none; "" if it is not known."""
        return ""

    def error_signal(self, score: float, certainty: float | None) -> float | None:
        """Return a number from -1 to 1 that rises with the probability of an error, for calibration; None: unknown."""
        if self.range is None:
            return None
        low, high = self.range
        share = 2 * (score - low) / (high - low) - 1
        return -share if self.direction == "higher" else share

    @property
    def description(self) -> Description:
        """Return what is said of this metric where its scores are shown."""
        better = "more is better" if self.direction == "higher" else "less is better"
        return Description(
            title=self.title or f"Scores by {self.name}",
            mean=self.mean or f"mean, {better}",
            legend=self.legend,
            direction=self.direction,
            weights=self.weights,
            pair=self.pair,
            lists_errors=self.lists_errors,
            range=self.range,
            measured=self.measured,
        )


@cache
def available() -> Mapping[str, Metric]:
    """Return the metrics of this package by name: those of the modules `metrics` of its systems."""
    metrics: dict[str, Metric] = {}
    for module in sorted(ROOT.glob("*/metrics.py")):
        metrics |= {
            metric.name: metric for metric in importlib.import_module(f"excam.{module.parent.name}.metrics").METRICS
        }
    return dict(sorted(metrics.items()))


def load(name: str | Metric) -> Metric:
    """Return the metric of this name: one of this package, or of one's own file or module, `place` or `place:Class`.

    Raises InputInvalid if there is none, or if it lacks something.
    """
    if isinstance(name, Metric):
        return _checked(name, name.name)
    if name in available():
        return available()[name]
    place, _, wanted = name.partition(":")
    module = _module(place)
    if module is None:
        choices = ", ".join(available())
        close = difflib.get_close_matches(name, available(), n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise InputInvalid(f"--metric: found {name}; {hint}expected {choices}, or a file such as my_metric.py")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Metric)]
    candidates = {
        metric_class.__name__: metric_class for metric_class in classes if metric_class.__module__ == module.__name__
    }
    if wanted and wanted in candidates:
        candidates = {wanted: candidates[wanted]}
    if len(candidates) != 1 or (wanted and wanted not in candidates):
        own_names = ", ".join(candidates) or "none"
        name = f"; name it, {place}:{next(iter(candidates))}" if candidates else ""
        raise InputInvalid(
            f"--metric: {place}{':' * bool(wanted)}{wanted}: found {own_names}; expected one class of Metric{name}"
        )
    return _checked(next(iter(candidates.values()))(), name)


def _module(place: str) -> Any:
    """Return the module in a file, or of a dotted name, in the working folder too; None if there is none."""
    file = Path(place)
    is_file = file.suffix == ".py" and file.is_file()
    if (added := str((file.parent if is_file else Path()).resolve())) not in sys.path:
        sys.path.append(added)  # last, so that nothing in this folder hides a library
    module = place
    try:
        if is_file:  # by its place, since it may be called like a library
            loader = SourceFileLoader(f"metric_{file.stem}", str(file.resolve()))
            spec = importlib.util.spec_from_loader(loader.name, loader)
            assert spec is not None, "a file of Python"
            made = sys.modules[loader.name] = importlib.util.module_from_spec(spec)  # dataclasses look there
            loader.exec_module(made)
            return made
        return importlib.import_module(module) if importlib.util.find_spec(module) else None
    except (ModuleNotFoundError, ValueError) as problem:  # ValueError: a name that is no module's, such as "."
        if isinstance(problem, ValueError) or (problem.name or "") in (module, *module.split(".")[:1]):
            return None
        raise InputInvalid(f"--metric: {place}: {problem}; expected a module that can be imported") from None
    except (ImportError, SyntaxError) as problem:
        raise InputInvalid(f"--metric: {place}: {problem}; expected a module that can be imported") from None


def _checked(metric: Metric, place: str) -> Metric:
    """Validate a metric of a user's and return it. Raises InputInvalid naming what it lacks."""
    if absent := [attribute for attribute in ("name", "version", "columns") if not hasattr(metric, attribute)]:
        raise InputInvalid(f"--metric: {place} has no {', '.join(absent)}; expected those of excam.scoring.metric")
    for attribute in ("columns", "optional", "values"):
        if isinstance(names := getattr(metric, attribute), str):
            raise InputInvalid(f"--metric: {place}: {attribute}: found the text {names!r}; expected ({names!r},)")
    if type(metric).flow is Metric.flow:
        raise InputInvalid(f"--metric: {place} has no flow; expected a method flow(self, row)")
    if not set(metric.pair or ()) <= {*metric.columns, *metric.optional}:
        raise InputInvalid(f"--metric: {place}: pair names {metric.pair}; expected two of its columns")
    if metric.name in available() and available()[metric.name] is not metric:
        raise InputInvalid(f"--metric: {place}: is called {metric.name}, as one of this package; expected another name")
    return metric

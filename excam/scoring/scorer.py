"""Score rows with any metric and one model: asked in batches, kept in a journal, returned as results in order.

>>> scorer = open_scorer(Options(metric="rubric", models=("qwen3:14b@http://localhost:11434/v1",)))
>>> for result in scorer.score([{"prompt": "Name a Greek dish.", "response": "Sushi."}]):
...     print(result.score, result.parts)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.inference import Answer, Completion, Flow, Request, Sampling, window
from excam.inference.journal import InMemory, Journal, ask
from excam.inference.run import Round, recorded, run
from excam.knowledge.index import Index
from excam.knowledge.open_book import OPEN_BOOK_PASSAGES, open_book
from excam.scoring import calibration, given_rows, own_metrics, warnings
from excam.scoring.calibration import Calibrated
from excam.scoring.defaults import BAND, BATCH
from excam.scoring.given_rows import GivenRows
from excam.scoring.metric import Metric, Outcome, Row
from excam.scoring.opened_model import OpenedModel
from excam.scoring.results import Result
from excam.scoring.scores import Results
from excam.scoring.spans import Report


class Scorer:
    """A metric with the model that it asks, if it asks one. Nothing is loaded before the first request."""

    def __init__(self, metric: Metric, model: OpenedModel | None, sampling: Sampling | None = None) -> None:
        """`metric` is prepared for the model; `sampling` is by default greedy, with the metric's limit of tokens."""
        self.metric, self.model = metric, model
        self._book: Index | None = None
        self._calibrated: Calibrated | None = None
        self._of_file = False  # whether `metric` is that of a file, see `for_rows`
        probabilities = metric.probabilities and model is not None and model.probabilities
        self._sampling = replace(sampling or Sampling(metric.max_tokens), logprobs=probabilities)
        names, tested = model.names if model else (), metric.tested_languages(model)
        self._warnings = warnings.WarningRules.of_judge(names, tested, metric.assumed_language)

    @property
    def described(self) -> str:
        """Return what judges, without its sampling: a part of the signature."""
        model = self.model
        parts = [model.described if model else "model:none", self.metric.signature, model.computed if model else ""]
        parts.append("logprobs:none" if self.metric.probabilities and model and not model.probabilities else "")
        parts.append(f"{self._book.signature}x{OPEN_BOOK_PASSAGES}" if self._book else "")
        parts.append(f"without:{'+'.join(self.metric.without)}" if self.metric.without else "")
        parts.append(self._calibrated.signature if self._calibrated else calibration.NONE)
        return "|".join(filter(None, parts))

    @property
    def token_limit(self) -> str:
        """Return the limit of an answer in a signature, "" for the metric's own: a truncated answer is a failure."""
        limit = self._sampling.max_tokens
        return f"|max:{limit}" if limit != self.metric.max_tokens else ""

    @property
    def signature(self) -> str:
        """Return everything that a score depends on, in one line."""
        how = self._sampling
        sampled = f"|temp:{how.temperature:g},seed{how.seed}" if how.temperature else ""
        return f"{self.metric.name}|{self.described}{sampled}{self.token_limit}|v:{VERSION}"

    @property
    def identity(self) -> str:
        """Return the signature with what decides an answer and is not in it, such as the address of a server."""
        return f"{self.signature}|{self.model.backend.identity if self.model else ''}"

    def sampled(self, temperature: float, seed: int) -> Scorer:
        """Return this judge with sampled answers and no calibration, which is of greedy answers; the model is shared.

        p(R) is still computed from the unmodified distribution. Raises InputInvalid for a temperature of 0 or less.
        """
        if not temperature > 0:
            raise InputInvalid(f"temperature {temperature:g}: every answer would be the same; expected more than 0")
        other = self._unmeasured()
        other._sampling = replace(self._sampling, temperature=temperature, seed=seed)
        return other

    def with_open_book(self, index: Index) -> Scorer:
        """Return this judge with passages of an index before each question; the model is shared."""
        other = self._unmeasured()
        other._book = index
        return other

    def _unmeasured(self) -> Scorer:
        """Return a copy that will judge in another way than was measured."""
        other = copy.copy(self)
        other._calibrated, other.metric = None, copy.copy(self.metric)
        other.metric.measured = ""
        return other

    def with_calibration(self, path: Path, band: tuple[float, float]) -> Scorer:
        """Return this judge with a calibration that was made for it. Raises ModelInvalid for that of another judge."""
        other = copy.copy(self)
        other._calibrated, other.metric = calibration.read(path, self.signature, band), copy.copy(self.metric)
        other.metric.measured = other._calibrated.measured
        return other

    def for_rows(self, rows: Iterable[Row]) -> Scorer:
        """Return this judge for the rows of a file, where a score depends on all of them; else itself."""
        if not self.metric.needs_file:
            return self
        other = copy.copy(self)
        other.metric, other._of_file = self.metric.for_rows(rows), True
        return other

    def close(self) -> None:
        """Free the model's memory; the next request loads it again."""
        if self.model:
            self.model.backend.close()

    def score(
        self,
        rows: GivenRows,
        journal: Path | Journal | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Score rows with the metric's columns and, optionally, `id`, `language`, `system`, `culture`.

        `rows` are dictionaries, a table of pandas or polars, a `datasets.Dataset`, or the path of a file. Results come
        in order, batch by batch, so an iterator of any length takes the memory of one batch. With `journal`, answers
        are kept there and a second call asks only for missing ones. A row that cannot be scored is a result with a
        failure. Raises InputInvalid for a column that no row has.
        """
        coming, total = given_rows.rows_of(rows, self.metric)
        progress = progress or Progress("scoring, rows", total)
        if not self.metric.needs_file or self._of_file:
            return Results(self._results(coming, journal, progress), keeps=total is not None)
        whole = list(coming)
        return Results(self.for_rows(whole)._results(iter(whole), journal, progress))

    def _results(self, coming: Iterator[Row], journal: Path | Journal | None, progress: Progress) -> Iterator[Result]:
        store = journal if isinstance(journal, Journal) else InMemory() if journal is None else Journal(journal)
        backend = self.model.backend if self.model and self.metric.asks != "nothing" else None
        progress.counts_rows = True

        def flow(row: Row) -> Flow[Result]:
            result = yield from self.flow(row)
            progress.finish()
            return result

        with progress.while_waiting():
            if backend and backend.has_window:
                yield from window.results(flow, coming, backend, self._sampling, store, progress)
                return
            asking = partial(ask, backend, self._sampling, store, progress=progress) if backend else ask_nobody
            while part := list(islice(coming, BATCH)):
                yield from run(flow, part, asking)
                store.forget_used()

    def flow(self, row: Row) -> Flow[Result]:
        """Ask about one row and return its result. Nothing is asked about a row with a failure."""
        if row.failure:
            return self._result(row, Outcome(None, row.failure))
        rounds: list[Round] = []
        try:
            started = self._started(row)
            outcome = (yield from recorded(started, rounds)) if isinstance(started, Generator) else started
        except InputInvalid as problem:  # a value that is none of its column
            outcome = Outcome(None, str(problem).removeprefix(f"{row.id}: ").removeprefix(f"row {row.id}: "))
        except Exception as problem:
            if not self.metric.is_own:
                raise
            raise own_metrics.failed(self.metric, row, problem) from problem
        if self.metric.is_own:
            outcome = own_metrics.checked(self.metric, row, outcome)
        if outcome.score is not None and not math.isfinite(outcome.score):
            outcome = Outcome(None, "not-finite", outcome.parts)
        answers = [answer for exchange in rounds for answer in exchange.answers]
        words = next((answer.problem for answer in answers if isinstance(answer, Completion) and answer.problem), "")
        if words and outcome.failure and (self.metric.is_own or outcome.failure.endswith("refused")):
            outcome = replace(outcome, failure=f"{outcome.failure}: {words}")
        return self._result(row, outcome, list(dict.fromkeys(answer.answered_by for answer in answers)))

    def _started(self, row: Row) -> Any:
        """Return the metric's flow about a row, with passages before a pair, or its outcome at once."""
        book, flow = self._book, cast("Callable[[Row], Any]", self.metric.flow)
        if not (book and self.metric.pair):
            return flow(row)
        instruction, output = (row.texts.get(name, "") for name in self.metric.pair)
        return open_book(flow, lambda _: book.passages_for(instruction, output))(row)

    def _result(self, row: Row, outcome: Outcome, answered_by: Sequence[str] = ()) -> Result:
        metric, has_score = self.metric, outcome.score is not None
        report = Report(tuple(outcome.spans), outcome.explanation) if has_score else None
        has_errors = bool(outcome.spans) if metric.lists_errors and has_score else None
        signal = metric.error_signal(outcome.score, outcome.certainty) if outcome.score is not None else None
        chance = self._calibrated.probability(signal) if self._calibrated else None
        band = self._calibrated.band if self._calibrated else BAND
        of_judge = {
            warnings.UNCERTAIN: self._sampling.logprobs and has_score and outcome.certainty is None,
            warnings.UNQUALIFIED: metric.asks != "nothing" and not metric.measured,
            warnings.PARTLY: outcome.is_partly_decided,
            warnings.OTHER_MODEL: self.model is not None and any(map(self.model.is_another, answered_by)),
        }
        labels: dict[str, Any] = dict(row.labels)
        return Result(
            id=row.id,
            texts=row.texts,
            score=outcome.score,
            failure=outcome.failure,
            report=report,
            parts=outcome.parts,
            certainty=outcome.certainty,
            probability=chance,
            verdict=calibration.verdict(has_errors, chance, band),
            warnings=self._warnings.codes(
                row,
                metric.pair,
                outcome.failure,
                report.errors if report else (),
                [code for code, holds in of_judge.items() if holds],
            ),
            recovered=outcome.recovered,
            thinking=outcome.thinking,
            answered_by=", ".join(filter(None, answered_by)),
            columns=row.others,
            metric=metric.description,
            signature=self.signature,
            **labels,
        )


def ask_nobody(requests: Sequence[Request]) -> list[Answer]:
    """Refuse the requests of a metric that is scored without a model."""
    raise InputInvalid(f"a metric that asks nothing asked {len(requests)} times; expected `asks` of it to say what")

"""Scoring of rows with any metric of the interface `excam.scoring.metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.inference import Answer, Request, Sampling, backend_factory
from excam.inference.budget import Budget
from excam.inference.journal import InMemory, Journal, ask
from excam.inference.run import run
from excam.scoring import local_model, pairs, server_model, warnings
from excam.scoring.defaults import BATCH
from excam.scoring.metrics import Metric, Outcome, Row
from excam.scoring.scored import LABELS, Scored, scored_row
from excam.scoring.spans import Report


class RowScorer:
    """A metric with a model, used as a `files.Scorer`."""

    def __init__(self, metric: Metric, model: str, engine: str | None = None, budget: Budget | None = None) -> None:
        """Open the model, see `open_model`; none for a metric that asks none."""
        self._metric = metric
        self._backend, described = open_model(model, engine, budget) if metric.MAX_TOKENS else (None, "model:none")
        self.signature = signature(metric, described)

    def score(
        self, rows: Iterable[Row], /, journal: Path | None = None, progress: Progress | None = None
    ) -> Iterator[Scored]:
        """Yield one result for each row, in order and batch by batch; answers are kept in `journal`."""
        kept = None if journal is None else Journal(journal)
        sampling, coming = Sampling(max_tokens=self._metric.MAX_TOKENS), iter(rows)
        while part := list(islice(coming, BATCH)):
            answers = InMemory() if kept is None else kept
            asking = partial(ask, self._backend, sampling, answers, progress=progress) if self._backend else ask_nobody
            for row, outcome in zip(part, run(self._metric.flow, part, asking), strict=True):
                yield scored(row, outcome, self._metric, self.signature)


def ask_nobody(requests: Sequence[Request]) -> list[Answer]:
    """Refuse the requests of a metric that is scored without a model."""
    raise InputInvalid(f"a metric without a model asked {len(requests)} times; expected one, and MAX_TOKENS above 0")


def signature(metric: Metric, described: str) -> str:
    """Return the signature of a metric with a model, given as its part of a signature."""
    settings = f"|{found}" if (found := getattr(metric, "SETTINGS", "")) else ""
    return f"{metric.NAME}|{described}{settings}|metric:{metric.VERSION}|v:{VERSION}"


def scored(row: Row, outcome: Outcome, metric: Metric, signature: str) -> Scored:
    """Return the outcome of a row as a scored row, with warnings about its texts."""
    return scored_row(
        row.id,
        outcome.score,
        outcome.failure,
        signature,
        report=Report(tuple(outcome.spans), outcome.explanation),
        columns=row.texts,
        parts=outcome.parts,
        direction=metric.DIRECTION,
        warnings=_warnings(row.texts, metric),
        **row.labels,
    )


def _warnings(texts: Mapping[str, str], metric: Metric) -> tuple[str, ...]:
    asked, given = getattr(metric, "PAIR", ("instruction", "output"))
    return warnings.of_texts(texts[asked], texts[given]) if {asked, given} <= texts.keys() else ()


@dataclass(frozen=True, slots=True)
class RowFile:
    """The rows of a file with the columns of a metric. It can be iterated several times."""

    path: Path
    metric: Metric

    def __iter__(self) -> Iterator[Row]:
        """Raise InputInvalid naming an invalid row."""
        return _rows(self.metric, self.path)


def _rows(metric: Metric, file: Path) -> Iterator[Row]:
    number = 0
    for number, row in pairs.rows(file):
        if not isinstance(row, Mapping):
            raise InputInvalid(f"{file}:{number}: found {type(row).__name__}; expected an object")
        if absent := [name for name in metric.COLUMNS if row.get(name) is None]:
            known = ", ".join(map(str, row))[:100] or "no keys"
            raise InputInvalid(
                f"{file}:{number}: no {', '.join(absent)} ({known}); metric {metric.NAME} needs "
                f"{', '.join(metric.COLUMNS)}"
            )
        labels = {name: row[name] for name in LABELS if isinstance(row.get(name), str)}
        optional = [name for name in getattr(metric, "OPTIONAL", ()) if row.get(name) is not None]
        values = {column: row[column] for column in (*metric.COLUMNS, *optional)}
        yield Row(str(row.get("id") or number), values, labels)
    if not number:
        raise InputInvalid(f"{file}: 0 rows; expected one JSON object a line, or a table")


def open_model(
    model: str, engine: str | None = None, budget: Budget | None = None
) -> tuple[backend_factory.LazyBackend, str]:
    """Return a backend and its part of a signature: of NAME@http://host/v1, an adapter, or a folder with weights.

    Nothing is loaded yet. `engine` runs a model of this machine, see `local_model.choose_engine`; `budget` limits one
    behind a server. Raises ModelInvalid if there is no such model.
    """
    if served := server_model.name_and_address(model):
        server_model.refuse_engine(model, engine)
        return server_model.backend(*served, budget=budget), f"model:{served[0]}|on:served"
    if local_model.is_weights(folder := Path(model)):
        opened = local_model.open_weights(folder, engine)
        return opened.backend, f"{local_model.described(folder, opened)}|{opened.computed}"
    _, manifest, tuned = local_model.open_adapter(model, engine=engine)
    return tuned.backend, f"model:{manifest.model}|adapter:{manifest.trained_on}|{tuned.computed}"

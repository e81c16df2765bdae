"""The interface of a metric for `excam score --metric NAME`: a module with a few constants and one function.

`NAME` is `excam`, another system of this package that has a module `metric`, or a dotted module of your own:

    NAME, VERSION, DIRECTION = "length", 1, "higher"
    COLUMNS = ("text",)
    MAX_TOKENS = 64

    def flow(row: Row) -> Flow[Outcome]: ...

Optional constants: `OPTIONAL`, columns that a row need not have; `PAIR`, the columns of an instruction and of its
answer, by default `instruction` and `output`; `SETTINGS`, which becomes part of the signature; `WORDING`, what legends
say of a score; and `prepare(rows, model, index)`, for what follows from all rows of a file or needs an index of
evidence (`--evidence`): it returns the metric that scores them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol, cast

from excam.core.exceptions import InputInvalid
from excam.inference import Flow
from excam.scoring.evidence import Index
from excam.scoring.scored import Direction, Scored
from excam.scoring.spans import ErrorSpan, Severity

ROOMS = {"excam": "error_reports"}  # metrics with another name than their package


@dataclass(frozen=True, slots=True)
class Row:
    """One row to score: its id, and the columns that the metric asks for."""

    id: str
    values: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict[str, str])  # its language, system and culture, if known

    @property
    def texts(self) -> Mapping[str, str]:
        """Return what is scored, by column."""
        return {name: str(value) for name, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The score of one row, or a stated failure: exactly one of the two is None."""

    score: float | None
    failure: str | None = None
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # by name, JSON values
    explanation: str = ""
    spans: Sequence[ErrorSpan] = ()  # errors in the row's texts; `where` is a column


@dataclass(frozen=True, slots=True)
class Wording:
    """What legends and tables say about the scores of a metric."""

    mean: str  # what a mean of its scores is
    weights: Mapping[Severity, int] = field(default_factory=dict[Severity, int])  # of an error, shown beside it
    legend: str = ""  # what the score of a row is


PLAIN: Mapping[Direction, Wording] = {
    "higher": Wording("mean, more is better"),
    "lower": Wording("mean, less is better"),
}


class Metric(Protocol):
    """What scoring needs to know of a metric. A module satisfies it."""

    NAME: str
    VERSION: int  # part of the signature: another number means that scores of the two cannot be compared
    COLUMNS: tuple[str, ...]  # that each row must have
    DIRECTION: Direction  # which scores are better
    MAX_TOKENS: int  # of one answer; 0: the metric asks no model

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask the model about one row and return its outcome."""
        ...


def load(name: str) -> Metric:
    """Return the metric of this name. Raises InputInvalid if there is none, or if it lacks a constant."""
    place = _place(name)
    if place is None:
        raise InputInvalid(f"--metric: found {name}; expected excam, or a Python module such as my_package.my_metric")
    module = importlib.import_module(place)
    wanted = ("NAME", "VERSION", "COLUMNS", "DIRECTION", "MAX_TOKENS", "flow")
    if absent := [one for one in wanted if not hasattr(module, one)]:
        raise InputInvalid(f"--metric: {place} has no {', '.join(absent)}; expected those of excam.scoring.metrics")
    return cast(Metric, module)


def prepared(metric: Metric, rows: Iterable[Row], model: str, index: Index | None) -> Metric:
    """Return the metric for the rows of a file. Raises InputInvalid for an index that the metric does not use."""
    prepare = getattr(metric, "prepare", None)
    if prepare is not None:
        return prepare(rows, model, index)
    if index is not None:
        raise InputInvalid(
            f"--evidence: metric {metric.NAME} uses none; expected a metric with `prepare`; leave it out"
        )
    return metric


def wording(one: Scored) -> Wording:
    """Return the wording of the metric of this package that scored a row, else that of any metric."""
    return _own_wording(one.signature.partition("|")[0]) or PLAIN[one.better]


@cache
def _own_wording(name: str) -> Wording | None:
    place = None if "." in name else _place(name)  # a file must not choose a module outside this package
    return getattr(importlib.import_module(place), "WORDING", None) if place else None


def _place(name: str) -> str | None:
    """Return the module of a metric; None if there is no such module."""
    place = f"excam.{ROOMS.get(name, name)}.metric" if "." not in name else name
    try:
        return place if find_spec(place) else None
    except (ModuleNotFoundError, ValueError):  # ValueError: a name that is no module's, such as "."
        return None

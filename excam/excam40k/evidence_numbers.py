"""Verdicts of rows with passages -> numbers by kind and wording of the passages, beside floors without a model.

Scaled accuracy is 2 · accuracy − 1; a row without a verdict counts as half right, which is what guessing gives. Where
the passages do not decide (`near`, `unrelated`, `contradicting`), silence is what is wanted: `silent` is the share of
rows without a verdict. Floors judge the same rows, and a system is printed minus each of them, paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from excam.core.paths import ALL
from excam.error_reports.closed_values import compared
from excam.error_reports.floors import FLOORS
from excam.error_reports.records import Sample
from excam.excam40k.shown_evidence import Shown
from excam.stats import bootstrap

MINUS = tuple(f"minus_{name.replace(' ', '_')}" for name in FLOORS)  # a system minus each floor
COLUMNS = (
    *("system", "dataset", "kind", "wording", "n", "base_samples", "scaled", "low", "high", "silent", "silent_low"),
    *("silent_high", "accuracy", "states_right", "cites_right", "span_f1"),
    *(f"{name}{end}" for name in MINUS for end in ("", "_low", "_high")),
)


@dataclass(frozen=True, slots=True)
class Point:
    """What a system says of one row. `errors`: whether it found an error, None for no verdict.

    `states_right` and `cites_right` are None where nothing is stated, the first also where no program can tell. `hit`,
    `marked` and `gold` are characters of marked and of wrong words, and of both.
    """

    row: Shown
    sample: Sample
    errors: bool | None
    states_right: bool | None = None
    cites_right: bool | None = None
    hit: int = 0
    marked: int = 0
    gold: int = 0


def point(row: Shown, sample: Sample, judgement: Mapping[str, Any], parts: Mapping[str, Any]) -> Point:
    """Return what a judgement (a row of JUDGEMENT_SCHEMA, its `report` and `parts` read) says of a row."""
    errors = None if judgement["failure"] else judgement["errors_found"] > 0
    made = Point(row, sample, errors)
    if "expected" in parts and row.expected:
        verdict = compared(row.expected, parts["expected"], row.question, sample.language).verdict
        cited = {f"passage {number}" for number in row.cites}
        made = replace(
            made,
            states_right=None if verdict is None else verdict == "agrees",
            cites_right=bool(cited & set(parts["evidence"])),
        )
    if sample.report.errors:
        gold = _places((error.start, error.end) for error in sample.report.errors if error.where == "output")
        report = judgement["report"] or {"errors": []}
        marked = _places((error["start"], error["end"]) for error in report["errors"] if error["where"] == "output")
        made = replace(made, hit=len(gold & marked), marked=len(marked), gold=len(gold))
    return made


def _places(ranges: Iterable[tuple[int, int]]) -> set[int]:
    return {place for start, end in ranges if start >= 0 for place in range(start, end)}


def floor(name: str, shown: Sequence[Shown], samples: Mapping[str, Sample], fitted: Sequence[Shown]) -> list[Point]:
    """Return the verdicts of a floor: no error from a threshold on, the one with most right verdicts on `fitted`."""
    learned = np.array([_height(name, row, samples) for row in fitted])
    wrong = np.array([bool(samples[row.id].report.errors) for row in fitted])
    places = np.unique(learned)
    scores = [float((np.less(learned, place) == wrong).mean()) for place in places]
    threshold = float(places[int(np.argmax(scores))]) if len(places) else 0.0
    return [Point(row, samples[row.id], _height(name, row, samples) < threshold) for row in shown]


def _height(name: str, row: Shown, samples: Mapping[str, Sample]) -> float:
    sample, passages = samples[row.id], [passage.shown for passage in row.passages]
    return FLOORS[name](row.question, sample.output, passages, sample.language)


def lines(
    system: str, points: Sequence[Point], seed: int, floors: Mapping[str, Sequence[Point]]
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a system: of each dataset and kind, and of each wording of kind `fact`.

    `floors` are the points of each floor about these rows and others; a floor is not compared with floors.
    """
    below = {
        name: {point.sample.id: _hit(point) for point in own} for name, own in floors.items() if system not in floors
    }
    datasets = sorted({point.sample.dataset for point in points})
    kinds = sorted({point.row.kind for point in points})
    wordings = sorted({point.row.wording for point in points})
    groups = [*product([ALL, *datasets], kinds, [ALL]), *((ALL, "fact", wording) for wording in wordings)]
    for dataset, kind, wording in groups:
        own = [
            point
            for point in points
            if point.row.kind == kind and dataset in (ALL, point.sample.dataset) and wording in (ALL, point.row.wording)
        ]
        if own:
            yield {"system": system, "dataset": dataset, "kind": kind, "wording": wording} | _numbers(own, seed, below)


def _hit(point: Point) -> float:
    """Return 1 for a right verdict, 0 for a wrong one, .5 for none."""
    return 0.5 if point.errors is None else float(point.errors == bool(point.sample.report.errors))


def _numbers(points: Sequence[Point], seed: int, below: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    clusters = [point.sample.group or point.sample.base for point in points]
    hits = np.array([_hit(point) for point in points])
    silent = np.array([float(point.errors is None) for point in points])
    answered = silent == 0
    low, high = bootstrap.share_interval(hits, None, clusters, seed=seed) or (0.0, 1.0)
    marked, gold = sum(point.marked for point in points), sum(point.gold for point in points)
    minus: dict[str, float | None] = {}
    for name, (_, hits_of) in zip(MINUS, below.items(), strict=False):
        apart = 2 * (hits - np.array([hits_of[point.sample.id] for point in points]))
        minus |= bootstrap.in_columns(name, bootstrap.mean(apart, clusters, seed))
    return {
        "n": len(points),
        "base_samples": len({point.row.base for point in points}),
        "scaled": float(2 * hits.mean() - 1),
        **{"low": 2 * low - 1, "high": 2 * high - 1},
        **bootstrap.in_columns("silent", bootstrap.share(silent, clusters, seed)),
        "accuracy": float(hits[answered].mean()) if answered.any() else None,
        "states_right": _share([point.states_right for point in points]),
        "cites_right": _share([point.cites_right for point in points]),
        "span_f1": 2 * sum(point.hit for point in points) / (marked + gold) if marked and gold else None,
        **minus,
    }


def _share(values: Sequence[bool | None]) -> float | None:
    """Return the share of true ones among those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

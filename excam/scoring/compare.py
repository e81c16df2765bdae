"""Comparison of systems on the same rows, scored by the same metric: which is better, and how certain is that?

Systems are compared in pairs. Rows are joined by id. A row that is in one file only, failed in either, or repeats
another under a new id is in no number but is counted. What is tested is the score or, if the metric lists errors,
whether there is any and how severe they are: p(R) is no preference (`Result.preference`). Rows that share content are
permuted and resampled together, see `clusters_of_texts`; p-values are adjusted for all tests after Holm.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from operator import attrgetter
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.text import plain_name
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.joining import distinct, join, same_text
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.stats import bootstrap
from excam.stats.permutation import holm
from excam.stats.sign_permutation import sign_permutation

DRAWS = 10_000  # random swaps; the smallest p-value is 1 / (DRAWS + 1)
PAIR_ID = re.compile(r"(.+)/[^/]+/(?:right|wrong)")  # an id of ExCAM40k: base sample, variant, side

MatchedRows = tuple[Result, Result]
Value = Callable[[Result], float]
Key = Callable[[Result], str]  # what joins the rows of systems
OWN_ID: Key = attrgetter("id")
Clusters = Mapping[str, Hashable]  # of joined rows, by the id of the first
System = tuple[str, Sequence[Result]]  # the name of a system, and its results


@dataclass(frozen=True, slots=True)
class Denominators:
    """Number of rows by what became of them; only `compared` ones are in the measures."""

    rows_a: int
    rows_b: int
    compared: int
    only_a: int  # ids that the other file lacks
    only_b: int
    not_judged_a: int  # failed in this file only
    not_judged_b: int
    not_judged_both: int
    repeated: int = 0  # of both files: they repeat another row under a new id


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of both systems over n rows. `difference` is a minus b, with its 95 % interval if there is one."""

    name: str
    n: int
    clusters: int
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    a_better: int
    b_better: int
    ties: int
    p_value: float  # two-sided
    p_holm: float | None = None  # adjusted for all tests of the comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two systems. `differing` are the rows that differ most, the widest first."""

    a: str  # names of the systems
    b: str
    signature: str
    metric: Description
    counts: Denominators
    joined: str  # how rows were joined beside equal ids; "" if they were not
    measures: tuple[Measure, ...]
    differing: tuple[MatchedRows, ...]

    def lines(self) -> list[dict[str, Any]]:
        """Return JSON-ready lines: one for the whole, one for each row of `differing`."""
        names = {"a": self.a, "b": self.b}
        head = {
            "kind": "comparison",
            **names,
            "signature": self.signature,
            **asdict(self.counts),
            "joined": self.joined,
        }
        whole = head | {"measures": [asdict(measure) for measure in self.measures]}
        rows = [{"kind": "row", "id": a.id, "a": a.to_dict(), "b": b.to_dict()} for a, b in self.differing]
        return [whole, *rows]


@dataclass(frozen=True, slots=True)
class Standing:
    """One system among several: its mean, with a 95 % interval, over the `n` rows that all of them scored.

    The mean is of the measure that `deciding` names.
    """

    system: str
    rows: int
    failed: int
    n: int
    mean: float | None  # None if there is no such row
    low: float | None
    high: float | None
    with_errors: float | None  # share of the n rows; None for a metric that lists no errors


@dataclass(frozen=True, slots=True)
class Compared:
    """Every two of some systems, and the standing of each of three or more. Printed as by `excam compare`."""

    comparisons: Sequence[Comparison]
    standings: Sequence[Standing]

    def lines(self) -> list[dict[str, Any]]:
        """Return JSON-ready lines: one for each system of several, then those of each comparison."""
        systems = [{"kind": "system", **asdict(standing)} for standing in self.standings]
        return [*systems, *(line for comparison in self.comparisons for line in comparison.lines())]


def compare_all(files: Sequence[System], rows: int = 5) -> Compared:
    """Compare every two files, or the systems of one file. Raises InputInvalid as `compare` and `systems_of`."""
    systems, key = (files, OWN_ID) if len(files) > 1 else systems_of(*files)
    comparisons = compare(systems, rows, key)
    return Compared(comparisons, standings(systems, key) if len(systems) > 2 else [])


def with_system(name: str, results: Sequence[Result], column: str) -> list[Result]:
    """Return results with the system that another column of their rows names. Raises InputInvalid if none has it."""
    if not any(column in result.columns for result in results):
        columns = in_a_line(", ".join(dict.fromkeys(name for result in results for name in result.columns)))
        raise InputInvalid(
            f"{name}: column {column}: not found; found {columns or 'none'}; expected that of the systems"
        )
    return [replace(result, system=plain_name(str(result.columns.get(column) or ""))) for result in results]


def systems_of(file: System) -> tuple[list[System], Key]:
    """Return the systems of one file, and what joins their rows: the id where several share one, else the instruction.

    Raises InputInvalid for a row without a system, one system only, and two answers of a system to one instruction.
    """
    name, results = file
    if lacking := next((result.id for result in results if not result.system), None):
        raise InputInvalid(
            f"{name}: id {lacking}: no system; expected one for each row; name its column with --system, or give a "
            "file for each system"
        )
    key = OWN_ID if len({result.id for result in results}) < len(results) else _instruction
    systems: dict[str, list[Result]] = defaultdict(list)
    seen: dict[tuple[str, str], str] = {}
    for result in sorted(results, key=lambda result: result.system):  # else the first row would decide which is A
        systems[result.system].append(result)
        if (same := seen.setdefault((result.system, key(result)), result.id)) != result.id:
            raise InputInvalid(
                f"ids {same} and {result.id}: two answers of {result.system} to one instruction; expected one id for "
                "all answers to it; score again with --id"
            )
    if len(systems) < 2:
        raise InputInvalid(
            f"{name}: {len(results)} answers, of {', '.join(systems) or 'no system'} alone; expected two systems or "
            "more: name their column with --system, or give a file for each"
        )
    return list(systems.items()), key


def _instruction(result: Result) -> str:
    return same_text(result.instruction) or result.id


def compare(systems: Sequence[System], rows: int = 5, key: Key = OWN_ID) -> list[Comparison]:
    """Compare every two systems, joined by `key`; `rows` is how many of those that differ most are kept.

    Raises InputInvalid if signatures differ, an id occurs twice, no id was scored in both, or an id has different
    instructions.
    """
    by_id = [(name, results_by_id(results, name, key)) for name, results in systems]
    comparisons = [_compared(a, b, rows) for a, b in combinations(by_id, 2)]
    adjusted = iter(holm([measure.p_value for comparison in comparisons for measure in comparison.measures]))
    return [
        replace(comparison, measures=tuple(replace(each, p_holm=next(adjusted)) for each in comparison.measures))
        for comparison in comparisons
    ]


def standings(systems: Sequence[System], key: Key = OWN_ID) -> list[Standing]:
    """Return the systems on the rows that all of them scored, the best first: by rows with errors, then by the mean."""
    ours = list(map(key, systems[0][1]))
    theirs = [join(ours, list(map(key, results))).theirs for _, results in systems]
    scored = [{key(result): result for result in results if result.score is not None} for _, results in systems]
    rows = [
        tuple(by_key[names[row_key]] for names, by_key in zip(theirs, scored, strict=True))
        for row_key in ours
        if all(names.get(row_key) in by_key for names, by_key in zip(theirs, scored, strict=True))
    ]
    common = [rows[at] for at in _distinct(rows)]
    clusters = _clusters(common)
    unordered = [
        _standing(name, results, [row[at] for row in common], clusters) for at, (name, results) in enumerate(systems)
    ]
    better = deciding(systems[0][1][0].metric)[2] if systems[0][1] else 1
    return sorted(unordered, key=lambda standing: (standing.with_errors or 0.0, -better * (standing.mean or 0.0)))


def _standing(name: str, results: Sequence[Result], rows: Sequence[Result], clusters: Sequence[Hashable]) -> Standing:
    scores = [deciding(result.metric)[1](result) for result in rows]
    low, high = mean_interval(scores, clusters) or (None, None)
    return Standing(
        system=name,
        rows=len(results),
        failed=sum(result.score is None for result in results),
        n=len(rows),
        mean=fmean(scores) if rows else None,
        low=low,
        high=high,
        with_errors=sum(map(_has_errors, rows)) / len(rows) if rows and rows[0].metric.lists_errors else None,
    )


def _compared(a: tuple[str, dict[str, Result]], b: tuple[str, dict[str, Result]], rows: int) -> Comparison:
    (name, ours), (other, theirs) = a, b
    signature = shared_signature({name: ours.values(), other: theirs.values()})
    joined = join(ours, theirs)
    joined_rows = [(ours[row_id], theirs[same]) for row_id, same in joined.theirs.items()]
    for result, twin in joined_rows:
        if same_text(result.instruction) != same_text(twin.instruction):
            raise InputInvalid(
                f"id {result.id}: {name} asks {_short(result.instruction)}, {other} asks {_short(twin.instruction)}; "
                "expected the outputs of two systems for the same instructions, under the same ids"
            )
    couples = [joined_rows[at] for at in _distinct(joined_rows)]
    clusters = dict(zip((a.id for a, _ in couples), _clusters(couples), strict=True))
    judged = [couple for couple in couples if _not_judged(couple) == ""]
    not_judged = Counter(map(_not_judged, couples))
    only = [len(rows) - len(joined_rows) for rows in (ours, theirs)]
    failed = [not_judged[which] for which in ("a", "b", "ab")]
    repeated = len(joined_rows) - len(couples)
    counts = Denominators(len(ours), len(theirs), len(judged), *only, *failed, repeated=repeated)
    if not judged:
        raise InputInvalid(
            f"{name} has {len(ours)} rows, {other} {len(theirs)}, {len(couples)} with an id of the other, none of them "
            "judged in both; expected two files about the same instructions, with their ids"
        )
    apart = [(abs(_preference(a) - _preference(b)), (a, b)) for a, b in judged]
    ordered = sorted((each for each in apart if each[0]), key=lambda each: (-each[0], each[1][0].id))
    return Comparison(
        a=name,
        b=other,
        signature=signature,
        metric=judged[0][0].metric,
        counts=counts,
        joined=joined.note,
        measures=_measures(judged, clusters),
        differing=tuple(couple for _, couple in ordered[:rows]),
    )


def _distinct(rows: Sequence[tuple[Result, ...]]) -> list[int]:
    """Return the places of joined rows without those that repeat others under a new id."""
    contents = [tuple(each.content for each in row) for row in rows]
    return distinct([row[0].id for row in rows], [content if all(content) else () for content in contents])


def _clusters(rows: Sequence[tuple[Result, ...]]) -> list[Hashable]:
    """Return what joined rows share with others: that of each system."""
    return list(zip(*map(clusters_of_texts, zip(*rows, strict=True)), strict=True))


def cluster(result: Result) -> tuple[str, ...]:
    """Return what a row shares with others: a base sample (ids of ExCAM40k), an instruction, its texts, or itself."""
    if twin := PAIR_ID.fullmatch(result.id):
        return "base", twin[1]
    lacks_instruction = result.instruction in ("", STAND_IN_INSTRUCTION)
    if lacks_instruction:
        return ("texts", *result.texts.values()) if result.texts else ("id", result.id)
    return "instruction", same_text(result.instruction)


def clusters_of_texts(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the `cluster` of each row; the texts of each where all rows have one instruction, which groups nothing."""
    clusters = list(map(cluster, results))
    is_one = len(set(clusters)) == 1 and clusters[0][0] == "instruction"
    return [tuple(result.texts.values()) for result in results] if is_one else clusters


def mean_interval(values: ArrayLike, clusters: Sequence[Hashable]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean over clusters of rows (`bootstrap.interval`)."""
    return bootstrap.ratio_interval(values, np.ones(len(clusters)), clusters)


def results_by_id(rows: Iterable[Result], name: str, key: Key = OWN_ID) -> dict[str, Result]:
    """Return results by what joins them. Raises InputInvalid for two with one id."""
    by_id: dict[str, Result] = {}
    for result in rows:
        if key(result) in by_id:
            raise InputInvalid(f"{name}: id {result.id} occurs twice; expected unique ids, which join the rows")
        by_id[key(result)] = result
    return by_id


def shared_signature(systems: Mapping[str, Collection[Result]]) -> str:
    """Return the signature of all rows.

    Raises InputInvalid if there are several, and if the rows say different things of the
    metric: then the first row would decide what the scores mean.
    """
    by_system = {name: list(dict.fromkeys(result.signature for result in rows)) for name, rows in systems.items()}
    distinct = list(dict.fromkeys(signature for signatures in by_system.values() for signature in signatures))
    if len(distinct) > 1:
        named = " ".join(f"{name}: {', '.join(signatures)}" for name, signatures in by_system.items())
        raise InputInvalid(f"unlike signatures, {named}; expected one; score all with one model and release")
    metrics = {id(row.metric): row.metric for rows in systems.values() for row in rows}
    facts = {(name, str(value)) for metric in metrics.values() for name, value in asdict(metric).items()}
    facts = {fact for fact in facts if fact[0] != "measured"}
    if unlike := [name for name, times in Counter(name for name, _ in facts).items() if times > 1]:
        where = f"{', '.join(systems)}: rows of one signature"
        raise InputInvalid(f"{where} with unlike {min(unlike)} of their metric; expected one; score all again")
    return next(iter(distinct), "")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _preference(result: Result) -> float:
    assert result.preference is not None  # rows that failed were left out before
    return result.preference


def _has_errors(result: Result) -> float:
    return float(bool(result.errors))


def _not_judged(couple: MatchedRows) -> str:
    return "".join(name for name, result in zip("ab", couple, strict=True) if result.score is None)


def _measures(couples: Sequence[MatchedRows], clusters: Clusters) -> tuple[Measure, ...]:
    """Return the measures of at least one couple, the most important first."""
    metric = couples[0][0].metric
    first = [_measure("with errors", couples, clusters, _has_errors, -1)] if metric.lists_errors else []
    name, value, better = deciding(metric)
    return *first, _measure(name, couples, clusters, value, better)


def what_decides(metric: Description) -> str:
    """Return the measure that orders systems in words, without a full stop."""
    if not metric.lists_errors:
        return f"score: {metric.mean or 'mean'}"
    weights = ", ".join(f"{severity} {weight}" for severity, weight in metric.weights.items())
    return (
        f"severity: sum of the weights of a row's errors ({weights or '-1 each'}), more is better; rows without errors "
        f"are equal, whatever their {metric.certainty}"
    )


def deciding(metric: Description) -> tuple[str, Value, int]:
    """Return the measure that orders systems: its name, its value of a row, and 1 if more of it is better, else -1."""
    if metric.lists_errors:
        return "severity", _preference, 1
    better = 1 if metric.direction == "higher" else -1
    return "score", lambda result: better * _preference(result), better


def _measure(name: str, couples: Sequence[MatchedRows], by_id: Clusters, value: Value, better: int) -> Measure:
    """Return one measure; `better` is 1 if more is better, else -1."""
    a, b = (np.array([value(couple[side]) for couple in couples]) for side in (0, 1))
    step, clusters = a - b, [by_id[result.id] for result, _ in couples]
    low, high = mean_interval(step, clusters) or (None, None)
    return Measure(
        name=name,
        n=len(step),
        clusters=len(set(clusters)),
        a=fmean(a.tolist()),
        b=fmean(b.tolist()),
        difference=fmean(step.tolist()),
        low=low,
        high=high,
        a_better=int(np.count_nonzero(step * better > 0)),
        b_better=int(np.count_nonzero(step * better < 0)),
        ties=int(np.count_nonzero(step == 0)),
        p_value=sign_permutation(step, clusters, DRAWS),
    )

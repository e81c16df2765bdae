"""Meta-evaluation of any metrics: how do their scores go with human labels of the same rows?

Rows are joined by id. A row that a metric failed has no score in its numbers and is counted. Each metric is measured on
its own rows, and all of them on the rows that they have in common: only those numbers can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.scoring import meta_numbers, worth
from excam.scoring.meta_baselines import CONSTANT
from excam.scoring.meta_numbers import MetricAgreement, Scale, Systems
from excam.scoring.meta_rows import Column, Gold, LabelledRows, aligned, shortest
from excam.scoring.metric import Direction
from excam.stats.permutation import holm
from excam.stats.permutation_correlation import CorrelationPermutation, correlation_permutation

DRAWS = 1000  # swaps of a test


@dataclass(frozen=True, slots=True)
class Test:
    """The difference of two metrics' correlation with the labels, on the rows that both scored."""

    a: str
    b: str
    n: int
    clusters: int
    difference: float  # of Kendall's tau-b, a minus b
    p_value: float  # two-sided permutation test
    p_holm: float  # adjusted for all tests of the command


@dataclass(frozen=True, slots=True)
class Joined:
    """Number of rows of one metric by what became of them."""

    metric: str
    signature: str
    direction: Direction
    rows: int
    unlabelled: int  # ids that the labels lack
    missing: int  # labelled rows that the metric's file lacks
    failures: int  # of the labelled rows
    scored: int
    repeated: int  # rows that repeat another under a new id, in no number
    repeated_failures: int  # of these
    baseline: bool  # a trivial baseline, such as the length
    without_icc: str  # why some of its rows have none with labels of more than two values; empty if all have one
    note: str = ""  # how its ids were joined beside equal ones
    worth: str = ""  # what the judge is worth in a sentence; empty for a baseline


@dataclass(frozen=True, slots=True)
class MetaResult:
    """What `excam meta` found."""

    labelled: int
    without_label: int
    repeated: int  # labelled rows that repeat another under a new id, in no number
    without_text: int  # common rows without the rated text; if there are any, so are no baselines of texts
    common: int  # rows that all metrics scored
    joined: tuple[Joined, ...]
    agreements: tuple[MetricAgreement, ...]
    tests: tuple[Test, ...]
    systems: tuple[Systems, ...] = ()  # empty if rows do not name their systems

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield JSON-ready lines, each with its kind."""
        counts = ("labelled", "without_label", "repeated", "without_text", "common")
        yield {"kind": "labels"} | {name: getattr(self, name) for name in counts}
        kinds = (
            ("rows", self.joined),
            ("agreement", self.agreements),
            ("systems", self.systems),
            ("test", self.tests),
        )
        for kind, values in kinds:
            yield from ({"kind": kind, **asdict(value)} for value in values)


def evaluate(labels: LabelledRows, columns: Sequence[Column], seed: int = 0, within: Sequence[str] = ()) -> MetaResult:
    """Return how the metrics go with the labels, also of pairs `within` each of these facets, which all rows have.

    Raises InputInvalid for the same metric twice, labels that are all equal, a metric without a labelled row, and two
    metrics without a labelled row in common.

    Args:
        labels: the labelled rows
        columns: scores of each metric, baselines among them
        seed: of intervals and tests
        within: facets of which both rows of a pair have one value; none: all pairs alone
    """
    gold = labels.rows
    _refuse_twice(columns)
    columns = [aligned(column, gold) for column in columns]
    if len({row.label for row in gold}) < 2:
        raise InputInvalid(f"labels: {len(gold)} rows, all {gold[0].label:g}; expected at least two different labels")
    joined = tuple(_joined(column, gold) for column in columns)
    for column, counts in zip(columns, joined, strict=True):
        if counts.missing == len(gold):
            raise InputInvalid(
                f"{column.name}: 0 of its {counts.rows} ids are among the {len(gold)} labelled ones, e.g. "
                f"{next(iter(column.scores))}; expected the same rows under the same ids"
            )
    _refuse_disjoint(gold, columns)
    common = {row.id for row in gold if all(column.scores.get(row.id) is not None for column in columns)}
    scale = min(row.label for row in gold), max(row.label for row in gold)
    agreements: list[MetricAgreement] = []
    for group, rows in _groups(gold).items():
        for facet in ("", *within) if not group else ("",):
            for column in columns:
                both = _on_own_and_common(column, rows, common, scale, seed, facet)
                agreements += [replace(numbers, group=group) for numbers in both]
    without_text = sum(row.text is None for row in gold if row.id in common)
    counts = len(gold), labels.without_label, labels.repeated, without_text, len(common)
    whole = {numbers.metric: numbers for numbers in reversed(agreements) if not numbers.group and not numbers.within}
    return MetaResult(
        *counts,
        tuple(_with_worth(*each, whole[each[0].metric], gold) for each in zip(joined, columns, strict=True)),
        tuple(agreements),
        tuple(_tests(gold, columns, seed)),
        systems=tuple(_systems(gold, columns, common, seed)),
    )


def _on_own_and_common(
    column: Column, rows: Sequence[Gold], common: set[str], scale: Scale, seed: int, within: str
) -> list[MetricAgreement]:
    """Return a metric's numbers on its own rows and on those that all scored; computed once if these are equal."""
    numbers = meta_numbers.agreement(column, rows, scale, seed, within)
    shared = [row for row in rows if row.id in common]
    if len(shared) == numbers.n:
        return [numbers, replace(numbers, on="common", failures=0)]
    return [numbers, replace(meta_numbers.agreement(column, shared, scale, seed, within), on="common")]


def _systems(gold: Sequence[Gold], columns: Sequence[Column], common: set[str], seed: int) -> Iterator[Systems]:
    if not meta_numbers.has_systems(gold):
        return
    shared = [row for row in gold if row.id in common]
    for column in columns:
        numbers = meta_numbers.systems(column, gold, "own", seed)
        scored = sum(column.scores.get(row.id) is not None for row in gold)
        if numbers and len(shared) == scored:
            yield from (numbers, replace(numbers, on="common"))
        else:
            yield from filter(None, (numbers, meta_numbers.systems(column, shared, "common", seed)))


def _refuse_twice(columns: Sequence[Column]) -> None:
    for column, other in combinations(columns, 2):
        if column.name == other.name or (
            column.signature and (column.signature, column.part) == (other.signature, other.part)
        ):
            raise InputInvalid(
                f"{column.name} and {other.name}: the same metric twice, {column.signature or column.name}; expected "
                "different ones; two systems under one metric are compared by `excam compare`"
            )


def _refuse_disjoint(gold: Sequence[Gold], columns: Sequence[Column]) -> None:
    for column, other in combinations(columns, 2):
        if not any(row.id in column.scores and row.id in other.scores for row in gold):
            raise InputInvalid(
                f"{column.name} and {other.name}: 0 of the {len(gold)} labelled rows in common; expected scores of the "
                "same rows; measure each of them in a command of its own"
            )


def _joined(column: Column, gold: Sequence[Gold]) -> Joined:
    labelled_scores = [column.scores[row.id] for row in gold if row.id in column.scores]
    failures = sum(score is None for score in labelled_scores)
    scores = [score for score in labelled_scores if score is not None]
    return Joined(
        metric=column.name,
        signature=column.signature,
        direction=column.direction,
        rows=len(column.scores) + len(column.repeated),
        unlabelled=len(column.scores) - len(labelled_scores),
        missing=len(gold) - len(labelled_scores),
        failures=failures,
        scored=len(scores),
        repeated=len(column.repeated),
        repeated_failures=column.repeated.count(None),
        baseline=column.is_baseline,
        without_icc=_other_scale(column, [row.label for row in gold], scores),
        note=column.joined,
    )


def _with_worth(joined: Joined, column: Column, numbers: MetricAgreement, gold: Sequence[Gold]) -> Joined:
    """Return the counts of a metric with what its numbers say that it is worth as a judge."""
    rows = [row for row in gold if column.scores.get(row.id) is not None]
    if joined.baseline or not rows:
        return joined
    verdicts = [column.facets.get("verdict", {}).get(row.id, "") for row in rows]
    labels, clusters = [row.label for row in rows], [row.cluster for row in rows]
    instructions = len({row.instruction for row in rows if row.instruction})
    return replace(joined, worth=worth.in_words(labels, verdicts, clusters, numbers.auc, numbers.kendall, instructions))


def _other_scale(column: Column, labels: Sequence[float], scores: Sequence[float]) -> str:
    """Return why some scores cannot agree with labels of more than two values as a second rater's could, or ""."""
    if not column.signature or len(set(labels)) < 3 or not scores:
        return ""
    if min(labels) <= min(scores) and max(scores) <= max(labels):
        return ""
    ends = [shortest(end) for values in (scores, labels) for end in (min(values), max(values))]
    return "scores from {} to {} leave {} to {}".format(*ends)


def _groups(gold: Sequence[Gold]) -> dict[str, list[Gold]]:
    """Return all rows under "", and for each group its rows with those of no group that share a cluster with them."""
    by_group = {"": list(gold)}
    for name in sorted({name for row in gold for name in row.groups}):
        clusters = {row.cluster for row in gold if name in row.groups}
        by_group[name] = [row for row in gold if name in row.groups or (not row.groups and row.cluster in clusters)]
    return by_group


def _tests(gold: Sequence[Gold], columns: Sequence[Column], seed: int) -> Iterator[Test]:
    """Yield a test for each pair of metrics that order their common rows.

    Two baselines of the labelled rows are not tested: each test more makes the others less sensitive.
    """
    tested: list[tuple[str, str, CorrelationPermutation]] = []
    for column, other in combinations((each for each in columns if each.name != CONSTANT), 2):
        rows = [row for row in gold if column.scores.get(row.id) is not None and other.scores.get(row.id) is not None]
        a, b = ([each.scores[row.id] for row in rows] for each in (column, other))
        labels = [row.label for row in rows]
        if not (column.signature or other.signature) or any(len(set(values)) < 2 for values in (a, b, labels)):
            continue
        clusters = [row.cluster for row in rows]
        tested.append(
            (column.name, other.name, correlation_permutation(labels, a, b, clusters=clusters, draws=DRAWS, seed=seed))
        )
    for (a, b, test), p in zip(tested, holm([test.p_value for *_, test in tested]), strict=True):
        yield Test(a, b, test.n, test.clusters, test.difference, test.p_value, p)

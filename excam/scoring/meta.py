"""Meta-evaluation of any metrics: how do their scores go with human labels of the same rows?

Rows are joined by id. A row that a metric failed has no score in its numbers and is counted. Each metric is measured on
its own rows, and all of them on the rows that they have in common: only those numbers can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from excam.core.exceptions import InputInvalid
from excam.scoring import pairs, scored_file
from excam.scoring.scored import Direction
from excam.stats import bootstrap, correlation
from excam.stats.binary_gold import Estimate, association
from excam.stats.icc import icc21, icc21_bootstrap
from excam.stats.permutation import holm
from excam.stats.permutation_correlation import correlation_permutation

DRAWS = 1000  # of intervals, and swaps of a test
On = Literal["own", "common"]
Pair = tuple[Estimate, Estimate]  # Kendall's tau-b and the AUC
UNDEFINED = Estimate(None, None, None)


@dataclass(frozen=True, slots=True)
class Gold:
    """One labelled row. Rows with the same `cluster` share content: they are resampled and swapped together."""

    id: str
    label: float  # more is better
    cluster: str
    groups: tuple[str, ...]  # of the column of groups; several where it has a list
    instruction: str
    text: str | None  # what was rated, for baselines


@dataclass(frozen=True, slots=True)
class Column:
    """The scores of one metric by id, more is better; None for a failure."""

    name: str
    scores: Mapping[str, float | None]
    signature: str = ""
    direction: Direction = "higher"  # of the metric: with "lower", `scores` are its own times -1


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one metric goes with the labels on `n` rows; None where a number is undefined.

    `tie_calibrated` is 0 to 1; `auc` needs labels of two values, `icc` labels of more and a metric whose higher scores
    are better and all within the range of the labels.
    """

    metric: str
    group: str  # "" for all rows
    on: On  # the metric's own rows, or those that all metrics scored
    n: int
    failures: int
    kendall: Estimate
    tie_calibrated: float | None
    auc: Estimate
    icc: Estimate


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
    without_icc: str  # why there is none with labels of more than two values; empty if there is one


@dataclass(frozen=True, slots=True)
class Result:
    """What `excam meta` found."""

    labelled: int
    common: int  # rows that all metrics scored
    joined: tuple[Joined, ...]
    agreements: tuple[Agreement, ...]
    tests: tuple[Test, ...]

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield JSON-ready lines, each with its kind."""
        yield {"kind": "labels", "labelled": self.labelled, "common": self.common}
        for kind, found in (("rows", self.joined), ("agreement", self.agreements), ("test", self.tests)):
            yield from ({"kind": kind, **asdict(one)} for one in found)


def read_gold(path: Path, label: str, cluster: str | None, group: str | None, text: str) -> list[Gold]:
    """Read labelled rows: `id`, a number in column `label`, and the named columns.

    Without `cluster`, rows with the same instruction share content. Raises InputInvalid for a row without id or label,
    a label that is no number, an id that occurs twice, a named column that no row has, and a file without rows.
    """
    found: dict[str, Gold] = {}
    seen: set[str] = set()
    for number, row in pairs.rows(path):
        where = f"{path}:{number}"
        if not isinstance(row, Mapping) or row.get("id") in (None, ""):
            raise InputInvalid(f"{where}: no id; expected an object with id and {label}")
        seen.update(row)
        key = str(row["id"])
        if key in found:
            raise InputInvalid(f"{where}: id {key} occurs twice; expected one label for each row")
        value = row.get(text)
        instruction = str(row.get("instruction") or "")
        found[key] = Gold(
            id=key,
            label=_number(row.get(label), where, label),
            cluster=str(row.get(cluster)) if cluster else instruction or key,
            groups=_names(row.get(group)) if group else (),
            instruction=instruction,
            text=None if value is None else str(value),
        )
    if not found:
        raise InputInvalid(f"{path}: 0 rows; expected rows with id and {label}")
    for name in filter(None, (cluster, group)):
        if name not in seen:
            raise InputInvalid(f"{path}: no column {name}; found {', '.join(sorted(seen))}")
    return list(found.values())


def _names(value: Any) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    return tuple(str(one) for one in found if one)


def _number(value: Any, where: str, label: str) -> float:
    if value is None or value == "":
        raise InputInvalid(f"{where}: no {label}; expected a number, more is better; name the column with --label")
    try:
        number = float(value)
    except (TypeError, ValueError):
        words = {"true": 1.0, "false": 0.0}
        number = words.get(str(value).strip().casefold(), float("nan"))
    if not np.isfinite(number):
        raise InputInvalid(f"{where}: {label} is {str(value)[:40]}; expected a number or true or false, more is better")
    return number


def read_metric(path: Path) -> Column:
    """Read a scored file as a column of scores, more is better.

    Raises InputInvalid for an id that occurs twice, several signatures or directions, and a file without rows.
    """
    found: dict[str, float | None] = {}
    signatures: dict[str, None] = {}
    directions: dict[Direction, None] = {}
    for one in scored_file.read(path):
        if one.id in found:
            raise InputInvalid(f"{path}: id {one.id} occurs twice; expected unique ids, which join the rows")
        signatures[one.signature], directions[one.better] = None, None
        found[one.id] = None if one.score is None else one.score * (1 if one.better == "higher" else -1)
    if not found:
        raise InputInvalid(f"{path}: 0 rows; expected what `excam score --to` wrote")
    for what, several in (("signatures", signatures), ("directions", directions)):
        if len(several) > 1:
            raise InputInvalid(f"{path}: {len(several)} {what}: {', '.join(several)}; expected one metric in a file")
    return Column(path.stem, found, next(iter(signatures)), next(iter(directions)))


def evaluate(gold: Sequence[Gold], columns: Sequence[Column], seed: int = 0) -> Result:
    """Return how the metrics go with the labels.

    Raises InputInvalid for the same metric twice, labels that are all equal, and a metric without a labelled row.
    """
    _refuse_twice(columns)
    if len({row.label for row in gold}) < 2:
        raise InputInvalid(f"labels: {len(gold)} rows, all {gold[0].label:g}; expected at least two different labels")
    joined = tuple(_joined(one, gold) for one in columns)
    for one, counts in zip(columns, joined, strict=True):
        if counts.missing == len(gold):
            raise InputInvalid(
                f"{one.name}: 0 of its {counts.rows} ids are among the {len(gold)} labelled ones, e.g. "
                f"{next(iter(one.scores))}; expected the same rows under the same ids"
            )
    common = {row.id for row in gold if all(one.scores.get(row.id) is not None for one in columns)}
    agreements: list[Agreement] = []
    for group, rows in _groups(gold).items():
        shared = [row for row in rows if row.id in common]
        for one, counts in zip(columns, joined, strict=True):
            agreements.append(_agreement(one, counts, group, "own", rows, seed))
            agreements.append(_agreement(one, counts, group, "common", shared, seed))
    return Result(len(gold), len(common), joined, tuple(agreements), _tests(gold, columns, seed))


def _refuse_twice(columns: Sequence[Column]) -> None:
    for one, other in combinations(columns, 2):
        if one.name == other.name or (one.signature and one.signature == other.signature):
            raise InputInvalid(
                f"{one.name} and {other.name}: the same metric twice, {one.signature or one.name}; expected different "
                "ones; two systems under one metric are compared by `excam compare`"
            )


def _joined(one: Column, gold: Sequence[Gold]) -> Joined:
    known = [one.scores[row.id] for row in gold if row.id in one.scores]
    failures = sum(score is None for score in known)
    scores = [score for score in known if score is not None]
    return Joined(
        metric=one.name,
        signature=one.signature,
        direction=one.direction,
        rows=len(one.scores),
        unlabelled=len(one.scores) - len(known),
        missing=len(gold) - len(known),
        failures=failures,
        scored=len(scores),
        without_icc=_other_scale(one, [row.label for row in gold], scores),
    )


def _other_scale(one: Column, labels: Sequence[float], scores: Sequence[float]) -> str:
    """Return why scores cannot agree with labels of more than two values as a second rater's could, else nothing."""
    if len(set(labels)) < 3 or not scores:
        return ""
    if one.direction == "lower":
        return "lower scores are better"
    if min(scores) < min(labels) or max(scores) > max(labels):
        return (
            f"scores from {min(scores):g} to {max(scores):g} leave the labels' range {min(labels):g} to {max(labels):g}"
        )
    return ""


def _groups(gold: Sequence[Gold]) -> dict[str, list[Gold]]:
    """Return all rows under "", and for each group its rows with those of no group that share a cluster with them."""
    found = {"": list(gold)}
    for name in sorted({name for row in gold for name in row.groups}):
        clusters = {row.cluster for row in gold if name in row.groups}
        found[name] = [row for row in gold if name in row.groups or (not row.groups and row.cluster in clusters)]
    return found


def _agreement(one: Column, counts: Joined, group: str, on: On, rows: Sequence[Gold], seed: int) -> Agreement:
    known = [row for row in rows if row.id in one.scores]
    scored = [(row, score) for row in known if (score := one.scores[row.id]) is not None]
    labels, scores = [row.label for row, _ in scored], [score for _, score in scored]
    clusters = [row.cluster for row, _ in scored]
    defined = len(scored) > 1
    ordered = _with_many_labels if len(set(labels)) > 2 else _with_two_labels
    kendall, auc = ordered(labels, scores, clusters, seed)
    return Agreement(
        metric=one.name,
        group=group,
        on=on,
        n=len(scored),
        failures=len(known) - len(scored),
        kendall=kendall,
        tie_calibrated=correlation.tie_calibrated_accuracy(labels, scores).accuracy if defined else None,
        auc=auc,
        icc=UNDEFINED if counts.without_icc else _icc(labels, scores, seed),
    )


def _with_two_labels(labels: list[float], scores: list[float], clusters: list[str], seed: int) -> Pair:
    """Return Kendall's tau-b and the AUC; no interval and no tau where all scores are equal, nothing for one label."""
    if len(set(labels)) < 2:
        return UNDEFINED, UNDEFINED
    if len(set(scores)) == 1:
        return UNDEFINED, Estimate(0.5, None, None)
    found = association([label == max(labels) for label in labels], scores, clusters, DRAWS, seed)
    return found.tau_b, found.auc


def _with_many_labels(labels: list[float], scores: list[float], clusters: list[str], seed: int) -> Pair:
    """Return Kendall's tau-b, and no AUC."""
    value = correlation.kendall(labels, scores)
    if np.isnan(value):
        return UNDEFINED, UNDEFINED
    gold, metric = np.array(labels), np.array(scores)
    items = bootstrap.drawn_items(clusters, DRAWS, seed)
    drawn = np.array([correlation.kendall(gold[at], metric[at]) for at in items])
    drawn = np.where(np.isnan(drawn), 0, drawn)  # a draw of equal scores orders nothing
    if np.ptp(drawn) == 0:
        return Estimate(value, None, None), UNDEFINED
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high)), UNDEFINED


def _icc(labels: list[float], scores: list[float], seed: int) -> Estimate:
    """Return the agreement of scores and labels as of two raters; nothing for labels of two values."""
    if len(set(labels)) < 3:
        return UNDEFINED
    ratings = list(zip(labels, scores, strict=True))
    low, high = icc21_bootstrap(ratings, seed) or (None, None)
    return Estimate(icc21(ratings).value, low, high)


def _tests(gold: Sequence[Gold], columns: Sequence[Column], seed: int) -> tuple[Test, ...]:
    """Return a test for each pair of metrics that order their common rows."""
    found = []
    for one, other in combinations(columns, 2):
        rows = [row for row in gold if one.scores.get(row.id) is not None and other.scores.get(row.id) is not None]
        a, b = ([each.scores[row.id] for row in rows] for each in (one, other))
        labels = [row.label for row in rows]
        if min(len(set(values)) for values in (a, b, labels)) < 2:
            continue
        clusters = [row.cluster for row in rows]
        found.append(
            (one.name, other.name, correlation_permutation(labels, a, b, clusters=clusters, draws=DRAWS, seed=seed))
        )
    adjusted = holm([test.p_value for *_, test in found])
    return tuple(
        Test(a, b, test.n, test.clusters, test.difference, test.p_value, p)
        for (a, b, test), p in zip(found, adjusted, strict=True)
    )


def baselines(gold: Sequence[Gold], further: Mapping[str, Callable[[Gold], float]]) -> list[Column]:
    """Return columns that judge nothing: a constant and, of the rated texts, the length and what `further` says.

    Without the rated texts there is only the constant.
    """
    constant = Column("(constant)", {row.id: 0.0 for row in gold})
    if any(row.text is None for row in gold):
        return [constant]
    of_text: Mapping[str, Callable[[Gold], float]] = {"(length)": lambda row: len(row.text or ""), **further}
    return [constant, *(Column(name, {row.id: float(of(row)) for row in gold}) for name, of in of_text.items())]

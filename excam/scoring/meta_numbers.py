"""The numbers of one metric on labelled rows: agreement of rows and of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from excam.scoring.meta_baselines import MOST_SYSTEMS
from excam.scoring.meta_rows import Column, Gold
from excam.stats import bootstrap, correlation
from excam.stats.binary_gold import Estimate, association
from excam.stats.few_clusters import Interval
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.icc import icc21, icc21_bootstrap
from excam.stats.system_level import SystemLevel, system_level

DRAWS = 1000  # of intervals
MOST_PAIRS = 20_000_000  # inside groups, for tie calibration, which lists them
On = Literal["own", "common"]
Pair = tuple[Estimate, Estimate]  # Kendall's tau-b and the AUC
Scale = tuple[float, float]  # lowest and highest label
UNDEFINED = Estimate(None, None, None)


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How one metric goes with the labels on `n` rows; None where a number is undefined.

    `tie_calibrated` is 0 to 1, over all pairs, or the mean over items if rows have them; `auc` needs labels of two
    values, `icc` labels of more and scores within the range of all labels. No baseline has an `icc`, nor do numbers of
    pairs `within` a facet. `ordered` is the share of the `pairs` of rows of one item with different labels that the
    metric orders as the labels do, ties half; undefined if rows have no items.
    """

    metric: str
    group: str  # "" for all rows
    within: str  # the facet, such as language, of which both rows of a pair have one value; "" for all pairs
    on: On  # the metric's own rows, or those that all metrics scored
    baseline: bool
    n: int
    failures: int
    kendall: Estimate
    tie_calibrated: float | None
    auc: Estimate
    icc: Estimate
    pairs: int
    ordered: Estimate


@dataclass(frozen=True, slots=True)
class Systems:
    """How one metric goes with the labels on the level of systems."""

    metric: str
    on: On
    baseline: bool
    level: SystemLevel


def agreement(column: Column, rows: Sequence[Gold], scale: Scale, seed: int, within: str = "") -> MetricAgreement:
    """Return how a metric goes with the labels of these rows; its failures are counted and in no number.

    Args:
        column: scores of one metric
        rows: the labelled rows
        scale: the lowest and the highest label of all rows
        seed: of intervals
        within: the facet of which both rows of a pair have one value; "": all pairs
    """
    column_rows = [row for row in rows if row.id in column.scores]
    scored, scores = _scored(column, column_rows)
    labels = [row.label for row in scored]
    clusters = [row.cluster for row in scored]
    items = [f"{row.item}\0{row.facets.get(within, '')}" if within else row.item for row in scored]
    if within:
        kendall, auc = _of_grouped_pairs(labels, scores, [row.facets[within] for row in scored], clusters, seed)
    elif len(set(labels)) > 2:
        kendall, auc = _of_grouped_pairs(labels, scores, None, clusters, seed)
    else:
        kendall, auc = _with_two_labels(labels, scores, clusters, seed)
    has_items = any(row.item for row in scored)
    pairs, ordered = ordered_pairs(labels, scores, items, clusters, seed) if has_items else (0, UNDEFINED)
    return MetricAgreement(
        metric=column.name,
        group="",
        within=within,
        on="own",
        baseline=column.is_baseline,
        n=len(scored),
        failures=len(column_rows) - len(scored),
        kendall=kendall,
        tie_calibrated=_tie_calibrated(labels, scores, items if has_items or within else []),
        auc=auc if len(set(labels)) == 2 else UNDEFINED,
        icc=_icc(labels, scores, scale, seed) if column.signature and not within else UNDEFINED,
        pairs=pairs,
        ordered=ordered,
    )


def _scored(column: Column, rows: Sequence[Gold]) -> tuple[list[Gold], list[float]]:
    """Return the rows that a metric scored, and its scores."""
    scored = [(row, score) for row in rows if (score := column.scores.get(row.id)) is not None]
    return [row for row, _ in scored], [score for _, score in scored]


def ordered_pairs(
    labels: Sequence[float], scores: Sequence[float], items: Sequence[str], clusters: Sequence[str], seed: int
) -> tuple[int, Estimate]:
    """Return the number of pairs of one item with different labels, and the share that the scores order alike.

    Args:
        labels: of each row, more is better
        scores: of each row, more is better
        items: what each row answers: pairs are of one item
        clusters: of each row, for the interval
        seed: of the interval
    """
    if len(labels) < 2:
        return 0, UNDEFINED
    sums = GroupedPairs(labels, scores, items).sums()
    pairs = int(sums.labels_differ.sum())
    if not pairs:
        return 0, UNDEFINED
    first: dict[str, str] = {}
    for item, cluster in zip(items, clusters, strict=True):
        first.setdefault(item, cluster)  # items are numbered in the order in which they appear
    ordered = (sums.balance + sums.labels_differ) / 2
    interval = bootstrap.share_interval(ordered, sums.labels_differ, list(first.values()), seed=seed)
    return pairs, _estimate(sums.ordered, interval)


def _tie_calibrated(labels: list[float], scores: list[float], items: Sequence[str]) -> float | None:
    if len(labels) < 2:
        return None
    if not items:
        return correlation.tie_calibrated_accuracy(labels, scores).accuracy
    if sum(rows * (rows - 1) // 2 for rows in Counter(items).values()) > MOST_PAIRS:
        return None
    calibrated = correlation.tie_calibration_by_item(labels, scores, items)
    return None if calibrated is None else calibrated.accuracy


def _with_two_labels(labels: list[float], scores: list[float], clusters: list[str], seed: int) -> Pair:
    """Return Kendall's tau-b and the AUC; no interval and no tau where all scores are equal, nothing for one label."""
    if len(set(labels)) < 2:
        return UNDEFINED, UNDEFINED
    if len(set(scores)) == 1:
        return UNDEFINED, Estimate(0.5, None, None)
    numbers = association([label == max(labels) for label in labels], scores, clusters, DRAWS, seed)
    return numbers.tau_b, numbers.auc


def _of_grouped_pairs(
    labels: list[float], scores: list[float], groups: list[str] | None, clusters: list[str], seed: int
) -> Pair:
    """Return Kendall's tau-b and the share of ordered pairs, which is the AUC of two labels, of pairs inside groups."""
    if len(labels) < 2:
        return UNDEFINED, UNDEFINED
    pairs = GroupedPairs(labels, scores, groups)
    observed = pairs.sums()
    if np.isnan(observed.ordered):
        return UNDEFINED, UNDEFINED
    if np.isnan(observed.tau_b):
        return UNDEFINED, Estimate(0.5, None, None)
    tau, ordered = pairs.intervals(clusters, DRAWS, seed)
    return _estimate(observed.tau_b, tau), _estimate(observed.ordered, ordered)


def _estimate(value: float, bounds: Interval | None) -> Estimate:
    return Estimate(value, *(bounds or (None, None)))


def _icc(labels: list[float], scores: list[float], scale: Scale, seed: int) -> Estimate:
    """Return the agreement of scores and labels as of two raters; nothing for two labels, or scores off the scale."""
    if len(set(labels)) < 3 or min(scores) < scale[0] or max(scores) > scale[1]:
        return UNDEFINED
    ratings = list(zip(labels, scores, strict=True))
    low, high = icc21_bootstrap(ratings, seed) or (None, None)
    return Estimate(icc21(ratings).value, low, high)


def has_systems(rows: Sequence[Gold]) -> bool:
    """Return whether each row names its system, and there are several, each with more than one row on average."""
    names = {row.system for row in rows}
    return "" not in names and 1 < len(names) <= min(MOST_SYSTEMS, len(rows) // 2)


def systems(column: Column, rows: Sequence[Gold], on: On, seed: int) -> Systems | None:
    """Return how a metric goes with the labels on the level of systems; None if it scored rows of fewer than two.

    Args:
        column: scores of one metric
        rows: the labelled rows, each with its system
        on: whether these are the metric's own rows, or those of all metrics
        seed: of the p-values
    """
    scored, scores = _scored(column, rows)
    if len({row.system for row in scored}) < 2:
        return None
    names, items = [row.system for row in scored], [row.item or row.cluster for row in scored]
    level = system_level([row.label for row in scored], scores, names, items, seed=seed)
    return Systems(column.name, on, column.is_baseline, level)

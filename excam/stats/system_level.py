"""Systems instead of items: does a metric order systems as people do, and with the same certainty?

Soft pairwise accuracy (SPA; Thompson et al. 2024, "Improving Statistical Significance in Human Evaluation of Automatic
Metrics via Soft Pairwise Accuracy") compares, for every two systems, the p-value of "the first is better" by the labels
with that by the metric: 1 minus the mean of |p of the labels - p of the metric|. The p-values are of one-sided paired
permutation tests over items, with the same swaps for all, as in mt-metrics-eval (`pce.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers, table_by_content
from excam.stats.correlation import Numbers, kendall, score_vectors
from excam.stats.pairs import in_units
from excam.stats.permutation import swap_masks

DRAWS = 1000
ROUNDING = 1e-9  # relative differences of sums that are only rounding
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class SystemLevel:
    """How a metric orders systems; None where undefined.

    `accuracy` is the share of pairs of systems whose means differ in the same direction. `soft` is SPA over the
    `tested` pairs, those with an item in common. `pearson` and `kendall` are of the systems' means.
    """

    systems: int
    items: int  # that two systems or more have
    accuracy: float | None
    soft: float | None
    tested: int
    pearson: float | None
    kendall: float | None


def system_level(
    gold: Numbers, metric: Numbers, systems: Sequence[str], items: Sequence[Hashable], draws: int = DRAWS, seed: int = 0
) -> SystemLevel:
    """Return how the metric's means of systems go with those of the labels; several rows of one cell are averaged.

    Raise InputInvalid for unequal lengths, fewer than two rows, numbers that are not finite, or no draws.

    Args:
        gold: the label of each row, more is better
        metric: the score of each row, more is better
        systems: the system of each row
        items: what each row answers
        draws: swaps of a p-value
        seed: of the swaps
    """
    labels, scores = score_vectors(gold, metric)
    if not len(systems) == len(items) == len(labels) or draws < 1:
        raise InputInvalid(
            f"got {len(labels)} rows, {len(systems)} systems, {len(items)} items and {draws} draws, expected as many "
            "systems and items as rows, and one draw or more"
        )
    item, system = (cluster_numbers(names, len(labels)) for names in (items, systems))
    item, system = table_by_content(item, system, labels, scores)
    counts = np.bincount(system)
    by_labels, by_scores = (np.bincount(system, weights=values) / counts for values in (labels, scores))
    grid, other = (_grid(values, item, system, len(counts)) for values in (labels, scores))
    soft, tested = _soft_pairwise_accuracy(grid, other, draws, seed)
    many = len(counts) > 1
    return SystemLevel(
        systems=len(counts),
        items=int((np.isfinite(grid).sum(axis=1) > 1).sum()),
        accuracy=_same_direction(by_labels, by_scores) if many else None,
        soft=soft,
        tested=tested,
        pearson=_pearson(by_labels, by_scores) if many else None,
        kendall=_number(kendall(_rounded(by_labels), _rounded(by_scores))) if many else None,
    )


def better_p_values(grid: Floats, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Return p-values that a system (row) is better than another (column), shape (systems, systems), NaN if untested.

    `grid` is (items, systems), NaN where a system has no score. A draw swaps the two systems' scores in a random half
    of the items; p is the share of draws whose difference is at least the observed one. Equal seeds, equal swaps.
    """
    n_items, n_systems = grid.shape
    scored = np.isfinite(grid)
    hits = np.zeros((n_systems, n_systems))
    for swaps in swap_masks(n_items, draws, np.random.default_rng(seed)):
        signs = swaps * 2.0 - 1
        for at in range(n_systems - 1):
            steps = np.where(scored[:, at, None] & scored[:, at + 1 :], grid[:, at, None] - grid[:, at + 1 :], 0.0)
            rounding = ROUNDING * np.abs(steps).sum(axis=0)
            observed, drawn = steps.sum(axis=0), signs @ steps
            hits[at, at + 1 :] += (drawn >= observed - rounding).sum(axis=0)
            hits[at + 1 :, at] += (drawn <= observed + rounding).sum(axis=0)  # the other order, with opposite swaps
    together = scored.T.astype(np.int64) @ scored
    return np.where((together > 0) & ~np.eye(n_systems, dtype=bool), hits / draws, np.nan)


def _soft_pairwise_accuracy(by_labels: Floats, by_scores: Floats, draws: int, seed: int) -> tuple[float | None, int]:
    """Return SPA over both orders of each pair, so that the order of systems does not matter, and the tested pairs.

    The reference takes one order; they differ only where draws equal the observed difference, as with equal scores.
    """
    apart = np.abs(better_p_values(by_labels, draws, seed) - better_p_values(by_scores, draws, seed))
    tested = int(np.isfinite(apart).sum()) // 2
    return (1 - float(np.nanmean(apart)) if tested else None), tested


def _grid(values: Floats, item: NDArray[np.intp], system: NDArray[np.intp], systems: int) -> Floats:
    """Return means by item and system in units, see `_rounded`, shape (items, systems), NaN where there is none."""
    shape = int(item.max()) + 1, systems
    cell = item * systems + system
    sums, counts = (np.bincount(cell, weights=w, minlength=shape[0] * shape[1]) for w in (values, None))
    cells = np.full(len(sums), np.nan)
    cells[counts > 0] = _rounded(sums[counts > 0] / counts[counts > 0])
    return cells.reshape(shape)


def _rounded(means: Floats) -> Floats:
    """Return means in units, without the rounding of their sums, so that equal ones are equal."""
    return np.rint(in_units(means.astype(np.float64))[0])


def _same_direction(by_labels: Floats, by_scores: Floats) -> float:
    """Return the share of pairs of systems in which the signs of both differences are equal, ties included."""
    a, b = (np.sign(np.subtract.outer(means, means)) for means in (_rounded(by_labels), _rounded(by_scores)))
    return float((a == b)[np.triu_indices(len(by_labels), 1)].mean())


def _pearson(a: Floats, b: Floats) -> float | None:
    a, b = _rounded(a), _rounded(b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value

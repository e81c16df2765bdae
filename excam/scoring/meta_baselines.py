"""Trivial baselines of labelled rows: columns of scores that judge nothing, and that a metric should be better than."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from excam.scoring.meta_rows import Column, Gold
from excam.stats.clusters import cluster_numbers
from excam.stats.words_regression import in_own_units, predictions_from_words

CONSTANT = "(constant)"  # orders nothing
LENGTH = "(length)"
SURFACE = "(surface)"
SURFACE_THEN_LENGTH = "(surface, length)"
WORDS = "(words)"
SYSTEM = "(system)"
FEWEST = 20  # clusters from which words are learnt; of fewer, predictions follow from how labels were balanced
MOST_SYSTEMS = 200  # more are no names of systems that come again
CELLS = 1 << 20  # clusters x systems at once


def baselines(gold: Sequence[Gold], further: Mapping[str, Callable[[Gold], float]], seed: int = 0) -> list[Column]:
    """Return a constant and, where the rows allow, the baselines of the rated texts and that of the system's name.

    Of texts: the length, what `further` says, the surface and among equal ones the length, and what the words alone
    predict (with `FEWEST` clusters or more). If a row lacks the rated text there is none of them. The system needs two
    names, and one in each row. There are none of no rows.
    """
    if not gold:
        return []
    columns: dict[str, np.ndarray] = {CONSTANT: np.zeros(len(gold))}
    texts = [row.text for row in gold if row.text is not None]
    if len(texts) == len(gold):
        columns[LENGTH] = np.array([len(text) for text in texts], dtype=np.float64)
        columns |= {name: np.array([float(of(row)) for row in gold]) for name, of in further.items()}
        if SURFACE in columns:
            columns[SURFACE_THEN_LENGTH] = columns[SURFACE] + columns[LENGTH] / (1 + columns[LENGTH].max())
        clusters = [row.cluster for row in gold]
        if len(set(clusters)) >= FEWEST:
            columns[WORDS] = predictions_from_words(texts, [row.label for row in gold], clusters, seed)
    if all(row.system for row in gold) and 1 < len({row.system for row in gold}) <= MOST_SYSTEMS:
        columns[SYSTEM] = places_of_systems(gold)
    ids = [row.id for row in gold]
    return [Column(name, dict(zip(ids, scores.tolist(), strict=True))) for name, scores in columns.items()]


def places_of_systems(gold: Sequence[Gold]) -> np.ndarray:
    """Return for each row the place of its system, more is better, by the mean labels of the other clusters' rows.

    It is the place and not the mean: a row with a high label lowers the mean of the others, so that means would order
    the rows of one system the wrong way round. A system with no other row has the mean of all.
    """
    from scipy.stats import rankdata

    system = cluster_numbers([row.system for row in gold], len(gold))
    cluster = cluster_numbers([row.cluster for row in gold], len(gold))
    labels, _ = in_own_units([row.label for row in gold])
    sums, counts = np.bincount(system, weights=labels), np.bincount(system)
    scores = np.zeros(len(gold))
    order = np.argsort(cluster, kind="stable")
    ends = np.searchsorted(cluster[order], np.arange(int(cluster.max()) + 2))
    step = max(1, CELLS // len(sums))
    for start in range(0, len(ends) - 1, step):
        stop = min(start + step, len(ends) - 1)
        rows = order[ends[start] : ends[stop]]
        cells, shape = (cluster[rows] - start) * len(sums) + system[rows], (stop - start, len(sums))
        own_sums, own_counts = (np.bincount(cells, w, shape[0] * shape[1]).reshape(shape) for w in (labels[rows], None))
        left = counts - own_counts
        means = np.divide(sums - own_sums, left, out=np.full(shape, labels.mean()), where=left > 0)
        places = rankdata(np.round(means, 10), axis=1)  # sums of other orders round otherwise
        scores[rows] = places[cluster[rows] - start, system[rows]]
    return scores

"""Two experiments: which kinds of errors a metric misses, and how far its judgement depends on the language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.crossing.columns import Column
from excam.crossing.kinds import KINDS
from excam.crossing.rows import Row
from excam.stats import bootstrap

BLIND_SPOTS = ("metric", "kind", "auc", "low", "high", "pairs", "wrong", "clusters", "failures", "alone", "sets")
GAP = ("metric", "language", "english", "local", "difference", "low", "high", "scenarios", "failures")
ALL = "all"


def blind_spots(rows: Sequence[Row], columns: Mapping[str, Column], seed: int) -> Iterator[dict[str, Any]]:
    """Yield one line of `BLIND_SPOTS` for each metric and each kind of error among its rows.

    `auc` is the share of pairs of an erroneous text and a correct twin in which the twin scores higher, ties half; .5
    is chance. Its 95 % interval is a bootstrap over clusters. `failures` counts texts without a score, erroneous ones
    and their twins; `alone` counts erroneous texts without a correct twin that has a score.
    """
    right: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.right:
            right[row.cluster].append(row)
    for metric, column in columns.items():
        for kind in KINDS:
            wrong = [row for row in rows if kind in row.kinds and row.id in column]
            if wrong:
                yield {"metric": metric, "kind": kind, **_blind_spot(wrong, right, column, seed)}


def _blind_spot(wrong: Sequence[Row], right: Mapping[str, Sequence[Row]], column: Column, seed: int) -> dict[str, Any]:
    wins: list[float] = []
    pairs: list[int] = []
    clusters: list[str] = []
    alone = 0
    for row in wrong:
        score = column[row.id]
        twins = [column[one.id] for one in right[row.cluster] if one.id in column] if row.cluster in right else []
        scored = [one for one in twins if one is not None]
        if score is None:
            continue
        if not scored:
            alone += 1
            continue
        wins.append(sum(_above(one, score) for one in scored))
        pairs.append(len(scored))
        clusters.append(row.cluster)
    looked_at = {row.id for row in wrong} | {
        one.id for row in wrong for one in right.get(row.cluster, ()) if one.id in column
    }
    interval = bootstrap.ratio_interval(wins, pairs, clusters, seed=seed) if wins else None
    low, high = interval or (None, None)
    return {
        "auc": sum(wins) / sum(pairs) if pairs else None,
        "low": low,
        "high": high,
        "pairs": sum(pairs),
        "wrong": len(wins),
        "clusters": len(set(clusters)),
        "failures": sum(column[name] is None for name in looked_at),
        "alone": alone,
        "sets": " ".join(sorted({row.set for row in wrong})),
    }


def _above(one: float, other: float) -> float:
    return 1.0 if one > other else 0.5 if one == other else 0.0


def language_gap(rows: Sequence[Row], columns: Mapping[str, Column], seed: int) -> Iterator[dict[str, Any]]:
    """Yield one line of `GAP` for each metric, over all local languages and in each.

    `english` and `local` are the shares of scenarios in which the true statement scores above the false one, ties half,
    on the scenarios of which the metric scored all four texts; `failures` counts the others. `difference` is local
    minus English, with a 95 % interval over scenarios.
    """
    scenarios: dict[str, dict[tuple[str, bool], Row]] = defaultdict(dict)
    for row in rows:
        if row.set == "macaron":
            scenarios[row.content][row.local, row.right] = row
    whole = {name: texts for name, texts in scenarios.items() if len(texts) == 4}
    languages = sorted({local for texts in whole.values() for local, _ in texts} - {""})
    for metric, column in columns.items():
        if not any(row.id in column for texts in whole.values() for row in texts.values()):
            continue
        for language in (ALL, *languages):
            asked = [texts for texts in whole.values() if language == ALL or (language, True) in texts]
            yield {"metric": metric, "language": language, **_gap(asked, column, seed)}


def _gap(asked: Sequence[Mapping[tuple[str, bool], Row]], column: Column, seed: int) -> dict[str, Any]:
    english: list[float] = []
    local: list[float] = []
    for texts in asked:
        scores = {key: column.get(row.id) for key, row in texts.items()}
        known = {key: score for key, score in scores.items() if score is not None}
        if len(known) < len(texts):
            continue
        (other,) = {key[0] for key in known} - {""}
        english.append(_above(known["", True], known["", False]))
        local.append(_above(known[other, True], known[other, False]))
    n = len(english)
    interval = bootstrap.interval([english, local, np.ones(n)], _difference, seed=seed) if n else None
    low, high = interval or (None, None)
    return {
        "english": sum(english) / n if n else None,
        "local": sum(local) / n if n else None,
        "difference": (sum(local) - sum(english)) / n if n else None,
        "low": low,
        "high": high,
        "scenarios": n,
        "failures": len(asked) - n,
    }


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return bootstrap.ratio(np.stack([sums[1] - sums[0], sums[2]]))

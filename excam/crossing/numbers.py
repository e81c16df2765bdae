"""Two experiments: which kinds of errors a metric misses, and how far its judgement depends on the language."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.crossing.columns import Column, length_of
from excam.crossing.kinds import KINDS
from excam.crossing.rows import Row
from excam.stats import bootstrap

BLIND_SPOTS = (
    "metric",
    "kind",
    "auc",
    "low",
    "high",
    "length",
    "pairs",
    "wrong",
    "clusters",
    "failures",
    "alone",
    "sets",
)
PAIRS = ("metric", "kind", "set", "cluster", "wrong", "right", "wrong_score", "right_score", "share", "length")
GAP = ("metric", "language", "english", "local", "difference", "low", "high", "scenarios", "failures")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Pair:
    """An erroneous text and a correct twin as one metric scored them; None for a failure, and for no twin."""

    metric: str
    kind: str
    wrong: Row
    right: Row | None
    wrong_score: float | None
    right_score: float | None

    @property
    def share(self) -> float | None:
        """Return 1 if the metric scores the correct text higher, .5 if as high, else 0; None without both scores."""
        if self.wrong_score is None or self.right_score is None:
            return None
        return _above(self.right_score, self.wrong_score)

    @property
    def length(self) -> float | None:
        """Return the same of the lengths of the two texts; None without both texts."""
        return None if self.right is None else _above(length_of(self.right), length_of(self.wrong))

    def line(self) -> dict[str, Any]:
        """Return one line of `PAIRS`."""
        scores = {
            name: getattr(self, name) for name in ("metric", "kind", "wrong_score", "right_score", "share", "length")
        }
        ids = {"wrong": self.wrong.id, "right": self.right.id if self.right else None}
        return {"set": self.wrong.set, "cluster": self.wrong.cluster, **ids, **scores}


def pairs(rows: Sequence[Row], columns: Mapping[str, Column]) -> Iterator[Pair]:
    """Yield the pairs of each metric and each kind of error among its rows; an erroneous text without a twin once."""
    right: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.right:
            right[row.cluster].append(row)
    for metric, column in columns.items():
        for kind in KINDS:
            for row in rows:
                if kind not in row.kinds or row.id not in column:
                    continue
                twins = [twin for twin in right.get(row.cluster, ()) if twin.id in column]
                for twin in twins or [None]:
                    yield Pair(metric, kind, row, twin, column[row.id], column[twin.id] if twin else None)


def blind_spots(rows: Sequence[Row], columns: Mapping[str, Column], seed: int) -> Iterator[dict[str, Any]]:
    """Yield one line of `BLIND_SPOTS` for each metric and each kind of error among its rows.

    `auc` is the share of pairs of an erroneous text and a correct twin in which the twin scores higher, ties half; .5
    is chance. Its 95 % interval is over clusters. `length` is what the length of the text reaches on the
    same pairs. `failures` counts texts without a score, erroneous ones and their twins; `alone` counts erroneous texts
    without a correct twin that has a score.
    """
    for (metric, kind), group in itertools.groupby(pairs(rows, columns), key=lambda pair: (pair.metric, pair.kind)):
        yield {"metric": metric, "kind": kind, **_blind_spot(list(group), columns[metric], seed)}


def _blind_spot(kind_pairs: Sequence[Pair], column: Column, seed: int) -> dict[str, Any]:
    texts: dict[str, list[Pair]] = defaultdict(list)
    for pair in kind_pairs:
        texts[pair.wrong.id].append(pair)
    scored = {
        name: decided
        for name, text_pairs in texts.items()
        if (decided := [pair for pair in text_pairs if pair.share is not None])
    }
    wins = [sum(pair.share or 0.0 for pair in text_pairs) for text_pairs in scored.values()]
    counts = list(map(len, scored.values()))
    clusters = [text_pairs[0].wrong.cluster for text_pairs in scored.values()]
    looked_at = {row.id for pair in kind_pairs for row in (pair.wrong, pair.right) if row}
    share = bootstrap.share(wins, clusters, seed, counts)
    lengths = [pair.length or 0.0 for text_pairs in scored.values() for pair in text_pairs]
    return {
        **bootstrap.with_ends("auc", share),
        "length": sum(lengths) / len(lengths) if lengths else None,
        "pairs": sum(counts),
        "wrong": len(wins),
        "clusters": len(set(clusters)),
        "failures": sum(column[name] is None for name in looked_at),
        "alone": sum(
            name not in scored and text_pairs[0].wrong_score is not None for name, text_pairs in texts.items()
        ),
        "sets": " ".join(sorted({pair.wrong.set for pair in kind_pairs})),
    }


def _above(value: float, other: float) -> float:
    return 1.0 if value > other else 0.5 if value == other else 0.0


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
            contents = [texts for texts in whole.values() if language == ALL or (language, True) in texts]
            yield {"metric": metric, "language": language, **_gap(contents, column, seed)}


def _gap(contents: Sequence[Mapping[tuple[str, bool], Row]], column: Column, seed: int) -> dict[str, Any]:
    english: list[float] = []
    local: list[float] = []
    for texts in contents:
        scores = {key: column.get(row.id) for key, row in texts.items()}
        score_of = {key: score for key, score in scores.items() if score is not None}
        if len(score_of) < len(texts):
            continue
        (other,) = {key[0] for key in score_of} - {""}
        english.append(_above(score_of["", True], score_of["", False]))
        local.append(_above(score_of[other, True], score_of[other, False]))
    n = len(english)
    gap = bootstrap.estimate([english, local, np.ones(n)], _difference, range(n), seed)
    return {
        "english": sum(english) / n if n else None,
        "local": sum(local) / n if n else None,
        **bootstrap.with_ends("difference", gap),
        "scenarios": n,
        "failures": len(contents) - n,
    }


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return bootstrap.ratio(np.stack([sums[1] - sums[0], sums[2]]))

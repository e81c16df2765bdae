"""From judged answers to S: F1@K, the product of each answer, and means with intervals over questions.

K of a language and type is the upper median of the numbers of claims of all answers there, as in the authors' scoring.
An answer of the subject that is refused, empty or without a claim scores 0 and is counted; an answer that the judges
could not judge has no score and is counted apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from excam.stats import bootstrap

Factuality = Literal["f1@k", "precision"]


class _FactScore(NamedTuple):
    """Shares of 0 to 1."""

    precision: float
    recall: float
    f1: float


def f1_at_k(supported: int, claims: int, k: int) -> _FactScore:
    """Return precision (of the claims), recall (of K, at most 1) and F1; all 0 where nothing is supported."""
    if not supported:
        return _FactScore(0.0, 0.0, 0.0)
    precision, recall = supported / claims, min(1.0, supported / (k or 1))
    return _FactScore(precision, recall, 2 * precision * recall / (precision + recall))


def upper_median(counts: Sequence[int]) -> int:
    """Return the median; of an even number of counts the larger of the two in the middle. 0 for none."""
    return sorted(counts)[len(counts) // 2] if counts else 0


@dataclass(frozen=True, slots=True)
class AnswerFindings:
    """What the stages found about one answer. `relevance` is 0 to 1; `failure` names a judge that failed, else ""."""

    answer: str
    subject: str
    group: str
    language: str
    type: str
    surface: int | None  # None: the language is not decidable
    claims: int
    supported: int
    relevance: float | None
    empty: bool = False  # the subject gave no text, or refused
    failure: str = ""


def scores(rows: Sequence[AnswerFindings], factuality: Factuality = "f1@k") -> list[dict[str, Any]]:
    """Return the score of each answer in order; `s` is None where a part is missing or failed."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in rows:
        if not _without_claims(row.failure):
            counts[row.language, row.type].append(row.claims)
    k = {key: upper_median(claim_counts) for key, claim_counts in counts.items()}
    return [score(row, k.get((row.language, row.type), 0), factuality) for row in rows]


def _without_claims(failure: str) -> bool:
    """Return whether a failure is one of listing claims: how many there are is not known then."""
    return failure.startswith("claims")


def score(row: AnswerFindings, k: int, factuality: Factuality = "f1@k") -> dict[str, Any]:
    """Return the score of one answer for a known K."""
    fact_score = f1_at_k(row.supported, row.claims, k)
    fact = None if row.failure else fact_score.f1 if factuality == "f1@k" else fact_score.precision
    is_whole = row.surface is not None and fact is not None and row.relevance is not None
    return {
        **asdict(row),
        "k": k,
        **(dict.fromkeys(("precision", "recall", "f1")) if row.failure else fact_score._asdict()),
        "factuality": fact,
        "s": (row.surface or 0) * (fact or 0.0) * (row.relevance or 0.0) if is_whole else None,
    }


PARTS = ("surface", "precision", "f1", "factuality", "relevance")
TABLE = (
    *("subject", "language", "type", "answers", "scored", "undecidable", "failed", "empty", "no_claims", "questions"),
    *("mean_claims", "surface", "precision", "f1", "factuality", "relevance", "s", "low", "high", "product_of_means"),
)


def table(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Return one line per subject, language and type, and `all` of each (columns `TABLE`).

    Means of the parts and of S are over the same answers, those with an S; the interval of S resamples questions.
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for language in (row["language"], "all"):
            for kind in (row["type"], "all"):
                groups[row["subject"], language, kind].append(row)
    order = sorted(groups, key=lambda key: (key[0], key[1] != "all", key[1], key[2] != "all", key[2]))
    return [_line(key, groups[key], seed) for key in order]


def _line(key: tuple[str, str, str], rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    scored = [row for row in rows if row["s"] is not None]
    means = {name: _mean(row[name] for row in scored) for name in (*PARTS, "s")}
    interval = bootstrap.mean([row["s"] for row in scored], [row["group"] for row in scored], seed)
    product = math.prod(means[name] or 0.0 for name in ("surface", "factuality", "relevance")) if scored else None
    return {
        **dict(zip(("subject", "language", "type"), key, strict=True)),
        "answers": len(rows),
        "scored": len(scored),
        "undecidable": sum(row["surface"] is None for row in rows),
        "failed": sum(bool(row["failure"]) for row in rows),
        "empty": sum(row["empty"] for row in rows),
        "no_claims": sum(not (row["claims"] or row["failure"] or row["empty"]) for row in rows),
        "questions": len({row["group"] for row in rows}),
        "mean_claims": _mean(row["claims"] for row in rows if not _without_claims(row["failure"])),
        **means,
        **{"low": interval["low"], "high": interval["high"], "product_of_means": product},
    }


GAPS = ("subject", "part", "difference", "low", "high", "specific", "agnostic")


def type_gaps(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Return how much lower answers to specific questions score than those to agnostic ones, by subject (`GAPS`).

    Differences of means over answers with an S, with 95 % intervals over questions; `specific` and `agnostic` count
    the answers. Subjects without answers of both types have no line.
    """
    lines = []
    for subject in sorted({row["subject"] for row in rows}):
        scored = [row for row in rows if row["subject"] == subject and row["s"] is not None]
        is_specific = [row["type"] == "specific" for row in scored]
        counts = {"specific": sum(is_specific), "agnostic": len(scored) - sum(is_specific)}
        if all(counts.values()):
            groups = [row["group"] for row in scored]
            for part in ("precision", "factuality", "s"):
                gap = bootstrap.difference_of_means([row[part] for row in scored], is_specific, groups, seed)
                lines.append({"subject": subject, "part": part, **bootstrap.with_ends("difference", gap), **counts})
    return lines


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None

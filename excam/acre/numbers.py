"""The numbers of CulT-Eval: the data counted, systems, agreement of metrics with labels, sensitivity by error type.

The translations of one source share it, whichever of its expressions they are judged by, so intervals and tests
resample and swap whole sources.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from excam.acre import errors
from excam.acre.asks import Grades
from excam.acre.items import CATEGORIES, DOMAINS, REASONS, TermSentence
from excam.acre.translations import Translated, name
from excam.core.exceptions import InputInvalid
from excam.stats import binary_gold, bootstrap
from excam.stats.permutation import holm
from excam.stats.permutation_correlation import correlation_permutation
from excam.stats.sign_permutation import sign_permutation

Scores = Mapping[str, float | None]  # of one metric, by row; None: a failure
DRAWS = 1000  # swaps of a test of two metrics
PENALISED = 0.2  # standard deviations: a metric penalises an error if the interval of its drop lies above this
LENGTHS = {"term_source": "term", "term_target": "target", "context_source": "source"}  # in characters


def counts(items: Sequence[TermSentence]) -> list[dict[str, Any]]:
    """Return items, share (percent) and mean lengths in characters of each category and of all (Table 1)."""
    groups = [(category, [item for item in items if item.category == category]) for category in CATEGORIES]
    return [
        {
            "category": category,
            "items": len(group),
            "share": 100 * len(group) / len(items),
            **{
                column: fmean(len(getattr(item, text)) for item in group) if group else None
                for column, text in LENGTHS.items()
            },
        }
        for category, group in [*groups, ("all", list(items))]
    ]


def removals(items: int, reasons: Sequence[str]) -> list[dict[str, Any]]:
    """Return how many candidates became items, and how many were left out for each reason, with shares in percent."""
    counted = Counter(reasons)
    lines = [("kept", items), *((reason, counted[reason]) for reason in REASONS), ("all", items + len(reasons))]
    return [{"outcome": name, "candidates": n, "share": 100 * n / (items + len(reasons))} for name, n in lines]


def labelled(rows: Sequence[Translated]) -> list[Translated]:
    """Return the rows with a label. Raise InputInvalid unless some are right and some wrong."""
    labelled_rows = [row for row in rows if row.label is not None]
    right = sum(row.label.correct for row in labelled_rows if row.label)
    if not 0 < right < len(labelled_rows):
        raise InputInvalid(
            f"labels: {right} of {len(labelled_rows)} labelled translations are right; expected some of each; "
            "label more rows"
        )
    return labelled_rows


def _by_system(rows: Sequence[Translated]) -> dict[str, list[Translated]]:
    by_system: dict[str, list[Translated]] = defaultdict(list)
    for row in rows:
        by_system[name(row)].append(row)
    return by_system


def _gold(rows: Sequence[Translated]) -> list[bool]:
    return [bool(row.label and row.label.correct) for row in rows]


def _sources(rows: Sequence[Translated]) -> list[str]:
    return [row.item.source for row in rows]


def _mean(rows: Sequence[Translated], values: Sequence[float | None], seed: int) -> dict[str, float | None]:
    """Return the mean of what is known, with its interval over sources."""
    valued = [(value, row.item.source) for row, value in zip(rows, values, strict=True) if value is not None]
    return bootstrap.mean([value for value, _ in valued], [source for _, source in valued], seed)


def correlations(rows: Sequence[Translated], metrics: Mapping[str, Scores], seed: int = 0) -> list[dict[str, Any]]:
    """Return how each metric goes with the label `correct` (Table 2): four measures with intervals, n and failures."""
    labelled_rows = labelled(rows)
    gold, clusters = _gold(labelled_rows), _sources(labelled_rows)
    lines = []
    for metric, scores in metrics.items():
        association = binary_gold.association(gold, [scores.get(row.id) for row in labelled_rows], clusters, seed=seed)
        line: dict[str, Any] = {"metric": metric}
        for measure in binary_gold.MEASURES:
            line |= bootstrap.in_columns(measure, asdict(getattr(association, measure)))
        lines.append(line | {"n": association.n, "failures": association.unscored, "correct": association.positives})
    return lines


def compare_with(
    rows: Sequence[Translated], metrics: Mapping[str, Scores], first: str, draws: int = DRAWS, seed: int = 0
) -> list[dict[str, Any]]:
    """Test whether one metric's tau-b with the label differs from each other's, on the rows that both scored.

    Two-sided permutations that swap the scores of whole sources, with Holm's correction. A metric that has one value
    only is left out.
    """
    labelled_rows = labelled(rows)
    gold, clusters = [float(label) for label in _gold(labelled_rows)], _sources(labelled_rows)
    values = {metric: [scores.get(row.id) for row in labelled_rows] for metric, scores in metrics.items()}
    varied = [metric for metric, scores in values.items() if len({score for score in scores if score is not None}) > 1]
    if first not in varied:
        return []
    others = [metric for metric in varied if metric != first and _testable(gold, values[first], values[metric])]
    tests = [
        correlation_permutation(gold, values[first], values[other], clusters=clusters, draws=draws, seed=seed)
        for other in others
    ]
    adjusted = holm([test.p_value for test in tests])
    return [
        {"a": first, "b": other, "tau_a": t.a, "tau_b": t.b, "difference": t.difference, "p": t.p_value, "p_holm": p,
         "n": t.n, "left_out": t.left_out, "items": t.clusters}
        for other, t, p in zip(others, tests, adjusted, strict=True)
    ]  # fmt: skip


def _testable(gold: Sequence[float], a: Sequence[float | None], b: Sequence[float | None]) -> bool:
    """Return whether labels and both metrics vary over the rows that both scored."""
    common = [three for three in zip(gold, a, b, strict=True) if None not in three]
    return all(len(set(column)) > 1 for column in zip(*common, strict=True)) if common else False


def sensitivity(rows: Sequence[Translated], metrics: Mapping[str, Scores], seed: int = 0) -> list[dict[str, Any]]:
    """Return how far each metric drops for each primary error, in its standard deviations (Figure 5, Table 5).

    The drop of a translation is the mean score of the right translations of the same item minus its own. Items without
    a right translation are left out and counted. `penalised` says whether the 95 % interval over sources lies above
    `PENALISED`; None where there is no interval. The deviation is that of all labelled rows, taken as known.
    """
    labelled_rows = labelled(rows)
    lines = []
    for metric, by_row in metrics.items():
        scores = {row.id: score for row in labelled_rows if (score := by_row.get(row.id)) is not None}
        deviation = stdev(scores.values()) if len(scores) > 1 else 0.0
        right: dict[str, list[float]] = defaultdict(list)
        for row in labelled_rows:
            if row.label and row.label.correct and row.id in scores:
                right[row.item.id].append(scores[row.id])
        for error in errors.ERRORS:
            wrong = [row for row in labelled_rows if row.label and errors.primary(row.label.errors) == error]
            used = [row for row in wrong if row.id in scores and right[row.item.id]]
            drops = [fmean(right[row.item.id]) - scores[row.id] for row in used]
            estimate = _drop(drops, _sources(used), deviation, seed)
            lines.append(
                {"metric": metric, "error": error, **estimate, "n": len(used), "left_out": len(wrong) - len(used)}
            )
    return lines


def _drop(drops: Sequence[float], items: Sequence[str], deviation: float, seed: int) -> dict[str, Any]:
    if not drops or not deviation:
        return dict.fromkeys(("drop", "low", "high", "penalised"))
    estimate = bootstrap.mean([drop / deviation for drop in drops], items, seed)
    penalised = None if estimate["low"] is None else estimate["low"] > PENALISED
    return {**bootstrap.with_ends("drop", estimate), "penalised": penalised}


def sentence_scores(rows: Sequence[Translated], measured: Mapping[str, Scores], seed: int = 0) -> list[dict[str, Any]]:
    """Return the mean of each sentence metric for each system (Table 3): of all items, by category, and by domain.

    Intervals are over sources. A translation without a score is left out of the mean and counted in
    `failures`.
    """
    parts = {
        "all": rows,
        **{category: [row for row in rows if row.item.category == category] for category in CATEGORIES},
        **{domain: [row for row in rows if row.item.domain == domain] for domain in DOMAINS},
    }
    lines = []
    for part, part_rows in parts.items():
        for system, system_rows in _by_system(part_rows).items():
            for metric, scores in measured.items():
                values = [scores[row.id] for row in system_rows]
                estimate = bootstrap.with_ends("mean", _mean(system_rows, values, seed))
                counted = {"n": len(values) - values.count(None), "failures": values.count(None)}
                lines.append({"part": part, "system": system, "metric": metric, **estimate, **counted})
    return lines


def systems(
    rows: Sequence[Translated], judged: Mapping[str, Mapping[str, Grades]], seed: int = 0
) -> list[dict[str, Any]]:
    """Return validity (percent), fidelity, clarity and ACRE of each system by each judge (Table 6)."""
    lines = []
    for judge, verdicts in judged.items():
        for system, system_rows in _by_system(rows).items():
            judgements = [verdicts[row.id] for row in system_rows]
            valid = [(gate, row.item.source) for row in system_rows if (gate := verdicts[row.id].valid) is not None]
            share = bootstrap.share([gate for gate, _ in valid], [source for _, source in valid], seed)
            percent = {end: None if value is None else 100 * value for end, value in share.items()}
            line: dict[str, Any] = {"judge": judge, "system": system, **bootstrap.in_columns("validity", percent)}
            for column in ("fidelity", "clarity", "acre"):  # of those that did not fail
                values = [None if verdict.failure else getattr(verdict, column) for verdict in judgements]
                line |= bootstrap.in_columns(column, _mean(system_rows, values, seed))
            failures = sum(verdict.failure is not None for verdict in judgements)
            lines.append(line | {"n": len(judgements), "failures": failures})
    return lines


def compare_systems(rows: Sequence[Translated], verdicts: Mapping[str, Grades], seed: int = 0) -> list[dict[str, Any]]:
    """Test whether two systems differ in mean ACRE by one judge, each pair, on the items that have a score of both.

    Two-sided sign permutations of the paired differences that swap whole sources, with Holm's correction.
    """
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    sources = {row.item.id: row.item.source for row in rows}
    for row in rows:
        if (score := verdicts[row.id].acre) is not None:
            scores[name(row)][row.item.id] = score
    comparisons = []
    for a, b in combinations(sorted(scores), 2):
        if common := [item for item in scores[a] if item in scores[b]]:
            steps = [scores[a][item] - scores[b][item] for item in common]
            p = sign_permutation(steps, [sources[item] for item in common], seed=seed)
            comparisons.append({"a": a, "b": b, "difference": fmean(steps), "p": p, "n": len(common)})
    adjusted = holm([comparison["p"] for comparison in comparisons])
    return [comparison | {"p_holm": p} for comparison, p in zip(comparisons, adjusted, strict=True)]


def composition(rows: Sequence[Translated]) -> list[dict[str, Any]]:
    """Return the translations of each system that are right, and those of each primary error (Figure 3), as counts."""
    by_system: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.label:
            by_system[name(row)][errors.primary(row.label.errors) or "correct"] += 1
    return [
        {"system": system, "n": counted.total(), **{kind: counted[kind] for kind in ("correct", *errors.ERRORS)}}
        for system, counted in by_system.items()
    ]
